#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The OpenCL examples under culprit, against the account that they keep themselves: what the report
says of their device must be what follows from that account, within 5 %, on an idle machine and on a
busy one. They also print what they always print, and nothing of their devices is lost.

Each example runs as a user builds it, where functions are known from samples, and (`.functions`)
with each function seen exactly. What a function is blamed for is judged to 5 % in the latter; from
samples, taken on CPU time, it must come out first of all of the program's phases."""

import dataclasses
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from account import Account
from harness import Report, Skip, Wrong, check, execute, mpirun, succeed

CALIBRATION = 6  # kernels by which an example finds out how fast the device is
# Clocks of host and device, and the time between a clock's reading and the call that it is for.
SLACK_S = 0.0005


@dataclasses.dataclass
class Example:
    ranks: int  # 0: without MPI
    prints: str
    kernels: list  # of each rank, besides the calibration's
    judge: callable


def expect(what, found, expected, slack=SLACK_S):
    allowed = harness.RELATIVE * expected + slack
    if abs(found - expected) > allowed:
        raise Wrong(f"{what}: {found:.6f} s, by the program's account {expected:.6f} s")


def at_least(what, found, expected):
    check(found >= expected, f"{what}: {found:.6f} s, expected more than {expected:.6f} s")


class Answers:
    """What the report says, in the account's words: ranks, and queues counted from 1."""

    def __init__(self, report):
        self.report = report

    def busy(self):
        devices = self.report.data["devices"]
        check(len(devices) == 1, f"{len(devices)} devices: {devices}")
        return devices[0]["busy_s"]

    def waits(self, pattern, rank, place, call=""):
        """Of a host's thread (`place` 0), or of a queue."""
        return sum(w["time_s"] for w in self.report.waits(pattern, f"{rank}.{place}", call))

    def idle_because_of(self, function, rank=0, place=0):
        return sum(blame["time_s"] for blame in self.report.data["device_blame"]
                   if blame["kind"] == "idle device" and blame["location"] == f"{rank}.{place}"
                   and function in blame["callpath"].split("/"))

    def delays(self, function, place, pattern):
        return [delay for delay in self.report.delays(function, place, pattern)
                if function in delay["callpath"].split("/")]

    def costs(self, function, place, pattern=None):
        return sum(delay["short_s"] + delay["long_s"]
                   for delay in self.delays(function, place, pattern))

    def costs_later(self, function, place, pattern=None):
        return sum(delay["long_s"] for delay in self.delays(function, place, pattern))


def late_launch(account, answers, exact):
    expect("the host's waits for its kernels", answers.waits("dev.host_wait", 0, 0, "clFinish"),
           account.waits_for_queue("clFinish", 2))
    expect("waits of the queue for launches", answers.waits("dev.late_launch", 0, 2),
           account.late_launches(0, 2))
    blame("prepare", account, answers, exact)


def oversync(account, answers, exact):
    expect("the host's waits for its kernels", answers.waits("dev.host_wait", 0, 0, "clFinish"),
           account.waits_for_queue("clFinish", 2))
    blame("work_of_its_own", account, answers, exact)


def overlap(account, answers, exact):
    expect("the host's wait for the last kernels", answers.waits("dev.host_wait", 0, 0, "clFinish"),
           account.waits_for_queue("clFinish", 2))
    expect("waits of the queue for launches", answers.waits("dev.late_launch", 0, 2),
           account.late_launches(0, 2))
    if exact:
        expect("idle because of work_beside", answers.idle_because_of("work_beside"),
               account.idle_during("work_beside"))


def two_queues(account, answers, exact):
    del exact  # nothing that functions have a part in
    expect("the second queue's waits for the first", answers.waits("dev.stream_wait", 0, 3),
           account.waits_for_other_queue(3, behind=2))
    expect("the host's waits for both", answers.waits("dev.host_wait", 0, 0, "clFinish"),
           account.waits_for_queue("clFinish", 3, behind=2))


def blame(function, account, answers, exact):
    """A function that lets the device idle while it works."""
    expected = account.idle_during(function)
    found = answers.idle_because_of(function)
    if exact:
        expect(f"idle because of {function}", found, expected)
        return
    at_least(f"idle because of {function}", found, 0.1 * expected)
    at_least(f"no more than {function} idles", 1.05 * expected + SLACK_S, found)


def late_senders(account):
    """Rank 1 waits in each of its receives for the send that it meets."""
    pairs = zip(account.named("MPI_Recv", 1), account.named("MPI_Send", 0))
    return sum(max(0.0, min(receive.end, send.begin) - receive.begin) for receive, send in pairs)


def shared_device(account, answers, exact):
    """Which rank's kernel ends a gap is chance: of rank 0's, refine is to blame, of rank 1's the
    MPI_Recv that waits for it. Each gap is charged once."""
    expect("late senders", answers.waits("mpi.late_sender", 1, 0, "MPI_Recv"),
           late_senders(account))
    for rank in (0, 1):
        expect(f"waits of rank {rank} for its kernels",
               answers.waits("dev.host_wait", rank, 0, "clFinish"),
               account.waits_for_queue("clFinish", 2, rank))
    if not exact:
        cost = answers.costs("refine", "0.0", "mpi.late_sender")
        at_least("what refine costs", cost, 0.1 * late_senders(account))
        return
    found = answers.idle_because_of("refine") + answers.idle_because_of("MPI_Recv", 1)
    expect("idle because of refine, directly or through a message", found,
           account.idle_during("refine") + account.idle_during("MPI_Recv", 1))


def chain(account, answers, exact):
    """A thread of rank 0 is late, so its master, so rank 1 in MPI_Recv, so rank 1's device."""
    expect("late senders", answers.waits("mpi.late_sender", 1, 0, "MPI_Recv"),
           late_senders(account))
    expect("waits of the queue for launches", answers.waits("dev.late_launch", 1, 2),
           account.late_launches(1, 2))
    expect("idle while rank 1 was in MPI_Recv", answers.idle_because_of("MPI_Recv", 1),
           account.idle_during("MPI_Recv", 1))
    (path, location), _ = answers.report.largest_delay("omp.barrier")
    check(location == "0.1", f"late is {path} on {location}")
    if exact:
        check(path.endswith("/resolve_contacts"), f"late is {path}")
        # Rank 1 and its device wait as long for it as its master is late, which the master itself
        # may add to between the region's end and its send. On a busy machine a message is late in
        # some steps only; then each interval holds several steps, and others have more of a part.
        late = late_senders(account)
        added = sum(send.begin - work.end for work, send in zip(account.named("resolve_contacts"),
                                                                account.named("MPI_Send")))
        found = answers.costs_later("resolve_contacts", "0.1", "omp.barrier")
        at_least("what resolve_contacts costs later", found, 0.5 * 2 * (late - added))
        at_least("twice what rank 1 waits", 1.25 * 2 * late, found)


EXAMPLES = {
    "opencl_late_launch": Example(0, "value 2.500000", [5], late_launch),
    "opencl_oversync": Example(0, "value 2.500000", [5], oversync),
    "opencl_overlap": Example(0, "value 2.500000", [5], overlap),
    "opencl_two_queues": Example(0, "done", [10], two_queues),
    "opencl_shared_device": Example(2, "value 1.500000", [3, 3], shared_device),
    "opencl_chain": Example(2, "value 2.000000", [None, 5], chain),
}


def kernels_by_rank(folder):
    printer = shutil.which("otf2-print")
    if not printer:
        raise Skip("there is no otf2-print")
    found = {}
    for line in succeed([printer, f"{folder}/trace/traces.otf2"]).stdout.splitlines():
        match = re.match(r'ENTER\s+(\d+)\s+\d+\s+Region: "busy"', line)
        if match:
            location = int(match.group(1))
            check(location >> 32 > 0, f"a kernel on thread {location}")
            rank = location & 0xffffffff
            found[rank] = found.get(rank, 0) + 1
    return found


def run(place, name, suffix):
    example = EXAMPLES[name]
    program = place.program(name + suffix)
    command = mpirun(example.ranks, program) if example.ranks else [program]
    folder = place.experiment(name)
    done = execute([place.culprit, "run", "--otf2", "-o", folder, "--", *command],
                   environment={"EXAMPLE_ACCOUNT": "1"})
    if done.returncode == 77:
        raise Skip("there is no OpenCL device")
    check(done.returncode == 0, f"status {done.returncode}: {done.stdout}{done.stderr}")
    check(example.prints in done.stdout, f"{name} says {done.stdout!r}")
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    kernels = {rank: CALIBRATION + own for rank, own in enumerate(example.kernels)
               if own is not None}
    found = kernels_by_rank(folder)
    check(found == kernels, f"kernels by rank: {found}, expected {kernels}")
    account, answers = Account(done.stdout), Answers(report)
    check(len(account.operations) == sum(kernels.values()),
          f"the account has {len(account.operations)} operations")
    expect("time in kernels", answers.busy(), account.busy)
    example.judge(account, answers, exact=suffix != "")


TESTS = {name + suffix: lambda place, n=name, s=suffix: run(place, n, s)
         for name in EXAMPLES for suffix in ("", ".functions")}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
