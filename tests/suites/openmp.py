#!/usr/bin/python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the verdicts of a suite's OpenMP programs with and without culprit's collector.

    tests/suites/openmp.py [--flags FLAGS] [--analyse] --compiler clang-19 FOLDER_OR_FILE...

Each source file is one program. It is built, run plainly and run under the preload library; what counts
is how it ends: well, badly, by a signal, or not within the time limit. Where the two differ, both are
repeated three times, since suites have programs that fail now and then by themselves: a difference
remains if no verdict of the one kind appears among those of the other. Programs that do not build are
not counted. With --analyse each experiment is also analysed, and results whose sums do not agree are
counted. The suites are not part of culprit: fetch them, and name their folders.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {".c", ".cc", ".cpp", ".C", ".f90", ".f", ".F90", ".f95"}
LIBOMP = "/usr/lib/llvm-19/lib/libomp.so.5"


def sources(names):
    for name in (pathlib.Path(n).resolve() for n in names):
        if name.is_dir():
            yield from sorted(p for p in name.rglob("*") if p.suffix in SOURCES)
        else:
            yield name


def verdict(command, environment, folder, limit):
    try:
        done = subprocess.run(command, cwd=folder, env=environment, timeout=limit, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "time limit"
    if done.returncode < 0:
        return f"signal {-done.returncode}"
    return "good" if done.returncode == 0 else "bad"


class Suite:
    def __init__(self, options):
        self.options = options
        self.build = pathlib.Path(options.build).resolve()
        self.plain = {**os.environ, "OMP_NUM_THREADS": str(options.threads),
                      "OMP_WAIT_POLICY": "passive"}

    def under(self, experiment):
        return {**self.plain, "LD_PRELOAD": str(self.build / "lib/libculprit.so"),
                "CULPRIT_EXPERIMENT": str(experiment), "CULPRIT_OPENMP_RUNTIME": LIBOMP,
                "CULPRIT_SAMPLING": "0"}

    def compile(self, source, program):
        command = [*self.options.compiler.split(), *self.options.flags.split(), str(source), "-o",
                   str(program), "-lm"]
        try:
            done = subprocess.run(command, cwd=source.parent, timeout=120, check=False,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def judge(self, source):
        """(verdict without, verdict with, note)"""
        with tempfile.TemporaryDirectory(prefix="culprit-suite-") as scratch:
            folder = pathlib.Path(scratch)
            program = folder / "program"
            if not self.compile(source, program):
                return None, None, ""
            limit = self.options.limit
            plain, under = [], []
            for attempt in range(4):
                experiment = folder / f"experiment{attempt}"
                experiment.mkdir()
                plain.append(verdict([program], self.plain, folder, limit))
                under.append(verdict([program], self.under(experiment), folder, limit))
                if plain[0] == under[0] or set(plain) & set(under) and attempt > 0:
                    break
            same = bool(set(plain) & set(under))
            note = self.analyse(program, folder) if self.options.analyse else ""
            return plain[0], under[0] if not same or plain[0] == under[0] else plain[0], note

    def analyse(self, program, folder):
        command = [self.build / "bin/culprit", "run", "-o", folder / "analysed", "--", program]
        try:
            done = subprocess.run(command, cwd=folder, env=self.plain, check=False, timeout=120,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return ""
        return "sums disagree" if b"do not agree" in done.stdout else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="-O1 -g -fopenmp")
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--limit", type=float, default=20, help="seconds for each run")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--analyse", action="store_true")
    parser.add_argument("sources", nargs="+")
    options = parser.parse_args()
    if shutil.which(options.compiler.split()[0]) is None:
        sys.exit(f"there is no {options.compiler}")

    suite = Suite(options)
    files = list(sources(options.sources))
    counts = collections.Counter()
    different = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for source, (plain, under, note) in zip(files, pool.map(suite.judge, files)):
            if plain is None:
                counts["not built"] += 1
                continue
            counts["programs"] += 1
            counts[f"{plain} without"] += 1
            if note:
                counts[note] += 1
                print(f"{note}: {source}")
            if plain != under:
                different.append(source)
                print(f"{plain} without, {under} with: {source}", flush=True)
    counts["different"] = len(different)
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
