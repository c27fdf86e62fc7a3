#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""How often culprit model finds the exponents of functions that are known, with noise, and how often Extra-P does.

Data sets are drawn from a fixed seed: a shape of the performance model normal form, a part of 50 to 100 % that it has
in the largest value, repeats with normal noise; and constants, which a modeler should call so. culprit reads them as
JSON Lines. With --extrap FOLDER, Extra-P's sources (github.com/extra-p/extrap) model the same values with their own
default modeler, side by side: that needs numpy and what Extra-P imports besides.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import warnings

# (i/j, k) of Extra-P 4.2's default hypotheses.
SHAPES = [(i / j, k) for i, j, k in (
    (0, 1, 1), (0, 1, 2), (1, 4, 0), (1, 3, 0), (1, 4, 1), (1, 3, 1), (1, 4, 2), (1, 3, 2), (1, 2, 0), (1, 2, 1),
    (1, 2, 2), (2, 3, 0), (3, 4, 0), (2, 3, 1), (3, 4, 1), (4, 5, 0), (2, 3, 2), (3, 4, 2), (1, 1, 0), (1, 1, 1),
    (1, 1, 2), (5, 4, 0), (5, 4, 1), (4, 3, 0), (4, 3, 1), (3, 2, 0), (3, 2, 1), (3, 2, 2), (5, 3, 0), (7, 4, 0),
    (2, 1, 0), (2, 1, 1), (2, 1, 2), (9, 4, 0), (7, 3, 0), (5, 2, 0), (5, 2, 1), (5, 2, 2), (8, 3, 0), (11, 4, 0),
    (3, 1, 0), (3, 1, 1))]
CONSTANT = (0.0, 0)
NEAR = 0.25  # of the exponent


def value(shape, p):
    return p ** shape[0] * math.log2(p) ** shape[1]


class Set:
    """Values at points, and what they were made of."""

    def __init__(self, draw, points, repeats, noise, constant):
        self.points = points
        self.shape = CONSTANT if constant else draw.choice(SHAPES)
        part, total = (0.0 if constant else draw.uniform(0.5, 1)), 10 ** draw.uniform(-3, 2)
        self.constant = total * (1 - part)
        self.coefficient = total * part / value(self.shape, points[-1])
        self.values = [[self.at(p) * (1 + draw.gauss(0, noise)) for _ in range(repeats)] for p in points]
        self.target = 4 * points[-1]
        self.next = self.at(self.target) * (1 + draw.gauss(0, noise))

    def at(self, p):
        return self.constant + (0 if self.shape == CONSTANT else self.coefficient * value(self.shape, p))


def by_culprit(culprit, sets):
    """The leading (exponent, logarithms) of each, and the intervals at the target."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for i, each in enumerate(sets):
            for p, values in zip(each.points, each.values):
                file.write(json.dumps({"params": {"p": p}, "callpath": f"set{i}", "metric": "time", "value": values}))
                file.write("\n")
        file.flush()
        done = subprocess.run([culprit, "model", "--json-lines", file.name, "--format", "json", "--predict",
                               f"p={sets[0].target}"], stdout=subprocess.PIPE, text=True, check=True)
    leads, ranges = [None] * len(sets), [None] * len(sets)
    for model in json.loads(done.stdout)["models"]:
        i = int(model["callpath"][3:])
        terms = [t for t in model["terms"] if t["term"] > 0]
        leads[i] = max(((t["exponent"], t["logarithms"]) for t in terms), default=CONSTANT)
        ranges[i] = (model["low"], model["high"])
    return leads, ranges


def by_extrap(folder, sets):
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore")
    from extrap.entities.callpath import Callpath
    from extrap.entities.coordinate import Coordinate
    from extrap.entities.measurement import Measurement
    from extrap.entities.metric import Metric
    from extrap.modelers.single_parameter import Default
    modeler, leads = Default(), []
    for each in sets:
        measured = [Measurement(Coordinate(float(p)), Callpath("set"), Metric("time"), list(values))
                    for p, values in zip(each.points, each.values)]
        lead = CONSTANT
        for term in modeler.create_model(measured).hypothesis.function.compound_terms:
            exponents = {simple.term_type: simple.exponent for simple in term.simple_terms}
            lead = (float(exponents.get("polynomial", 0)), int(exponents.get("logarithm", 0)))
        leads.append(lead)
    return leads


def same(found, shape):
    return abs(found[0] - shape[0]) < 1e-9 and found[1] == shape[1]


def judge(name, sets, leads):
    """The line of a table, and how many are exact."""
    exact = sum(same(found, each.shape) for found, each in zip(leads, sets))
    near = sum(abs(found[0] - each.shape[0]) <= NEAR for found, each in zip(leads, sets))
    print(f"  {name:10} exponents right {100 * exact / len(sets):5.1f} %, within a quarter "
          f"{100 * near / len(sets):5.1f} %", flush=True)
    return exact


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--culprit", default="build/bin/culprit")
    parser.add_argument("--extrap", help="a folder with Extra-P's sources")
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--points", default="4,8,16,32,64")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    points, behind = [float(p) for p in arguments.points.split(",")], 0
    for constant in (False, True):
        draw = random.Random(arguments.seed)
        sets = [Set(draw, points, arguments.repeats, arguments.noise, constant) for _ in range(arguments.sets)]
        print(f"{len(sets)} {'constants' if constant else 'functions'} at {arguments.points}, {arguments.repeats} "
              f"repeats, {100 * arguments.noise:g} % noise, seed {arguments.seed}")
        leads, ranges = by_culprit(arguments.culprit, sets)
        mine = judge("culprit", sets, leads)
        covered = sum(low <= each.next <= high for (low, high), each in zip(ranges, sets))
        print(f"  {'':10} {100 * covered / len(sets):5.1f} % of runs at four times the largest point lie in the "
              "interval of 95 %")
        if arguments.extrap:
            behind += mine < judge("Extra-P", sets, by_extrap(os.path.abspath(arguments.extrap), sets))
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
