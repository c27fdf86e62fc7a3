# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes whose clocks differ, played on one: skewed_clock.c gives a rank another host name, a wrong
date and another CLOCK_MONOTONIC; a time namespace shifts the latter for real.

Dates differ by more than the waits are long, so the result is nonsense unless the clocks have been
compared. The program is late.c: in each of 2 rounds all ranks wait 200 ms for rank 0."""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import harness  # noqa: E402  (the folder above is not a package)
from harness import Off, Report, Skip, check, check_time, succeed  # noqa: E402

LATE = ("200", "2")
WAIT_S = 0.4
ENVIRONMENT = {"CULPRIT_CLOCK": "monotonic"}


def skewed(place, **skew):
    """In front of a program: makes its clocks wrong."""
    settings = [f"SKEW_{name.upper()}={value}" for name, value in skew.items()]
    preload = f'export LD_PRELOAD="{place.program("skewed_clock.so")}:$LD_PRELOAD"; exec "$@"'
    return ["env", *settings, "sh", "-c", preload, "sh"]


def judge(place, waiting):
    report = Report(place, place.experiment())
    report.check_identities()
    report.check_nothing_lost()
    if "clock_violations" in report.losses():  # an answer that others delayed in one direction
        raise Off(f"impossible orders: {report.losses()}")
    for rank in waiting:
        waited = sum(w["time_s"] for w in report.waits("mpi.late_sender", f"{rank}.0"))
        check_time(f"wait of rank {rank}", waited, WAIT_S)
    return report


def run(place, launcher, program, *contexts, more=()):
    """Ranks in order: each context is what stands in front of the program on one rank."""
    line = [launcher]
    if "mpich" not in launcher:
        line += ["--bind-to", "none"]
    for context in contexts:
        line += [":"] if len(line) > 3 else []
        line += ["-n", "1", *context, program, *LATE, *more]
    return succeed([place.culprit, "run", "-o", place.experiment(), "--", *line],
                   environment=ENVIRONMENT)


def openmpi():
    launcher = shutil.which("mpirun.openmpi")
    if not launcher:
        raise Skip("Open MPI is not installed")
    return launcher


def check_compared(report):
    check(any("clocks of" in note for note in report.data["run"]["notes"]),
          f"no word of the clocks: {report.data['run']['notes']}")
    check("clocks_unrelated" not in report.losses(), "a node's clock was not compared")


def other_host(place):
    """Ranks 1 and 3 on a host that is 5 s behind and gains 500 us a second."""
    elsewhere = skewed(place, host="elsewhere", date_ms=-5000, monotonic_ms=900000, ppm=500)
    run(place, openmpi(), place.program("late.openmpi"), [], elsewhere, [], elsewhere)
    check_compared(judge(place, (1, 2, 3)))


def listener(place):
    """A receive from anybody is still open when the clocks are compared for the last time."""
    elsewhere = skewed(place, host="elsewhere", date_ms=-5000, monotonic_ms=900000)
    run(place, openmpi(), place.program("late.openmpi"), [], elsewhere, more=["listen"])
    report = Report(place, place.experiment())
    check_compared(report)
    check("clocks_met_once" not in report.losses(), "the clocks were not compared at the end")


def mpich(place):
    launcher = shutil.which("mpirun.mpich")
    if not launcher:
        raise Skip("MPICH is not installed")
    elsewhere = skewed(place, host="elsewhere", date_ms=700, monotonic_ms=-60000, ppm=-200)
    run(place, launcher, place.program("late.mpich"), elsewhere, [], [])
    check_compared(judge(place, (1, 2)))


def time_namespace(place):
    unshare = ["unshare", "--time", "--monotonic=86400", "--fork"]
    if os.geteuid() != 0 or subprocess.run([*unshare, "true"], check=False).returncode != 0:
        raise Skip("making time namespaces takes root and a kernel that has them")
    shifted = [*skewed(place, date_ms=700), *unshare]
    run(place, openmpi(), place.program("late.openmpi"), [], shifted, [])
    check_compared(judge(place, (1, 2)))


def unmeasured(place):
    """Rank 0, then another one, without culprit: nobody waits for them, nobody writes to them."""
    bare = ["env", "-u", "LD_PRELOAD"]
    elsewhere = skewed(place, host="elsewhere")
    for ranks in ([bare, elsewhere, []], [[], bare, elsewhere]):
        run(place, openmpi(), place.program("late.openmpi"), *ranks)
        losses = Report(place, place.experiment()).losses()
        check(losses["missing_processes"]["count"] == 1, f"losses: {losses}")
        check(("clocks_unrelated" in losses) == (ranks[0] is bare), f"losses: {losses}")
        shutil.rmtree(place.experiment())


TESTS = {"other_host": other_host, "listener": listener, "mpich": mpich, "time_namespace": time_namespace,
         "unmeasured": unmeasured}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
