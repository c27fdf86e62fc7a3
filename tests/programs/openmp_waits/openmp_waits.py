#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What culprit says of openmp_waits.c must be what its construction says: how long threads wait, for
what, and which construct on which thread is to blame. All within 5 %, and nothing of other kinds."""

import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, check_time, succeed

LOCKS = ("omp.lock", "omp.critical", "omp.ordered", "omp.atomic")
TASKS = ("omp.taskwait", "omp.taskgroup", "omp.dependence", "omp.task_starvation")
TAILS = ("omp.single", "omp.sections", "omp.masked")
# What stray waits of such patterns may come to: beginnings and ends of constructs.
NOISE_S = 0.005
# Built by gcc, and run on LLVM's runtime instead of its own.
ON_LIBOMP = "libomp"
# More threads wait than there may be cores: LLVM's runtime then lets others have them, GNU's spins.
POLICY = {"gcc": "passive", ON_LIBOMP: "active", "clang": "active"}


@dataclasses.dataclass
class Case:
    """Allocation time of one pattern, and how much of it is due to a call path (on a location)."""
    pattern: str
    seconds: float  # None: not known
    path: str
    cost_s: float = None  # None: all of it
    location: str = None
    gcc: str = None  # pattern in programs built by gcc, which tell less
    libomp: str = None  # and of these on LLVM's runtime
    own_cost_s: float = None  # on GNU's runtime, if that differs
    then: str = None  # pattern of waits that follow from these, and are in the cost


CASES = {
    # Each round 4 threads pass one by one: 20 + 40 + 60 ms, and then wait as long for the last.
    "critical": Case("omp.critical", 4 * 0.120, "!$omp critical body", 4 * 0.240,
                     then="omp.barrier"),
    # Each round 2 threads wait for the first.
    "lock": Case("omp.lock", 3 * 2 * 0.060, "!$omp parallel", location="0.0"),
    "nest_lock": Case("omp.lock", 3 * 2 * 0.060, "!$omp parallel", location="0.0"),
    "test_lock": Case("omp.lock", 0.0, ""),
    "ordered": Case("omp.ordered", 4 * 0.120, "!$omp ordered body", 4 * 0.240,
                    then="omp.barrier"),
    "taskwait": Case("omp.taskwait", 2 * 0.150, "!$omp task"),
    "taskgroup": Case("omp.taskgroup", 2 * 0.150, "!$omp task"),
    "dependence": Case("omp.dependence", 2 * 0.150, "!$omp task"),
    "undeferred": Case("omp.dependence", 2 * 0.150, "!$omp task"),
    # 2 threads starve while the third produces a task every 60 ms, 5 times.
    "late_tasks": Case("omp.task_starvation", 5 * 2 * 0.060, "!$omp single"),
    "long_task": Case("omp.task_starvation", 3 * 2 * 0.100, "!$omp task"),
    "single": Case("omp.single", 4 * 3 * 0.030, "!$omp single"),
    # One thread executes 20 ms, one none, while the third executes 60 ms.
    "sections": Case("omp.sections", 4 * (0.040 + 0.060), "", libomp="omp.barrier"),
    "masked": Case("omp.masked", 4 * 2 * 0.040, "", location="0.0", gcc="omp.barrier"),
    # The inner team's other thread waits for thread 1, before each fork; from when on does not matter.
    # GNU's runtime makes that thread anew for each team, and there is nobody who waits.
    "nested": Case("omp.idle_threads", None, "!$omp parallel", 4 * 0.050, location="0.1",
                   own_cost_s=0.0),
    # The third thread waits until a region is over that has no use for it.
    # Both threads of the team, which arrive together, share what the third one waits.
    "smaller_teams": Case("omp.idle_threads", None, "!$omp parallel", 3 * 0.030, location="0.0"),
}


def time_of(report, pattern):
    return sum(wait["time_s"] for wait in report.waits(pattern))


def expect(what, seconds, expected):
    check_time(what, seconds, expected, slack=NOISE_S)


def expected_cost(case, compiler):
    if compiler == "gcc" and case.own_cost_s is not None:
        return case.own_cost_s
    return case.seconds if case.cost_s is None else case.cost_s


def run(place, name, compiler):
    case = CASES[name]
    told = {"clang": None, ON_LIBOMP: case.libomp or case.gcc, "gcc": case.gcc}
    pattern = told[compiler] or case.pattern
    program = place.program("openmp_waits/openmp_waits" + (".clang" if compiler == "clang" else ""))
    folder = place.experiment(f"{name}.{compiler}")
    way = ["--openmp", "libomp"] if compiler == ON_LIBOMP else []
    done = succeed([place.culprit, "run", *way, "-o", folder, "--", program, name],
                   environment={"OMP_WAIT_POLICY": POLICY[compiler]})
    harness.check(f"openmp_waits: {name} done" in done.stdout, f"the program says {done.stdout!r}")
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    if case.seconds is not None:
        expect(f"{pattern} of {name}", time_of(report, pattern), case.seconds)
    for other in LOCKS + TASKS + TAILS:
        if other != pattern:
            expect(f"{other} in {name}", time_of(report, other), 0.0)
    cost = sum(delay["short_s"] + delay["long_s"]
               for delay in report.delays(case.path, case.location)
               if delay["pattern"] in (pattern, case.then))
    expect(f"cost of {case.path or 'all'} in {name}", cost,
           expected_cost(case, compiler))


if __name__ == "__main__":
    sys.exit(harness.main({f"{name}.{compiler}": lambda place, n=name, c=compiler: run(place, n, c)
                           for name in CASES for compiler in ("gcc", ON_LIBOMP, "clang")}))
