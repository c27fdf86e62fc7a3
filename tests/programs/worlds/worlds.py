# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that meet without MPI_COMM_WORLD, calls at the edges of MPI's life, and other tools in
the stack: who waited for whom is found all the same, or the loss is told."""

import shutil
import sys

import harness
from harness import Report, Skip, check, check_time, execute

LATE_S = 0.3


def launch(mpi, *command):
    launcher = shutil.which(f"mpirun.{mpi}")
    if not launcher:
        raise Skip(f"there is no mpirun.{mpi}")
    return [launcher, *(["--bind-to", "none"] if mpi == "openmpi" else []), "-n", "2", *command]


def observe(place, mpi, way, environment=None):
    """The report of a run that ended as it does without culprit, and its output."""
    program = place.program(f"worlds/worlds.{mpi}")
    plain = execute(launch(mpi, program, way), environment=environment)
    if plain.returncode != 0 and "this MPI" in plain.stdout:
        raise Skip(f"{mpi}: {plain.stdout.splitlines()[0]}")
    experiment = place.experiment()
    done = execute([place.culprit, "run", "--full", "-o", experiment, "--", *launch(mpi, program, way)],
                   environment=environment)
    check(done.returncode == plain.returncode == 0,
          f"status {done.returncode} with culprit, {plain.returncode} without\n{done.stderr}{done.stdout}")
    report = Report(place, experiment)
    report.check_identities()
    return report, done


def check_late_sender(report, waiting, late, alone):
    """`alone`: compute_flux is all that is to blame. Where the late one was started during the run,
    nothing joins the two before the message, and so its start takes a part of the blame."""
    found = report.waits("mpi.late_sender", waiting, "MPI_Recv")
    check(found, f"no wait of {waiting} in MPI_Recv\n{report.summary()}")
    check_time("the wait", max(w["time_s"] for w in found), LATE_S)
    blamed = report.delays("compute_flux", late, "mpi.late_sender")
    check(blamed, f"compute_flux of {late} is not blamed\n{report.summary()}")
    cost = sum(d["short_s"] + d["long_s"] for d in blamed)
    if alone:
        check_time("the delay", cost, LATE_S)
    else:
        check(cost > LATE_S / 10, f"compute_flux costs only {cost} s\n{report.summary()}")


def meets(mpi, way, late, words=None):
    def test(place):
        report, done = observe(place, mpi, way)
        report.check_nothing_lost()
        check("early_ends" not in report.losses(), f"a sound end is not seen: {report.losses()}")
        check("unknown_communicators" not in report.losses(), f"{report.losses()}")
        check_late_sender(report, "0.0", late, alone=words is None)
        check(words is None or words in " ".join((done.stdout + done.stderr).split()),
              f"the page does not say '{words}':\n{done.stdout}")
    return test


def preloaded(mpi):
    """A tool that is preloaded too stands behind culprit: both see everything."""
    def test(place):
        tool = place.program(f"worlds/libother_tool.{mpi}.so")
        report, done = observe(place, mpi, "edges", {"LD_PRELOAD": tool})
        check("other tool: 1 sends" in done.stdout, f"the other tool saw nothing: {done.stdout}")
    return test


def linked(mpi):
    """A tool in the program itself stands before culprit, and calls PMPI: what it takes is not seen by
    culprit, which tells that messages have no counterpart."""
    def test(place):
        place.program(f"worlds/linked.{mpi}")
        program = place.program(f"worlds/linked.{mpi}")
        experiment = place.experiment()
        done = execute([place.culprit, "run", "--full", "-o", experiment, "--", *launch(mpi, program, "edges")])
        check(done.returncode == 0, f"status {done.returncode}\n{done.stderr}{done.stdout}")
        check("other tool: 1 sends" in done.stdout, f"the other tool saw nothing: {done.stdout}")
        report = Report(place, experiment)
        report.check_identities()
        check(any("unmatched" in name for name in report.losses()),
              f"nothing says that sends were not seen: {report.losses()}")
    return test


TESTS = {}
for each in ("openmpi", "mpich"):
    note = "Ranks 2 to 3 are ranks 0 to 1 of another MPI_COMM_WORLD (spawned by rank 0)."
    TESTS[f"spawn.{each}"] = meets(each, "spawn", "2.0", note)
    TESTS[f"connect.{each}"] = meets(each, "connect", "2.0", note)
    TESTS[f"sessions.{each}"] = meets(each, "sessions", "1.0")
    TESTS[f"both.{each}"] = meets(each, "both", "1.0")
    TESTS[f"edges.{each}"] = meets(each, "edges", "1.0")
    TESTS[f"preloaded_tool.{each}"] = preloaded(each)
    TESTS[f"linked_tool.{each}"] = linked(each)

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
