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


def pool(place, *arguments):
    """Who waits for a pool waits for what its workers execute."""
    folder = place.experiment(*arguments)
    succeed([place.culprit, "run", "-o", folder, "--", sys.executable, HERE / "pool.py", *arguments])
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
    """A thread begins in the program's own function, not in what Python executes before it."""
    folder = place.experiment()
    succeed([place.culprit, "run", "-o", folder, "--", sys.executable, HERE / "workers.py"])
    report = Report(place, folder)
    report.check_identities()
    cooked = {d["callpath"] for d in report.data["delays"] if "cook" in d["callpath"].split("/")}
    check(cooked, f"nobody waits for the cook\n{report.summary()}")
    wrong = [path for path in cooked if not path.startswith("cook")]
    check(not wrong, f"called by what does not call it: {wrong}")


def tool(place):
    """Functions of Python's own library work for the program's: these are named."""
    folder = place.experiment()
    succeed([place.culprit, "run", "-o", folder, "--", sys.executable, HERE / "tool.py"])
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    costs = {}
    for delay in report.data["delays"]:
        functions = delay["callpath"].split("/")
        costs["call_tool" in functions] = costs.get("call_tool" in functions, 0.0) + delay["short_s"] + delay["long_s"]
        others = [f for f in functions if f.startswith(("Popen", "Queue", "Thread.", "Condition"))]
        check(not others, f"{delay['callpath']} has functions of Python's own")
    check(costs.get(True, 0) > 5 * costs.get(False, 0), f"call_tool() causes {costs}\n{report.summary()}")


def native(place):
    """What Python executes has called native code from which no stack leads anywhere; and what is
    spent in the import of others' packages is start-up."""
    library = place.program("libwithout_tables.so")
    package = pathlib.Path(place.scratch) / "site-packages" / "joblib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import time\nend = time.process_time() + 0.5\n"
                                         "while time.process_time() < end: pass\n")
    folder = place.experiment()
    succeed([place.culprit, "run", "-o", folder, "--", sys.executable, HERE / "native.py", library,
             package.parent])
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    costs = {}
    for delay in report.data["delays"]:
        caller = next((f for f in ("held", "released", "(import joblib)")
                       if f in delay["callpath"].split("/")), "")
        costs[caller] = costs.get(caller, 0.0) + delay["short_s"] + delay["long_s"]
    for caller in ("held", "released", "(import joblib)"):
        check(costs.get(caller, 0) > 3 * costs.get("", 0), f"{caller}: {costs}\n{report.summary()}")
    waiting_s, imported_s = report.data["start_up"]["waiting_s"], costs["(import joblib)"]
    check(0.9 * imported_s <= waiting_s < imported_s + costs["held"],
          f"start-up costs {waiting_s}, of which the import {imported_s}")


TESTS = {
    "native": native,
    "pool": pool,
    "pool_with_openmp": lambda place: pool(place, "openmp"),
    "workers": workers,
    "tool": tool,
    "mpi4py": lambda place: names(place, "mpi4py"),
    "handle": lambda place: names(place, "handle"),
}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
