#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of NVTX become regions in call paths, as often as they were pushed; what cannot be placed
on a thread is counted. No device is needed."""

import functools
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, check, mpirun, succeed

# Visits of call paths, by their ends.
VISITS = {
    "main/step": 3,
    "main/step/solver: assemble": 3,
    "main/step/solver: assemble/solver: kept": 3,
    "main/step/größer ∞": 3,
    "main/first": 1,
    "main/first/solver: second": 1,
    "main/solver: second": 1,  # goes on when the first is over
    "main" + 64 * "/deep": 1,
    "main/solver: outer" + 63 * "/below": 1,
    "main" + 63 * "/below": 1,  # the domain's goes, they go on
    "on a thread": 3,
}
FUNCTIONS = ("do_step", "do_cross", "do_deep", "push", "on_thread")
ABSENT = ("begun before MPI", "main" + 65 * "/deep", 64 * "/below", "beyond", "another", "here",
          "in a child", "xxxx")


def ranges(place, client):
    folder = place.experiment()
    done = succeed([place.culprit, "run", "-o", folder, "--",
                    *mpirun(1, place.program(f"nvtx/ranges.{client}"))])
    check("ranges: 0 wrong, 0 children hung" in done.stdout, done.stdout)
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    losses = report.losses()
    for name, count in (("nvtx_ranges_not_placed", 2), ("nvtx_marks", 3)):
        check(name in losses and losses[name]["count"] == count, f"{name}: {losses}")
    check("user_regions_without_begin" not in losses, f"{losses}")
    rows = sqlite3.connect(f"{folder}/findings.db").execute(
        "SELECT c.name, SUM(p.visits) FROM profile p "
        "JOIN callpaths c ON c.id = p.callpath GROUP BY c.name").fetchall()
    for end, expected in VISITS.items():
        # (Functions of the program stand between main and its ranges, and within these.)
        found = sum(visits for path, visits in rows
                    if shortened(path).endswith(end) and path.split("/")[-1] not in FUNCTIONS)
        check(found == expected, f"{end}: {found} visits, expected {expected}:\n" +
              "\n".join(sorted(f"{visits} {path}" for path, visits in rows)))
    for part in ABSENT:
        check(not any(part in shortened(path) for path, _ in rows), f"{part} is there")


def shortened(path):
    return "/".join(part for part in path.split("/") if part not in FUNCTIONS)


def without_memory(place, client):
    """A program that goes on when memory ends does so with the probe in it."""
    done = harness.execute([place.culprit, "run", "-o", place.experiment(), "--",
                        *mpirun(1, place.program(f"nvtx/ranges.{client}"), "without_memory")])
    check("ranges: lives" in done.stdout, f"{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(harness.main({
        f"{test.__name__}.{client}": functools.partial(test, client=client)
        for test in (ranges, without_memory) for client in ("stand_in", "nvidia")}))
