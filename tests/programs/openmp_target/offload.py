#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Target constructs of OpenMP, as the runtime tells of them: activities of the host, with what they
copy and hand over."""

import os
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, Skip, check, execute

# Visits of regions, by their names: 4 target constructs, one of which copies a number back, and one
# `target data`, which copies the array in and out.
VISITS = {"!$omp target": 4, "!$omp target kernel": 4, "!$omp target enter data": 1,
          "!$omp target exit data": 1, "!$omp target copy in": 1, "!$omp target copy out": 2,
          "!$omp target alloc": 2, "!$omp target free": 2}


def region(name):
    return name.split("/")[-1].split(" @")[0]


def offload(place, libraries):
    folder = place.experiment()
    # The offload runtime looks for its OpenMP runtime by a name that only this folder has.
    path = ":".join(filter(None, (libraries, os.environ.get("LD_LIBRARY_PATH"))))
    done = execute([place.culprit, "run", "-o", folder, "--",
                    place.program("openmp_target/offload")], environment={"LD_LIBRARY_PATH": path})
    if done.returncode == 77:
        raise Skip("there is no device for OpenMP")
    check(done.returncode == 0, f"status {done.returncode}: {done.stdout}{done.stderr}")
    check("offload: 12285" in done.stdout, done.stdout)
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    found = {}
    for name, visits in sqlite3.connect(f"{folder}/findings.db").execute(
            "SELECT c.name, SUM(p.visits) FROM profile p JOIN callpaths c ON c.id = p.callpath "
            "GROUP BY c.name"):
        found[region(name)] = found.get(region(name), 0) + visits
    for name, visits in VISITS.items():
        check(found.get(name) == visits, f"{name}: {found.get(name)} visits, expected {visits}: "
              f"{ {n: v for n, v in found.items() if 'target' in n} }")


if __name__ == "__main__":
    LIBRARIES = sys.argv.pop()
    sys.exit(harness.main({"offload": lambda place: offload(place, LIBRARIES)}))
