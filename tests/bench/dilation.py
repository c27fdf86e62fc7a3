#!/usr/bin/python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""How much longer a whole program takes under culprit: pairs of runs, side by side, and the median of
their ratios.

    tests/bench/dilation.py [--pairs N] [--timer REGEX] [--record OPTIONS] -- mpirun -n 2 ./app input

Each pair is a plain run and one under `culprit record`. Compared is the wall-clock time of the whole
command, assembly of the trace included; with --timer also what the program prints of itself (the
first group of the last match), which leaves out its start and culprit's assembly. With --against
the first of each pair runs under culprit, too, with other options: `--against "--sampling 0"` tells
what sampling costs. `--record "--openmp libomp"` puts LLVM's OpenMP runtime under programs built by
gcc, `--preload` puts it under the plain run, which tells what the exchange costs by itself.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(command, timer, environment=None):
    """Wall-clock seconds, and the program's own (or nothing)."""
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **(environment or {})}, check=False)
    wall = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed with status {done.returncode}:\n{done.stdout[-2000:]}")
    found = re.findall(timer, done.stdout) if timer else []
    return wall, float(found[-1]) if found else None


def record(options, more, experiment):
    """The same, under culprit."""
    times = run([options.culprit, "record", "-o", experiment, *more.split(), "--",
                 *options.command], options.timer)
    shutil.rmtree(experiment, ignore_errors=True)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--timer", help="regular expression whose group is the program's own time")
    parser.add_argument("--record", default="", help="more options for culprit record")
    parser.add_argument("--against", help="options for culprit record, in what would be the plain run")
    parser.add_argument("--preload", help="LD_PRELOAD of the plain runs")
    parser.add_argument("--culprit", default=ROOT / "build/bin/culprit")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    walls, owns, rows = [], [], []
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="culprit-dilation-"))
    plain_environment = {"LD_PRELOAD": options.preload} if options.preload else None
    for pair in range(options.pairs):
        experiment = scratch / f"run{pair}"
        if options.against is None:
            plain = run(options.command, options.timer, plain_environment)
        else:
            plain = record(options, options.against, experiment)
        under = record(options, options.record, experiment)
        walls.append(under[0] / plain[0])
        rows.append((plain, under))
        if plain[1] and under[1]:
            owns.append(under[1] / plain[1])
    shutil.rmtree(scratch, ignore_errors=True)

    for plain, under in rows:
        own = f"   own timer {plain[1]:8.2f} -> {under[1]:8.2f} s" if plain[1] else ""
        print(f"wall {plain[0]:8.2f} -> {under[0]:8.2f} s{own}")
    print(f"median ratio of {options.pairs} pairs: wall with assembly {statistics.median(walls):.3f}"
          + (f", own timer {statistics.median(owns):.3f}" if owns else ""))


if __name__ == "__main__":
    main()
