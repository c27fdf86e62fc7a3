# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks and threads that share a core are what a report says first."""

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


def judge(report, who):
    verdict, shortage = report.data["verdict"], report.data["verdict"]["core_shortage"]
    check(shortage and shortage["cores"] == 1, f"the cores are {shortage}: {report.data['processes']}")
    check(verdict["kind"] == "oversubscribed", f"the verdict is {verdict}")
    check(verdict["text"].startswith(f"{who} shared 1 core: for "), f"the verdict is {verdict['text']}")


def ranks(place):
    """All compute at once, and those that wait in MPI poll."""
    report = on_one_core(place, mpirun(4, place.program("collective_imbalance")))
    judge(report, "4 ranks")


def threads(place):
    report = on_one_core(place, [place.program("omp_imbalance")])
    judge(report, "4 threads")


TESTS = {"ranks": ranks, "threads": threads}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
