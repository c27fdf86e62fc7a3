#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions held against runs: `whatif.py --build build [--repeat 5] [--only NAME] [--apps FILE]`.

tests/programs/whatif/parts.c runs in pairs: as it is, and changed. Each case says what to change, to culprit whatif and,
through the environment, to the program. From each run as it is the changed one is predicted; the median prediction is
right if it is within 2 % of the median of the changed runs, or between the shortest and the longest. Both times are
those that culprit records, without the start-up and shutdown of MPI, which take what they like from run to run. Prints
a table in Markdown, and how many were right. Wants a machine that does nothing else.

FILE has programs made outside, a list of objects:
  name, ranks             any
  source                  the folder of the sources, relative to the file
  patches, build, run     as tests/programs/made_outside.py has them; what is inserted can ask repeats(), of
                          tests/programs/whatif/repeats.h, how often a loop shall be executed
  environment             of the program as it is, as in {"REPEATS": "4"}
  cases                   each a name, what culprit is told, and what the program is told, as CASES here"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))
import made_outside

RIGHT = 0.02  # unless --tolerance says otherwise

# name, what culprit is told, what the program is told
CASES = [
    ("compute, rank 0, x0.5", ["--scale", "compute=0.5", "--rank", "0"], {"F_compute": "0.5", "ON_RANK": "0"}),
    ("compute, rank 0, x0.1", ["--scale", "compute=0.1", "--rank", "0"], {"F_compute": "0.1", "ON_RANK": "0"}),
    ("compute, rank 0, x2", ["--scale", "compute=2", "--rank", "0"], {"F_compute": "2", "ON_RANK": "0"}),
    ("compute, rank 1, x0.5 (off the path)", ["--scale", "compute=0.5", "--rank", "1"],
     {"F_compute": "0.5", "ON_RANK": "1"}),
    ("compute, rank 1, x4 (gets on the path)", ["--scale", "compute=4", "--rank", "1"],
     {"F_compute": "4", "ON_RANK": "1"}),
    ("compute, everywhere, x0.5", ["--scale", "compute=0.5"], {"F_compute": "0.5"}),
    ("compute removed", ["--remove", "compute"], {"F_compute": "0"}),
    ("resolve, rank 0 thread 1, x0.5", ["--scale", "resolve=0.5", "--rank", "0", "--thread", "1"],
     {"F_resolve": "0.5", "ON_RANK": "0", "ON_THREAD": "1"}),
    ("resolve, rank 0 thread 1, x2", ["--scale", "resolve=2", "--rank", "0", "--thread", "1"],
     {"F_resolve": "2", "ON_RANK": "0", "ON_THREAD": "1"}),
    ("resolve, thread 0, x0.5 (off the path)", ["--scale", "resolve=0.5", "--thread", "0"],
     {"F_resolve": "0.5", "ON_THREAD": "0"}),
    ("resolve, rank 1, x0.5 (off the path)", ["--scale", "resolve=0.5", "--rank", "1"],
     {"F_resolve": "0.5", "ON_RANK": "1"}),
    ("lock's body, x0.25", ["--scale", "update=0.25"], {"F_update": "0.25"}),
    ("lock's body, x4", ["--scale", "update=4"], {"F_update": "4"}),
    ("lock's body, x10", ["--scale", "update=10"], {"F_update": "10"}),
    ("messages of an eighth", ["--bandwidth", "x8"], {"BYTES": str(1 << 20)}),
    ("messages of twice the size", ["--bandwidth", "x0.5"], {"BYTES": str(1 << 24)}),
    ("start_up, rank 0, x0.25", ["--scale", "start_up=0.25", "--rank", "0"], {"F_start_up": "0.25", "ON_RANK": "0"}),
    ("start_up, rank 1, x0 (off the path)", ["--scale", "start_up=0", "--rank", "1"],
     {"F_start_up": "0", "ON_RANK": "1"}),
    ("write_log removed (off the path)", ["--remove", "write_log"], {"F_write_log": "0"}),
    ("write_log, x5 (gets on the path)", ["--scale", "write_log=5"], {"F_write_log": "5"}),
]
BYTES = 1 << 23

# The same with a kernel on OpenCL: host 20 ms, kernel by its loops.
KERNELS = [
    ("kernel, x0.5", ["--device-kernels", "x0.5"], {"F_kernel": "0.5"}),
    ("kernel, x2", ["--scale", "busy=2"], {"F_kernel": "2"}),
    ("host beside kernels removed (off the path)", ["--remove", "meanwhile"], {"F_meanwhile": "0"}),
    ("host between kernels, x0.5", ["--scale", "prepare=0.5"], {"F_prepare": "0.5"}),
]


MPIRUN = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n"]


class Program:
    """How to start it, what it is told as it is, and what is changed in each case."""

    def __init__(self, command, environment, cases):
        self.command, self.environment, self.cases = command, environment, cases


def own_programs(build):
    programs = build / "tests" / "programs"
    found = [Program([*MPIRUN, "2", str(programs / "parts")], {"BYTES": str(BYTES)}, CASES)]
    if (programs / "kernel_parts").exists():
        found.append(Program([str(programs / "kernel_parts")], {}, KERNELS))
    return found


def made_outside_by(file, scratch):
    """The programs that the file tells of, built."""
    header = HERE.parent / "programs" / "whatif" / "repeats.h"
    found = []
    for app in json.loads(file.read_text()):
        copy = made_outside.built_copy(file.parent / app["source"], scratch / f"app-{app['name']}", app["patches"],
                                       app["build"], header)
        found.append(Program([*MPIRUN, str(app["ranks"]), *made_outside.command(copy, app["run"])],
                             app["environment"], app["cases"]))
    return found


class Runs:
    def __init__(self, build, folder):
        self.culprit, self.folder, self.count = build / "bin" / "culprit", folder, 0

    def run(self, program, changes):
        self.count += 1
        experiment = str(self.folder / f"run{self.count}")
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMP_WAIT_POLICY="passive", **program.environment)
        environment.update(changes)
        subprocess.run([self.culprit, "run", "-q", "-o", experiment, "--", *program.command], env=environment,
                       check=True, stdout=subprocess.DEVNULL, cwd=self.folder)  # where they may leave files
        return experiment

    def read(self, *command):
        said = subprocess.run([self.culprit, *command, "--format", "json"], check=True, stdout=subprocess.PIPE)
        return json.loads(said.stdout)

    def start_up(self, experiment):
        return self.read("report", experiment)["start_up"]["wall_s"]

    def own_time(self, experiment):
        data = self.read("report", experiment)
        return data["run"]["wall_s"] - data["start_up"]["wall_s"]


def judge(runs, program, case, repeat, tolerance):
    name, told, changes = case
    were, predictions, walls = [], [], []
    for _ in range(repeat):
        base = runs.run(program, {})
        prediction, start_up = runs.read("whatif", base, *told), runs.start_up(base)
        were.append(prediction["wall_s"] - start_up)
        predictions.append(prediction["predicted_wall_s"] - start_up)
        walls.append(runs.own_time(runs.run(program, changes)))
    was, predicted, median = map(statistics.median, (were, predictions, walls))
    error = predicted / median - 1
    right = abs(error) <= tolerance or min(walls) <= predicted <= max(walls)
    print(f"| {name} | {was:.3f} | {predicted:.3f} | {median:.3f} ({min(walls):.3f} to {max(walls):.3f}) | "
          f"{100 * error:+.1f} % | {'yes' if right else '**no**'} |", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--tolerance", type=float, default=RIGHT, help="what may be off, as a share")
    parser.add_argument("--apps", type=pathlib.Path, help="programs made outside, instead of those of the tests")
    arguments = parser.parse_args()
    build = pathlib.Path(arguments.build).resolve()
    right = judged = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        runs = Runs(build, folder)
        programs = made_outside_by(arguments.apps.resolve(), folder) if arguments.apps else own_programs(build)
        print("| case | recorded | predicted | run again: median (range) | off by | right |\n|---|---|---|---|---|---|")
        for program in programs:
            wanted = [case for case in program.cases if arguments.only in case[0]]
            if wanted:
                runs.run(program, {})  # warms up
            for case in wanted:
                right += judge(runs, program, case, arguments.repeat, arguments.tolerance)
                judged += 1
    print(f"\n{right} of {judged} right")
    return 0 if judged and right == judged else 1


if __name__ == "__main__":
    sys.exit(main())
