# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What recording costs with this build's collector, held against another's: a release that is
installed somewhere, or a commit built in a second folder. Fails when a call, a record or a construct
has become slower by a tenth.

The programs are those of the benchmarks; each times its calls or constructs by itself. Both
collectors run in turn, since machines differ from minute to minute: what counts is the median of the
ratios of neighbouring runs, and that at least three of four pairs agree. Where valgrind is installed,
instructions are counted as well, which no load disturbs: there the count decides, and times are only
told. What a program does without a collector is taken off before counts are compared."""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

SLOWER = 1.10   # from here on it fails
AGREED = 1.05   # what three of four pairs must exceed as well
# So many times fewer rounds while instructions are counted.
COUNTED_SHARE = 50
SHORT = {"BENCH_SHARE": str(COUNTED_SHARE)}
# Below this, a difference in instructions is one of code layout.
LEAST_COUNT = 5


class Collector:
    """The library of a build, or of an installation."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.library = self.folder / "lib" / "libculprit.so"
        if not self.library.exists():
            raise SystemExit(f"against: there is no {self.library}")

    def environment(self, experiment):
        return {"LD_PRELOAD": str(self.library), "CULPRIT_OPENMP_RUNTIME": "libgomp",
                "CULPRIT_SAMPLING": "0", "CULPRIT_EXPERIMENT": str(experiment)}


def run(command, environment, place):
    """The command's standard output, while it records into a folder that is removed again."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=place, env={**os.environ, **environment})
    if done.returncode != 0:
        raise SystemExit(f"against: {' '.join(map(str, command))}: status {done.returncode}\n"
                         f"{done.stderr}")
    return done.stdout


def recorded(collector, command, place, more=()):
    with tempfile.TemporaryDirectory(dir=place) as experiment:
        text = run(command, {**collector.environment(experiment), **dict(more)}, place)
        if not any(pathlib.Path(experiment).rglob("process")):
            raise SystemExit(f"against: {command[-1]} was not recorded with {collector.library}")
        return text


def times_of(collector, program, place):
    """Nanoseconds by what was timed."""
    lines = recorded(collector, [program], place).splitlines()
    return {name: float(time) for name, time in (line.split() for line in lines)}


def record_times(collector, place):
    """Of records and call paths alone: the benchmark of the recorder that the build has; none in an
    installation."""
    program = collector.folder / "tests" / "collector_bench"
    if not program.exists():
        return {}
    told = json.loads(run([program, "--benchmark_format=json"], {}, place))
    return {entry["name"]: entry["cpu_time"] for entry in told["benchmarks"]}


def counts_of(collector, program, place):
    """Instructions by what was timed, of all its rounds: the program has valgrind write them down at
    the end of each (tests/bench/counted.h)."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        out = pathlib.Path(folder) / "counts"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program]
        if collector is None:
            run(command, SHORT, place)
        else:
            recorded(collector, command, place, SHORT.items())
        counts = {}
        for file in pathlib.Path(folder).glob("counts.*"):
            text = file.read_text(errors="replace")
            name = re.search(r"^desc: Trigger: Client Request: (\S+)", text, re.MULTILINE)
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
            if name and total:
                counts[name[1]] = int(total[1])
        return counts


def quartiles(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 4], statistics.median(ordered), ordered[(3 * len(ordered)) // 4]


class Verdict:
    def __init__(self):
        self.slower = []

    def times(self, subject, ours, theirs, decides):
        print(f"{subject}: nanoseconds here and there, ratio and its middle half, "
              f"{len(ours)} pairs")
        for name in ours[0]:
            pairs = [(a[name], b[name]) for a, b in zip(ours, theirs) if name in b and b[name] > 0]
            if not pairs:
                continue
            low, middle, high = quartiles([a / b for a, b in pairs])
            print(f"  {name:28} {statistics.median(a for a, _ in pairs):9.1f} "
                  f"{statistics.median(b for _, b in pairs):9.1f} {middle:7.2f} "
                  f"({low:.2f} to {high:.2f})")
            if decides and middle > SLOWER and low > AGREED:
                self.slower.append(f"{subject}: {name} takes {middle:.2f} times as long")

    def counts(self, subject, plain, ours, theirs):
        print(f"{subject}: instructions that the collector adds, all rounds, here and there, ratio")
        for name, alone in plain.items():
            if name not in ours or name not in theirs:
                continue
            here, there = ours[name] - alone, theirs[name] - alone
            if there <= 0:
                continue
            print(f"  {name:28} {here:11} {there:11} {here / there:7.3f}")
            if here > SLOWER * there + LEAST_COUNT:
                self.slower.append(f"{subject}: {name} takes {here / there:.2f} times as many "
                                   "instructions")


def programs_of(build):
    found = {}
    for program in sorted((build / "tests" / "bench").glob("*_program")):
        if program.name.startswith(("mpi_", "openmp_", "libgomp_")):
            found[program.name.removesuffix("_bench_program")] = str(program)
    if not found:
        raise SystemExit(f"against: {build} has no programs to time: ./dev bench builds them")
    return found


def compare(ours, theirs, options, place):
    verdict = Verdict()
    counted = shutil.which("valgrind") is not None
    if not counted:
        print("valgrind is not installed: times alone decide")
    for subject, program in programs_of(ours.folder).items():
        if counted:
            counts = [counts_of(c, program, place) for c in (None, ours, theirs)]
            verdict.counts(subject, *counts)
            if not counts[0]:
                raise SystemExit(f"against: {program} wrote no counts")
        pairs = [(times_of(ours, program, place), times_of(theirs, program, place))
                 for _ in range(options.pairs)]
        verdict.times(subject, *zip(*pairs), decides=not counted)
    pairs = [(record_times(ours, place), record_times(theirs, place))
             for _ in range(options.pairs)]
    if all(all(pair) for pair in pairs):
        verdict.times("records", *zip(*pairs), decides=True)
    else:
        print("records: one of the two is an installation, which has no benchmark of them")
    return verdict.slower


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--against", required=True, type=pathlib.Path, metavar="FOLDER",
                        help="of another build, or of an installation")
    parser.add_argument("--pairs", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        slower = compare(Collector(options.build), Collector(options.against), options, place)
    for sentence in slower:
        print(f"slower: {sentence}")
    print("slower by a tenth or more" if slower else "nothing is slower by a tenth")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
