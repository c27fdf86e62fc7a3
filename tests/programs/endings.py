# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""However a program ends, its exit status is handed through and what it did until then is kept."""

import sys

import harness
from harness import Report, check, check_time, execute, mpirun


def dies(how):
    def test(place):
        program = place.program("dies")
        plain = execute(mpirun(2, program, how))
        experiment = place.experiment()
        done = execute([place.culprit, "run", "-o", experiment, "--", *mpirun(2, program, how)])
        check(done.returncode == plain.returncode != 0,
              f"status {done.returncode} with culprit, {plain.returncode} without\n{done.stderr}")
        report = Report(place, experiment)
        report.check_identities()
        found = report.waits("mpi.late_sender", "1.0", "MPI_Recv")
        check(found, f"the wait before the end is lost; the report has\n{report.summary()}")
        check("early_ends" in report.losses(),
              f"no loss says that the program ended early: {list(report.losses())}")
        check_time("the wait before the end", sum(w["time_s"] for w in found), 0.3)
        (callpath, location), _ = report.largest_delay("mpi.late_sender")
        check("compute_flux" in callpath and location == "0.0",
              f"blamed is {callpath} on {location}")
        predicted = execute([place.culprit, "whatif", experiment, "--scale", "compute_flux=0.5"])
        check(predicted.returncode == 1 and not predicted.stdout and "ended early" in predicted.stderr,
              f"what a run that died would have taken: {predicted.stdout}{predicted.stderr}")
    return test


def neither(place):
    """Nothing to measure: one sentence, and the program's own status."""
    done = execute([place.culprit, "run", "-o", place.experiment(), "--", place.program("neither")])
    check("neither: done" in done.stdout, f"the program did not run: {done.stdout}{done.stderr}")
    check(done.returncode == 7, f"status {done.returncode} instead of the program's 7")
    told = [line for line in done.stderr.splitlines() if "nothing was recorded" in line]
    check(len(told) == 1, f"no sentence says that there was nothing to measure: {done.stderr}")


def who_died(how, signal, place_of):
    """The rank, the signal, and where it was: a launcher tells only one status of all."""
    def test(place):
        experiment = place.experiment()
        done = execute([place.culprit, "run", "-o", experiment, "--", *mpirun(2, place.program("dies"), how)])
        warning = Report(place, experiment).data["verdict"]["warning"] or ""
        check(f"Rank 1 died first, of signal {signal} " in warning, f"{warning}\n{done.stdout}")
        check(place_of in warning, f"not where: {warning}")
        check("early_ends" not in done.stdout, done.stdout)
    return test


def late(place):
    """All was measured: the failure is said, and the speed is judged all the same."""
    experiment = place.experiment()
    done = execute([place.culprit, "run", "-o", experiment, "--", *mpirun(2, place.program("dies"), "late")])
    check(done.returncode == 3, f"status {done.returncode}\n{done.stderr}")
    verdict = Report(place, experiment).data["verdict"]
    check("exit status 3" in verdict["text"] and "compute_flux" in verdict["text"], f"{verdict}")


TESTS = {how: dies(how) for how in ("abort", "exit", "mpi_abort", "kill")}
TESTS["names_killed"] = who_died("kill", 9, "")
TESTS["names_aborted"] = who_died("abort", 6, "")
TESTS["names_crashed"] = who_died("crash", 11, "corrupt")
TESTS["late"] = late
TESTS["neither"] = neither

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
