# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that call every family of MPI, with every MPI that is installed, from the launcher to the
report: nothing is lost, costs add up, and other tools read the trace."""

import shutil
import sys

import harness
from harness import Report, Skip, check, execute, succeed

# Programs of tests/programs/mpi_records, and with how many processes.
PROGRAMS = {"core_c": 3, "more": 3, "partners": 4, "threads": 2, "nobody": 4}


def family(mpi, name, argument=None):
    def test(place):
        program = place.build / "tests" / "mpi_records" / f"{name}.{mpi}"
        launcher = shutil.which(f"mpirun.{mpi}")
        if not program.exists() or not launcher:
            raise Skip(f"there is no {mpi} here")
        launch = [launcher, "-n", PROGRAMS[name], *(["--bind-to", "none"] if mpi == "openmpi" else [])]
        experiment = place.experiment()
        succeed([place.culprit, "run", "--otf2", "-o", experiment, "--", *launch, program,
                 argument or place.scratch])
        report = Report(place, experiment)
        report.check_identities()
        report.check_nothing_lost()
        if argument is None:
            check("unordered_messages" not in report.losses(), "threads with tags of their own")
        if shutil.which("otf2-print"):
            print_all = execute(["otf2-print", "--silent", "--warnings-as-errors",
                                 f"{experiment}/trace/traces.otf2"])
            check(print_all.returncode == 0, f"otf2-print complains: {print_all.stderr}")
    return test


TESTS = {f"{name}.{mpi}": family(mpi, name) for name in PROGRAMS for mpi in ("openmpi", "mpich")}
# Threads with one tag in common: their order is not known where they really met in MPI.
TESTS["one_tag.openmpi"] = family("openmpi", "threads", "same")
TESTS["one_tag.mpich"] = family("mpich", "threads", "same")

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
