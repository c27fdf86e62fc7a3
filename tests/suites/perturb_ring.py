#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The token ring of M. Sottile, V. Chandu, D. Bader: Performance analysis of parallel programs via message-passing
graph traversal (2006), section 6.1: 128 processes, 10 traversals, each message perturbed by 0 to 700 cycles on average.
"If the ring was traversed 10 times with each processor injecting 100 cycles of noise for each message, the runtime of
each processor increased by approximately 10 * 100 * 128 cycles."

No 128 processes are needed: the trace is generated (tests/bench/generate, pattern token_ring), in which one rank works
at a time, so that each delay is felt. A cycle is a nanosecond here. Three series, each with a growth that is known:

  ring      a delay of each message: traversals x ranks of them come one after the other
  stencil   the same where ranks wait for the later of two neighbours, so that some of each delay is absorbed: what
            `Halos` makes of the trace's times and random numbers of its own, as otf2-print shows the trace
  noise     of the ring's work, exponentially distributed, a million times in a second of work: rate x mean x work

`perturb_ring.py --build build` prints by how much the run grows for each mean, in Markdown. The exit status is 1 if a
growth is off by more than --tolerance. `--predict 'COMMAND'` holds another tool against the same: executed by a shell
with {trace} (an archive's anchor), {option} (message-delay or noise), {change} (as in exponential(100ns)) and {seed}
filled in, it prints the predicted run time in seconds as its last word.
"""

import argparse
import collections
import json
import math
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

MEANS_NS = range(0, 701, 100)
RATE = "1000kHz"  # of noise: one detour in a microsecond of work
OWN_REPEATS = 200  # of the recursion
SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def generated(options, pattern, folder):
    generator = pathlib.Path(options.build) / "tests" / "trace_generator"
    subprocess.run([generator, pattern, folder, "--ranks", str(options.ranks), "--threads", "1", "--iterations",
                    str(options.traversals)], check=True, stdout=subprocess.DEVNULL)
    return folder / "traces.otf2"


def predicted(options, trace, option, change, seed):
    """The run in nanoseconds: mean over the repeats, and half of its interval of 95 %."""
    if options.predict:
        commands = [options.predict.format(trace=trace, option=option, change=change, seed=seed + repeat)
                    for repeat in range(options.repeats)]
        times = [1e9 * float(said_by(command, shell=True).split()[-1]) for command in commands]
        half = 1.96 * statistics.stdev(times) / math.sqrt(len(times)) if len(times) > 1 else 0
        return statistics.mean(times), half
    data = json.loads(said_by([pathlib.Path(options.build) / "bin" / "culprit", "whatif", trace, f"--{option}", change,
                               "--seed", str(seed), "--repeats", str(options.repeats), "--format", "json"]))
    return 1e9 * data["predicted_wall_s"], 1e9 * (data["predicted_wall_high_s"] - data["predicted_wall_s"])


def said_by(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def visits(trace):
    """By location: (region, enter, leave) in nanoseconds, by enter."""
    text = said_by(["otf2-print", trace])
    found, entered = collections.defaultdict(list), collections.defaultdict(list)
    for kind, where, time, region in re.findall(r'^(ENTER|LEAVE) +(\d+) +(\d+) +Region: "([^"]*)"', text, re.M):
        if kind == "ENTER":
            entered[where].append(int(time))
        else:
            found[int(where)].append((region, entered[where].pop(), int(time)))
    return {where: sorted(all_of_it, key=lambda visit: visit[1]) for where, all_of_it in found.items()}


class Halos:
    """The stencil, executed again by a recursion over its iterations. A Waitall ends when the messages of both
    neighbours have come, each after a delay of its own; they are small, so nobody waits for who takes them. Data of an
    Allreduce comes in log2(ranks) hops, but for one's own."""

    CALLS = ("MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce")

    def __init__(self, trace):
        calls = visits(trace)
        self.lines = [[visit for visit in calls[rank] if visit[0] in self.CALLS] for rank in sorted(calls)]
        self.ranks = len(self.lines)
        self.rests = {}  # by rank and place: what a call took after all that it waits for
        recorded = [line[-1][2] for line in self.lines]
        if self.executed(lambda: 0) != recorded:
            sys.exit("the recursion does not come out at the recorded times")
        self.wall = max(recorded)

    def grown(self, delay):
        return max(self.executed(delay)) - self.wall

    def executed(self, delay):
        """When each rank is done. The first time finds out the rests."""
        now, before = [0] * self.ranks, [0] * self.ranks
        for place, (call, _, _) in enumerate(self.lines[0]):
            if call not in ("MPI_Waitall", "MPI_Allreduce"):
                continue
            halo = call == "MPI_Waitall"
            at = [[now[rank] + enter - before[rank] for _, enter, _ in line[place - 4 if halo else place:place + 1]]
                  for rank, line in enumerate(self.lines)]
            for rank, line in enumerate(self.lines):
                come = self.halo(at, rank, delay) if halo else self.reduced(at, rank, delay)
                before[rank] = line[place][2]
                now[rank] = come + self.rests.setdefault((rank, place), before[rank] - come)
        return now

    def halo(self, at, rank, delay):
        """Of each rank: enters of the receives from left and right, of the sends to right and left, and of the wait."""
        left, right = at[rank - 1], at[(rank + 1) % self.ranks]
        return max(at[rank][4], left[2] + delay(), right[3] + delay())

    def reduced(self, at, rank, delay):
        others = max(at[other][0] for other in range(self.ranks) if other != rank)
        hops = sum(delay() for _ in range(math.ceil(math.log2(self.ranks))))
        if at[rank][0] > others:
            return max(at[rank][0], others + hops)
        return others + hops


def exponential(mean):
    return lambda: random.expovariate(1 / mean) if mean else 0


def series(options, trace, option, wording, expected):
    """A table: by mean, how much the run grows, and what is known of that. The largest share that it is off by."""
    base, _ = predicted(options, trace, "message-delay", "constant(0ns)", 1)
    print("| mean | growth | expected | off by |\n|---|---|---|---|")
    worst = 0
    for mean in MEANS_NS:
        wall, half = predicted(options, trace, option, wording.format(mean), 1000 * mean + 1)
        growth, known = wall - base, expected(mean)
        off = growth / known - 1 if known else growth
        worst = max(worst, abs(off))
        interval = f" +- {half:,.0f}" if half >= 0.5 else ""
        percent = round(100 * off, 1) + 0.0  # no -0.0
        print(f"| {mean} ns | {growth:,.0f}{interval} ns | {known:,.0f} ns | {percent:+.1f} % |", flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--predict")
    parser.add_argument("--ranks", type=int, default=128)
    parser.add_argument("--traversals", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--tolerance", type=float, default=0.03)
    options = parser.parse_args()
    if shutil.which("otf2-print") is None:
        print("skipped: there is no otf2-print")
        return SKIPPED
    random.seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        ring = generated(options, "token_ring", pathlib.Path(scratch) / "ring")
        stencil = generated(options, "stencil", pathlib.Path(scratch) / "stencil")
        messages = options.ranks * options.traversals
        halos = Halos(stencil)
        work = sum(leave - enter for line in visits(ring).values() for region, enter, leave in line
                   if region == "compute")
        worst = []
        for shape in ("constant", "exponential"):
            delay = shape + "({}ns)"
            print(f"\nring, messages later, {shape}: {messages} come one after the other\n")
            worst.append(series(options, ring, "message-delay", delay, lambda mean: mean * messages))
            print(f"\nstencil, messages later, {shape}\n")
            known = (lambda mean: halos.grown(lambda: mean)) if shape == "constant" else (
                lambda mean: statistics.mean(halos.grown(exponential(mean)) for _ in range(OWN_REPEATS)))
            worst.append(series(options, stencil, "message-delay", delay, known))
        print(f"\nring, noise at {RATE}: {work} ns of work, one rank at a time\n")
        worst.append(series(options, ring, "noise", "exponential({}ns)@" + RATE, lambda mean: mean * work / 1000))
    print(f"\noff by {100 * max(worst):.1f} % at most")
    return 1 if max(worst) > options.tolerance else 0


if __name__ == "__main__":
    sys.exit(main())
