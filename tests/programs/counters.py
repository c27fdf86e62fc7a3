# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What counters count is known by construction: pages touched, and what a library counts itself."""

import sys

import harness
from harness import Report, check, mpirun, succeed

# Faults of the program's start, of stacks and of what the collector maps on the way.
FEW = 400


def counted(report, counter, callpath, location):
    """The sum of a counter at exactly this call path (None: at all) on a location."""
    return sum(c["value"] for c in report.data["counters"]
               if c["counter"] == counter and c["location"] == location
               and callpath in (None, c["callpath"]))


def run(place, counters, command, environment=None):
    experiment = place.experiment()
    done = succeed([place.culprit, "run", "--full", "--otf2", "-o", experiment, "--counters", counters, "--", *command],
                   environment=environment)
    succeed(["otf2-print", "--silent", "--warnings-as-errors", f"{experiment}/trace/traces.otf2"])
    report = Report(place, experiment)
    report.check_identities()
    report.check_nothing_lost()
    return report, done.stdout


def check_page_faults(report, counter):
    """Those of the program `counted`."""
    def check_faults(what, found, expected):
        check(expected <= found <= expected + FEW, f"{what}: {found} faults, not {expected}")
    for rank, expected in (("0.0", 9000), ("1.0", 1000)):
        # At main, or at what samples have found in it all the while.
        serial = sum(c["value"] for c in report.data["counters"]
                     if c["location"] == rank and c["counter"] == counter
                     and c["callpath"].startswith("main")
                     and "!$omp parallel" not in c["callpath"] and "MPI_" not in c["callpath"])
        check_faults(f"outside of the parallel region on {rank}", serial, expected)
    for thread in ("0.0", "0.1"):
        region = sum(c["value"] for c in report.data["counters"]
                     if c["location"] == thread and c["counter"] == counter
                     and "!$omp parallel" in c["callpath"])
        check_faults(f"the parallel region on {thread}", region, 2000)
    check(not any(c["callpath"].endswith("MPI_Barrier") and c["value"] > FEW
                  for c in report.data["counters"] if c["counter"] == counter),
          "faults stand at barriers")


def rusage(compiler):
    def test(place):
        program = place.program("counted" if compiler == "gcc" else f"counted.{compiler}")
        report, page = run(place, "ru_minflt", mpirun(2, program))
        check("COUNTERS" in page, "the page has no section on counters")
        check_page_faults(report, "ru_minflt")
    return test


def perf(place):
    """PAPI's component for perf events, made usable where there is no counter in the hardware; beside
    what the system counts."""
    report, page = run(place, "perf::PAGE-FAULTS,ru_minflt", mpirun(2, place.program("counted")),
                       {"LD_PRELOAD": place.program("libcounting_pmu.so")})
    if "The counter perf::PAGE-FAULTS was not recorded" in page:
        raise harness.Skip("the kernel lets nobody count here")
    check_page_faults(report, "perf::PAGE-FAULTS")
    check_page_faults(report, "ru_minflt")


def missing(place):
    """Counters that do not exist are named; those that do are counted, and the program runs."""
    program = place.program("counted")
    report, page = run(place, "ru_nonsense,nowhere:::at_all,ru_minflt", mpirun(2, program))
    for name in ("ru_nonsense", "nowhere:::at_all"):
        check(f"The counter {name} was not recorded" in page, f"the page does not name {name}")
    names = {c["counter"] for c in report.data["counters"]}
    check(names - {"no core"} == {"ru_minflt"}, f"counted were {names}")


def sde(place):
    """What the program counts itself: to the last one, and at the innermost path that is certain."""
    report, page = run(place, "sde:::produced::items", mpirun(2, place.program("produced")))
    for rank, factor in (("0.0", 1), ("1.0", 3)):
        found = counted(report, "sde:::produced::items", "main", rank)
        check(found == factor * 1042, f"{found} items at main on {rank}")
    total = sum(c["value"] for c in report.data["counters"])
    check(total == 4 * 1042, f"{total} items in all")
    check("sde:::produced::items" in page, "the page does not show the counter")


TESTS = {f"rusage.{compiler}": rusage(compiler) for compiler in ("gcc", "clang")}
TESTS["sde"] = sde
TESTS["perf"] = perf
TESTS["missing"] = missing

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
