#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that many call are named beside who calls them, and wrappers are not blamed."""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, Skip, check, execute, mpirun, succeed

HERE = pathlib.Path(__file__).parent


def measure(place, name, *command, options=(), **variables):
    folder = place.experiment(name)
    succeed([place.culprit, "run", "-o", folder, *options, "--", *command],
            environment=variables)
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    text = succeed([place.culprit, "report", "--full", folder]).stdout
    return report.data["delays"], " ".join(text.split("WHERE THE TIME WENT")[0].split())


def lock(place):
    delays, text = measure(place, "darts", place.program("libraries/darts"))
    paths = {d["callpath"].split("throw_darts")[-1] for d in delays if "throw_darts" in d["callpath"]}
    check("/(in rand)" in paths, f"rand is not shown below throw_darts: {delays}")
    check("rand in throw_darts on 2 threads, which has one lock for all" in text,
          f"the verdict does not speak of the lock: {text}")


def blas(place):
    if execute([sys.executable, "-c", "import mpi4py, numpy"]).returncode != 0:
        raise Skip("there is no mpi4py, or no numpy")
    delays, text = measure(place, "multiply",
                           *mpirun(2, sys.executable, HERE / "multiply.py"),
                           OPENBLAS_NUM_THREADS="1")
    check("waiting for multiply (multiply.py:9)" in text, f"the verdict names another: {text}")
    check(any("/multiply/(in " in d["callpath"] for d in delays),
          f"no library is shown below multiply: {delays}")


def wrappers(place):
    program = mpirun(2, place.program("libraries/dispatch"))
    listed = pathlib.Path(place.scratch) / "wrappers"
    listed.write_text("function frame::*\n")
    delays, text = measure(place, "tables", *program)
    check(not any("Kokkos" in d["callpath"] for d in delays), f"a framework is named: {delays}")
    check(any("/frame::dispatch" in d["callpath"] for d in delays),
          f"what no table names is not shown: {delays}")
    delays, text = measure(place, "listed", *program, options=("--wrappers", listed))
    check(not any("frame::" in d["callpath"] for d in delays), f"a listed wrapper is named: {delays}")
    check(any("/relax/" in d["callpath"] for d in delays), f"relax is not blamed: {delays}")
    folder = place.experiment("tables")
    again = succeed([place.culprit, "analyze", folder, "--wrappers", listed, "--report"]).stdout
    check("frame::" not in again, f"a listed wrapper is named: {again[:1500]}")
    listed.write_text("functions frame::*\n")
    refused = execute([place.culprit, "run", "--wrappers", listed, "--", "true"])
    check(refused.returncode == 2 and ":1:" in refused.stderr, f"not refused: {refused}")


def stripped(place):
    """A program whose debug information lies in a file of its own, and is there only later."""
    if shutil.which("objcopy") is None or shutil.which("strip") is None:
        raise Skip("there are no binutils")
    program = pathlib.Path(place.scratch) / "dispatch"
    symbols = pathlib.Path(place.scratch) / "dispatch.debug"
    shutil.copy(place.program("libraries/dispatch"), program)
    succeed(["objcopy", "--only-keep-debug", program, symbols])
    succeed(["objcopy", "--strip-all", f"--add-gnu-debuglink={symbols}", program])
    away = symbols.rename(symbols.with_suffix(".away"))
    folder = place.experiment("stripped")
    succeed([place.culprit, "run", "-o", folder, "--", *mpirun(2, program)])
    text = succeed([place.culprit, "report", "--full", folder]).stdout
    check("dispatch has no symbols" in " ".join(text.split()), f"no word on symbols: {text[-1500:]}")
    away.rename(symbols)
    succeed([place.culprit, "analyze", folder])
    delays = Report(place, folder).data["delays"]
    check(any("/relax/" in d["callpath"] for d in delays), f"no names came: {delays}")


def served(place):
    """Debug information comes from servers, if the user says how long they may be asked."""
    if shutil.which("objcopy") is None or shutil.which("readelf") is None:
        raise Skip("there are no binutils")
    if execute(["ldconfig", "-p"]).stdout.find("libdebuginfod.so.1") < 0:
        raise Skip("elfutils' client of such servers is not there")
    program = pathlib.Path(place.scratch) / "dispatch"
    shutil.copy(place.program("libraries/dispatch"), program)
    build = succeed(["readelf", "-n", program]).stdout.split("Build ID: ")[1].split()[0]
    server = pathlib.Path(place.scratch) / "server"
    (server / "buildid" / build).mkdir(parents=True)
    succeed(["objcopy", "--only-keep-debug", program, server / "buildid" / build / "debuginfo"])
    succeed(["objcopy", "--strip-all", program])
    asks = {"DEBUGINFOD_URLS": f"file://{server}",
            "DEBUGINFOD_CACHE_PATH": str(pathlib.Path(place.scratch) / "fetched")}
    folder = place.experiment("served")
    succeed([place.culprit, "run", "-o", folder, "--", *mpirun(2, program)], environment=asks)
    text = succeed([place.culprit, "report", "--full", folder]).stdout
    check("dispatch has no symbols" in " ".join(text.split()), f"a server was asked: {text[-1500:]}")
    succeed([place.culprit, "analyze", folder, "--debuginfod", "60"], environment=asks)
    delays = Report(place, folder).data["delays"]
    check(any("/relax/" in d["callpath"] for d in delays), f"no names came: {delays}")


TESTS = {"lock": lock, "served": served, "blas": blas, "wrappers": wrappers, "stripped": stripped}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
