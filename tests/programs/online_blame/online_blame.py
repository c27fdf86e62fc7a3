#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Blame for idle threads, made as it is while a program runs, is what the replay of the same records
says: the idle time, what no thread works in, the blame of each thread and what waits for locks come
to, within 2 % of the idle time, and 5 % of the waits for locks. Both read one run, so that its own timing does not matter."""

import collections
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, check, succeed

SHARE = 0.02
LOCK_SHARE = 0.05  # waits for locks; of gcc's runtime, which is seen from outside, up to 4.2 % were missing
SLACK_S = 0.001
NS = 1e-9
CUTS = 50

# Cases of openmp_waits.c, but for tasks that depend on others: that one is ready, and the runtime alone
# is late to start it, is not known.
LOCKS = ("critical", "lock", "nest_lock", "test_lock", "ordered")
TASKS = ("taskwait", "taskgroup", "late_tasks", "long_task")
TEAMS = ("single", "sections", "masked", "nested", "smaller_teams")


def online(place, experiment, cuts):
    tool = place.build / "tests" / "culprit-online-blame"
    done = subprocess.run([tool, experiment, str(cuts)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def sums_of(processes):
    """Idle time, what nobody works in, waits for locks, and the blame of each thread."""
    nobody = sum(value for process in processes for name, value in process.items() if name.startswith("nobody_"))
    threads = [thread for process in processes for thread in process["threads"]]
    return (sum(process["idle_s"] for process in processes), nobody,
            sum(thread["kept_out_s"] for thread in threads),
            sorted((thread["earned_s"] for thread in threads), reverse=True))


def compare(what, place, experiment, many_cuts=CUTS):
    report = Report(place, experiment)
    said = report.data
    blame = collections.Counter()
    for row in said["idle_blame"]:
        blame[row["location"]] += row["time_s"]
    replayed = sorted(blame.values(), reverse=True)
    idle = said["identities"]["idle_s"]
    locks = sum(row["time_s"] for row in said["lock_blame"])
    for cuts in {1, many_cuts}:
        processes = online(place, experiment, cuts)
        check(all(process["gap"] == 0 for process in processes), f"{what}: the sums do not close")
        own_idle, own_nobody, own_locks, own_blame = sums_of(processes)
        near = SHARE * idle + SLACK_S
        own_blame += [0.0] * (len(replayed) - len(own_blame))
        replayed += [0.0] * (len(own_blame) - len(replayed))
        pairs = [("idle", own_idle, idle), ("nobody", own_nobody, said["identities"]["idle_nobody_s"]),
                 *(("a thread's blame", own, other) for own, other in zip(own_blame, replayed))]
        for name, own, other in pairs:
            check(abs(own - other) <= near, f"{what}, {cuts} cuts: {name} is {own:.4f} s, replayed {other:.4f} s")
        check(abs(own_locks - locks) <= LOCK_SHARE * locks + SLACK_S,
              f"{what}, {cuts} cuts: locks {own_locks:.4f} s, replayed {locks:.4f} s")
    return max(idle, locks) > 10 * SLACK_S


def run_waits(place, ways, policy="passive"):
    compared = substantial = 0
    for compiler, options in (("clang", []), ("libomp", ["--openmp", "libomp"]), ("gcc", [])):
        for way in ways:
            try:
                program = place.program("openmp_waits/openmp_waits" + (".clang" if compiler == "clang" else ""))
            except harness.Skip:
                continue
            experiment = place.experiment(f"{way}.{compiler}")
            succeed([place.culprit, "run", *options, "-o", experiment, "--", program, way],
                    environment={"OMP_WAIT_POLICY": policy})
            # Where a turn is handed over during a cut, it may not be known to whom.
            substantial += compare(f"{way} by {compiler}", place, experiment, 1 if way == "ordered" else CUTS)
            compared += 1
    if compared == 0:
        raise harness.Skip("openmp_waits was not built")
    check(substantial >= compared // 2, f"in {substantial} of {compared} runs only, a thread was idle or waited for a lock")


def compare_kept(what, place, experiment):
    """What came about in the program is what the records come to afterwards."""
    after = online(place, experiment, CUTS)[0]
    check(not Report(place, experiment).data["windows"], f"{what}: not all records were kept")
    profile = next(iter(pathlib.Path(experiment).glob("raw/*/profile")), None)
    check(profile is not None, f"{what}: too few records for a profile")
    tool = place.build / "tests" / "culprit-online-blame"
    kept = json.loads(subprocess.run([tool, "kept", profile], capture_output=True, text=True, check=True).stdout)
    idle = after["idle_s"]
    near = SHARE * idle + SLACK_S
    nobody = sum(value for name, value in after.items() if name.startswith("nobody_"))
    for name, own, other in (("idle", kept["idle"] * NS, idle), ("nobody", kept["nobody"] * NS, nobody),
                             ("handed", kept["handed"] * NS, after["handed_s"])):
        check(abs(own - other) <= near, f"{what}: {name} is {own:.4f} s in the program, {other:.4f} s afterwards")
    parts = kept["earned"] + kept["handed"] + kept["nobody"] + kept["open"]
    check(abs(parts - kept["idle"]) <= 1e-6 * kept["idle"] + 1, f"{what}: the sums do not close")
    earned = sum(thread["earned"] for thread in kept["threads"])
    check(abs(earned - kept["earned"]) <= 1e-6 * earned + 1, f"{what}: rows have other blame than the sums say")
    blame = {thread["log"]: thread["earned_s"] for thread in after["threads"]}
    for thread in kept["threads"]:
        own, other = thread["earned"] * NS, blame[thread["log"]]
        check(abs(own - other) <= near, f"{what}: log {thread['log']} earned {own:.4f} s, afterwards {other:.4f} s")
    check(kept["lost"] == 0, f"{what}: {kept['lost']} changes were lost")
    return kept


def run_kept(place):
    """In the program itself, of which all records are there as well."""
    compared = 0
    for compiler, kinds in (("gcc", ("barriers", "critical")), ("clang", ("tasks",))):
        for kind in kinds:
            try:
                program = place.program("kinds" + (".clang" if compiler == "clang" else ""))
            except harness.Skip:
                continue
            experiment = place.experiment(f"{kind}.{compiler}")
            succeed([place.culprit, "run", "--budget", "8M", "-o", experiment, "--", program, kind, "4000"],
                    environment={"OMP_WAIT_POLICY": "passive", "CULPRIT_CLOCK": "monotonic"})
            compare_kept(f"{kind} by {compiler}", place, experiment)
            compared += 1
    if compared == 0:
        raise harness.Skip("kinds was not built")


def run_overfull(place):
    """Twice as many threads as there may be cores, in two processes: many wake up late."""
    experiment = place.experiment("overfull")
    succeed([place.culprit, "run", "-o", experiment, "--",
             *harness.mpirun(2, place.program("crowded"), 4, 3)], environment={"OMP_WAIT_POLICY": "passive"})
    check(compare("overfull", place, experiment), "next to no thread was idle")


if __name__ == "__main__":
    sys.exit(harness.main({
        "locks": lambda place: run_waits(place, LOCKS),
        # A thread that sleeps at a barrier takes no task, and the program would wait for it for ever.
        "tasks": lambda place: run_waits(place, TASKS, "active"),
        "teams": lambda place: run_waits(place, TEAMS),
        "overfull": run_overfull,
        "kept": run_kept,
    }))
