# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Every program of examples/ must get the verdict that its opening comment states.

`Case` holds that verdict as figures. Each case runs for both compilers, and some also with culprit
behind the launcher, which must make no difference.
"""

import dataclasses
import sys

import harness
from harness import SLACK_PER_DELAY_S, Off, Report, check, check_time, mpirun, succeed


@dataclasses.dataclass
class Wait:
    pattern: str
    location: str
    seconds: float
    count: int
    callpath: str = ""


@dataclasses.dataclass
class Delay:
    """What a function on a location must answer for: waits of `pattern` that it causes itself, and
    whatever these cause in turn (None: any amount)."""
    function: str
    location: str
    pattern: str
    short_s: float
    count: int
    long_s: float = None


@dataclasses.dataclass
class Case:
    program: str
    ranks: int  # 0: without MPI
    prints: str
    waits: list
    delays: list  # the first is the largest of all
    compilers: tuple = ("gcc", "clang")


CASES = {
    "late_sender": Case(
        "late_sender", 2, "late_sender: energy 3.625000",
        [Wait("mpi.late_sender", "1.0", 0.6, 3, "main/MPI_Recv")],
        [Delay("refine_mesh", "0.0", "mpi.late_sender", 0.6, 3)]),
    "late_receiver": Case(
        "late_receiver", 2, "late_receiver: norm 2.875000",
        [Wait("mpi.late_receiver", "0.0", 0.6, 3, "main/MPI_Send")],
        [Delay("assemble_rhs", "1.0", "mpi.late_receiver", 0.6, 3)]),
    "omp_imbalance": Case(
        "omp_imbalance", 0, "omp_imbalance: sum 7.218750",
        [Wait("omp.barrier", f"0.{thread}", 0.6, 3) for thread in range(3)],
        [Delay("resolve_contacts", "0.3", "omp.barrier", 1.8, 9)]),
    "omp_imbalance_f": Case(
        "omp_imbalance_f", 0, "omp_imbalance: sum 7.218750",
        [Wait("omp.barrier", f"0.{thread}", 0.6, 3) for thread in range(3)],
        [Delay("resolve_contacts", "0.3", "omp.barrier", 1.8, 9)], ("gcc",)),
    "hybrid_chain": Case(
        "hybrid_chain", 2, "hybrid_chain: result 6.593750",
        [Wait("omp.barrier", "0.0", 0.6, 3), Wait("mpi.late_sender", "1.0", 0.6, 3, "MPI_Recv")],
        [Delay("resolve_contacts", "0.1", "omp.barrier", 0.6, 9, 1.2)]),
    "collective_imbalance": Case(
        "collective_imbalance", 4, "collective_imbalance: energy 35.843750",
        [Wait("mpi.wait_at_barrier", rank, 0.3, 2) for rank in ("0.0", "2.0", "3.0")]
        + [Wait("mpi.wait_at_nxn", rank, 0.3, 2, "MPI_Allreduce") for rank in ("0.0", "1.0", "3.0")]
        + [Wait("mpi.late_broadcast", rank, 0.3, 2, "MPI_Bcast") for rank in ("1.0", "2.0", "3.0")]
        + [Wait("mpi.early_reduce", "0.0", 0.3, 2, "MPI_Reduce")]
        + [Wait("mpi.wait_at_nxn", rank, 0.3, 1, "MPI_Finalize") for rank in ("2.0", "3.0")],
        [Delay("sort_particles", "1.0", "mpi.wait_at_barrier", 0.9, 6),
         Delay("integrate_forces", "2.0", "mpi.wait_at_nxn", 0.9, 6),
         Delay("read_input", "0.0", "mpi.late_broadcast", 0.9, 6),
         Delay("compute_energy", "1.0", "mpi.early_reduce", 0.3, 2)]),
    "serial_master": Case(
        "serial_master", 0, "serial_master: sum 8.156250",
        [Wait("omp.idle_threads", f"0.{thread}", 0.6, 3) for thread in (1, 2, 3)],
        [Delay("assemble_matrix", "0.0", "omp.idle_threads", 1.8, 9)]),
    "wavefront": Case(
        "wavefront", 4, "wavefront: front 2.078125",
        [Wait("mpi.late_sender", "1.0", 0.62, 3, "MPI_Recv"),
         Wait("mpi.late_sender", "2.0", 0.64, 3, "MPI_Recv"),
         Wait("mpi.late_sender", "3.0", 0.66, 3, "MPI_Recv")],
        [Delay("factor_block", "0.0", "mpi.late_sender", 0.6, 9, 1.2)]),
    # Not examples, but judged in the same way.
    "names": Case(
        "names", 2, "names: residual 0.125000",
        [Wait("mpi.late_sender", "1.0", 0.6, 3, "main/MPI_Recv")],
        [Delay("fluid::Solver<double>::relax", "0.0", "mpi.late_sender", 0.6, 3)]),
    "hybrid_f08": Case(
        "hybrid_f08_f", 2, "hybrid_f08: result 6.593750",
        [Wait("omp.barrier", "0.0", 0.6, 3), Wait("mpi.late_sender", "1.0", 0.6, 3)],
        [Delay("resolve_contacts", "0.1", "omp.barrier", 0.6, 9, 1.2)], ("gcc",)),
}

# collective_imbalance has four equal culprits: which costs most is chance.
NO_LARGEST = ("collective_imbalance",)


def total(entries, *keys):
    return sum(entry[key] for entry in entries for key in keys)


def judge_waits(case, report):
    for wait in case.waits:
        found = report.waits(wait.pattern, wait.location, wait.callpath)
        what = f"{wait.pattern} at {wait.callpath or 'any call'} on {wait.location}"
        check(found, f"no {what}; the report has\n{report.summary()}")
        check_time(what, total(found, "time_s"), wait.seconds, wait.count)


def judge_delays(case, report):
    for delay in case.delays:
        found = report.delays(delay.function, delay.location, delay.pattern)
        what = f"{delay.function} on {delay.location}, {delay.pattern}"
        check(found, f"no delay of {what}; the report has\n{report.summary()}")
        check_time(f"short-term cost of {what}", total(found, "short_s"), delay.short_s,
                   delay.count, SLACK_PER_DELAY_S)
        if delay.long_s is not None:
            check_time(f"long-term cost of {what}", total(found, "long_s"), delay.long_s,
                       delay.count, SLACK_PER_DELAY_S)
    if case.program.removesuffix(".clang") in NO_LARGEST:
        return
    guilty = case.delays[0]
    (callpath, location), cost = report.largest_delay()
    if guilty.function not in callpath or location != guilty.location:
        raise Off(f"blamed is {callpath} on {location} for {cost:.3f} s; expected "
                      f"{guilty.function} on {guilty.location}; the report has\n{report.summary()}")


def judge_verdict(case, report):
    """The verdict names the function that costs most, or one below it that does nothing but work for
    it (work_ms of the Fortran programs, which no compiler inlines), and nothing of starting up MPI."""
    verdict = report.data["verdict"]
    check(verdict["waiting"] == "cause", f"the verdict is {verdict['text']}")
    if case.program.removesuffix(".clang") in NO_LARGEST:
        return
    cause = verdict["causes"][0]
    if case.delays[0].function not in cause["callpath"]:
        raise Off(f"the verdict names {cause['callpath']}: {verdict['text']}")


def judge(case, report):
    report.check_identities()
    report.check_nothing_lost()
    report.check_same_figures()
    check(report.data["run"]["ranks"] == max(case.ranks, 1),
          f"{report.data['run']['ranks']} ranks instead of {max(case.ranks, 1)}")
    judge_waits(case, report)
    judge_delays(case, report)
    judge_verdict(case, report)


def launch(case, program):
    return mpirun(case.ranks, program) if case.ranks else [program]


def before_launcher(place, case, program):
    """culprit run -- mpirun -n 2 ./program"""
    experiment = place.experiment()
    done = succeed([place.culprit, "run", "-o", experiment, "--", *launch(case, program)])
    check(case.prints in done.stdout, f"the program's own output is missing: {done.stdout}")
    return experiment


def behind_launcher(place, case, program):
    """mpirun -n 2 culprit run -- ./program"""
    experiment = place.experiment()
    done = succeed(mpirun(case.ranks, place.culprit, "run", "-o", experiment, "--", program))
    check(case.prints in done.stdout, f"the program's own output is missing: {done.stdout}")
    return experiment


def step_by_step(place, case, program):
    """mpirun -n 2 culprit record -- ./program; culprit analyze"""
    experiment = place.experiment()
    done = succeed(mpirun(case.ranks, place.culprit, "record", "-o", experiment, "--", program))
    check(case.prints in done.stdout, f"the program's own output is missing: {done.stdout}")
    succeed([place.culprit, "analyze", experiment])
    return experiment


def make_test(case, suffix, way):
    def test(place):
        experiment = way(place, case, place.program(case.program + suffix))
        judge(case, Report(place, experiment))
    return test


def all_tests():
    tests = {}
    for name, case in CASES.items():
        for compiler in case.compilers:
            suffix = "" if compiler == "gcc" else f".{compiler}"
            tests[f"{name}.{compiler}"] = make_test(case, suffix, before_launcher)
    for name in ("late_sender", "hybrid_chain"):
        tests[f"{name}.behind_launcher"] = make_test(CASES[name], "", behind_launcher)
        tests[f"{name}.step_by_step"] = make_test(CASES[name], "", step_by_step)
    return tests


if __name__ == "__main__":
    sys.exit(harness.main(all_tests()))
