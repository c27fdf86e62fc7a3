# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks and threads that share a core are what a report says first, if it is their work that lacked it."""

import os
import sys

import harness
from harness import Report, check, mpirun, succeed


def on_one_core(place, command):
    """The report of a run in which all may use one core of this machine."""
    core = min(os.sched_getaffinity(0))
    experiment = place.experiment()
    succeed(["taskset", "-c", str(core), place.culprit, "run", "-o", experiment, "--", *command])
    report = Report(place, experiment)
    report.check_identities()
    return report


def judge(report, who, at_work):
    verdict, shortage = report.data["verdict"], report.data["verdict"]["core_shortage"]
    check(shortage and shortage["cores"] == 1, f"the cores are {shortage}: {report.data['processes']}")
    check(0 < shortage["share"] < 1, f"the threads lacked a core for {shortage['share']} of their time")
    check((verdict["kind"] == "oversubscribed") == at_work, f"the verdict is {verdict}")
    first = f"Disturbed: {who} on 1 core had no core for "
    check(verdict["text"].startswith(first) == at_work, f"the verdict is {verdict['text']}")
    check(any(f"{who} shared 1 core: for " in sentence for sentence in verdict["more"]), f"it adds {verdict['more']}")


def ranks(place):
    """All compute at once."""
    judge(on_one_core(place, mpirun(4, place.program("crowded"))), "4 ranks", at_work=True)


def threads(place):
    judge(on_one_core(place, mpirun(1, place.program("crowded"), "4")), "4 threads", at_work=True)


def waiting(place):
    """One at a time works, for so long by the clock; the others poll, and compete for the core with each other."""
    report = on_one_core(place, mpirun(4, place.program("collective_imbalance")))
    judge(report, "4 ranks", at_work=False)


TESTS = {"ranks": ranks, "threads": threads, "waiting": waiting}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
