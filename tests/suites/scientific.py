#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of PETSc, SLEPc and dolfinx with and without culprit: same output, same status, and samples.

    scientific.py --build build [NAME...]

The programs are beside this file, in scientific/; they need Debian's python3-petsc4py, python3-slepc4py and
python3-dolfinx. PETSc has handlers of its own for many signals, which end the program; dolfinx also compiles while it
runs, and so makes processes. One whose packages are missing is skipped, and that is said; the exit status is 1 if a
program differed, and 77 if all were skipped.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
PACKAGES = {"ksp": "petsc4py", "eps": "slepc4py", "poisson": "dolfinx"}
RANKS = 2
LIMIT_S = 600
# Several times as often as by default: what a sample can break, it breaks sooner.
HERTZ = 1000
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMP_NUM_THREADS": "1",
    "CULPRIT_NAME_CACHE": "off",
}


def run(command, folder):
    environment = {**os.environ, **ENVIRONMENT, "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(list(map(str, command)), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          timeout=LIMIT_S, check=False)


def has_package(name, folder):
    return run([PYTHON, "-c", f"import {name}"], folder).returncode == 0


def samples(build, experiment, folder):
    """Of each process."""
    dump = run([build / "tests" / "culprit-rawdump", "-s", experiment], folder).stdout
    return [sum(map(int, re.findall(r"^ +sample +(\d+)$", process, re.MULTILINE)))
            for process in dump.split("process ")[1:]]


def problems(build, name, folder):
    """What is wrong, in sentences."""
    program = ["mpirun", "-n", RANKS, "--bind-to", "none", PYTHON, HERE / "scientific" / f"{name}.py"]
    experiment = folder / "experiment"
    plain = run(program, folder)
    measured = run([build / "bin" / "culprit", "run", "-q", "--sampling", HERTZ, "-o", experiment, "--", *program],
                   folder)
    if plain.returncode != 0:
        return [f"it fails without culprit: {plain.stderr[-400:]}"]
    found = []
    if measured.returncode != 0:
        found.append(f"status {measured.returncode} with culprit: {measured.stderr[-400:]}")
    if not measured.stdout.startswith(plain.stdout):
        found.append(f"it prints {measured.stdout[:200]!r} and not {plain.stdout!r}")
    taken = samples(build, experiment, folder)
    if len(taken) != RANKS or min(taken, default=0) < 10:
        found.append(f"samples of each process: {taken}")
    report = run([build / "bin" / "culprit", "report", "--format", "json", experiment], folder)
    losses = [loss["name"] for loss in json.loads(report.stdout or '{"losses": []}')["losses"]
              if loss["severity"] == "data loss" or loss["name"] in ("displaced_samplers", "early_ends")]
    if report.returncode != 0 or losses:
        found.append(f"report: status {report.returncode}, losses {losses}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PACKAGES))
    options = parser.parse_args()
    names = options.names or list(PACKAGES)
    failed, skipped = [], []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="culprit-suite-") as scratch:
            folder = pathlib.Path(scratch)
            if not has_package(PACKAGES[name], folder):
                print(f"{name}: skipped, there is no {PACKAGES[name]}", flush=True)
                skipped.append(name)
                continue
            try:
                found = problems(options.build.resolve(), name, folder)
            except subprocess.TimeoutExpired as late:
                found = [str(late)]
        print(f"{name}: {'same' if not found else '; '.join(found)}", flush=True)
        failed += [name] if found else []
    if failed:
        return 1
    return 77 if len(skipped) == len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
