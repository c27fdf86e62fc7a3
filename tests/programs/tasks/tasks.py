#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A program of many small tasks: threads that wait for their logs, while another one merges what all of them did, lose
nothing."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, check, succeed

RUNS = 3


def many(place):
    for run in range(RUNS):
        folder = place.experiment(str(run))
        done = succeed([place.culprit, "record", "-o", folder, "--", place.program("tasks/tasks")])
        check(done.stdout.split() == ["17711"], f"the program says {done.stdout!r}")
        succeed([place.culprit, "analyze", folder])
        report = Report(place, folder)
        report.check_identities()
        report.check_nothing_lost()


if __name__ == "__main__":
    sys.exit(harness.main({"many": many}))
