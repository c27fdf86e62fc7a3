#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Python's functions are named, by whatever way MPI is reached, and not the interpreter's."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, Skip, check, execute, mpirun, succeed

HERE = pathlib.Path(__file__).parent
GUILTY = "<module>/step/forces"


def measure(place, way):
    if way == "mpi4py" and execute([sys.executable, "-c", "import mpi4py"]).returncode != 0:
        raise Skip("there is no mpi4py")
    folder = place.experiment(way)
    succeed([place.culprit, "run", "-o", folder, "--",
             *mpirun(2, sys.executable, HERE / "forces.py", way)])
    return folder, Report(place, folder)


def names(place, way):
    folder, report = measure(place, way)
    report.check_identities()
    report.check_nothing_lost()
    delays = report.data["delays"]
    interpreters = [d["callpath"] for d in delays
                    if "_PyEval" in d["callpath"] or "python3." in d["callpath"]]
    check(not interpreters, f"the interpreter is blamed: {interpreters}")
    check(any(d["callpath"].endswith(GUILTY) and d["location"] == "1.0" for d in delays),
          f"{GUILTY} on rank 1 is not blamed: {delays}")
    barriers = [w["callpath"] for w in report.data["waits"] if "MPI_Barrier" in w["callpath"]]
    check(any(path.startswith("<module>/step/") for path in barriers),
          f"no wait in MPI_Barrier below step(): {barriers}")
    text = succeed([place.culprit, "report", folder]).stdout
    if "forces (forces.py:29)" not in " ".join(text.split("AT A GLANCE")[0].split()):
        raise harness.Off(f"the verdict names something else: {text[:1500]}")


def pool(place):
    """Who waits for a pool waits for what its workers execute."""
    folder = place.experiment()
    succeed([place.culprit, "run", "-o", folder, "--", sys.executable, HERE / "pool.py"])
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    check(report.waits("thread.pipe"), f"nobody waits for a pipe\n{report.summary()}")
    costs = {}
    for delay in report.data["delays"]:
        is_task = "/cook" in delay["callpath"]
        costs[is_task] = costs.get(is_task, 0.0) + delay["short_s"] + delay["long_s"]
    check(costs.get(True, 0) > costs.get(False, 0), f"the tasks cause {costs}\n{report.summary()}")


def workers(place):
    """A thread begins in Python's entry, not in what that calls before the thread's first line."""
    folder = place.experiment()
    succeed([place.culprit, "run", "-o", folder, "--", sys.executable, HERE / "workers.py"])
    report = Report(place, folder)
    report.check_identities()
    cooked = {d["callpath"] for d in report.data["delays"] if "/cook" in d["callpath"]}
    check(cooked, f"nobody waits for the cook\n{report.summary()}")
    wrong = [path for path in cooked if ".set/" in path or not path.split("/cook")[0].endswith("run")]
    check(not wrong, f"called by what does not call it: {wrong}")


TESTS = {
    "pool": pool,
    "workers": workers,
    "mpi4py": lambda place: names(place, "mpi4py"),
    "handle": lambda place: names(place, "handle"),
}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
