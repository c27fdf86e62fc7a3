#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The token ring of M. Sottile, V. Chandu, D. Bader: Performance analysis of parallel programs via message-passing
graph traversal (2006), section 6.1: 128 processes, 10 traversals, each message perturbed by 0 to 700 cycles on average.
"If the ring was traversed 10 times with each processor injecting 100 cycles of noise for each message, the runtime of
each processor increased by approximately 10 * 100 * 128 cycles."

No 128 processes are needed: the trace is generated (tests/bench/generate, pattern token_ring), in which one rank works
at a time, so that each delay is felt. A stencil of the same size is perturbed as well: its ranks wait for the latest of
their neighbours alone, so that less than each delay, and more than the mean delay of one rank, is felt.

`perturb_ring.py --build build --predict 'COMMAND'` prints, for each mean delay, by how much the run grows. COMMAND is
executed by a shell with {trace} (an archive's anchor), {delay} (a distribution, as in exponential(100ns)) and {seed}
filled in, and prints the predicted run time in seconds as its last word; a cycle is a nanosecond here. The exit status
is 1 if the ring's slope is off by more than --tolerance.
"""

import argparse
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

MEANS_NS = range(0, 701, 100)


def generated(options, pattern, folder):
    generator = pathlib.Path(options.build) / "tests" / "trace_generator"
    subprocess.run([generator, pattern, folder, "--ranks", str(options.ranks), "--threads", "1", "--iterations",
                    str(options.traversals)], check=True, stdout=subprocess.DEVNULL)
    return folder / "traces.otf2"


def predicted_s(options, trace, delay, seed):
    command = options.predict.format(trace=trace, delay=delay, seed=seed)
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr.strip() or done.returncode}")
    return float(done.stdout.split()[-1])


def slope(xs, ys):
    """Least squares."""
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def series(options, trace, shape):
    """Growth of the run in nanoseconds by mean delay: mean over the repeats, half of a 95 % interval."""
    base = predicted_s(options, trace, "constant(0ns)", 1)
    rows = []
    for mean in MEANS_NS:
        grown = [(predicted_s(options, trace, f"{shape}({mean}ns)", seed) - base) * 1e9
                 for seed in range(1, options.repeats + 1)]
        spread = statistics.stdev(grown) if len(grown) > 1 else 0
        rows.append((mean, statistics.mean(grown), 1.96 * spread / math.sqrt(len(grown))))
    return rows


def told(name, rows, messages):
    print(f"{name}\n  mean delay   growth            per delay and message of one rank's chain")
    for mean, growth, half in rows:
        share = f"{growth / (mean * messages):8.4f}" if mean else ""
        print(f"  {mean:7d} ns   {growth:10.0f} +- {half:6.0f} ns  {share}")
    found = slope([row[0] for row in rows], [row[1] for row in rows])
    print(f"  slope {found:.2f}, of {messages} messages one after the other")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--predict", required=True)
    parser.add_argument("--ranks", type=int, default=128)
    parser.add_argument("--traversals", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--shape", default="exponential", choices=("exponential", "constant"))
    parser.add_argument("--tolerance", type=float, default=0.03)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        ring = generated(options, "token_ring", scratch / "ring")
        chain = options.ranks * options.traversals
        found = told("ring", series(options, ring, options.shape), chain)
        stencil = generated(options, "stencil", scratch / "stencil")
        absorbed = told("stencil", series(options, stencil, options.shape), options.traversals)
    off = abs(found / chain - 1)
    print(f"ring: off by {off:.2%} from ranks x traversals; stencil: {absorbed / chain:.2%} of that")
    return 1 if off > options.tolerance else 0


if __name__ == "__main__":
    sys.exit(main())
