#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Code that a program generates is called what the program says, in each of the ways to say it, and
its callers are known, though it has no unwind tables."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, check, mpirun, succeed


def named(place, way):
    folder = place.experiment(way)
    succeed([place.culprit, "run", "-o", folder, "--",
             *mpirun(2, place.program("generated/generated"), way)], cwd=place.scratch)
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    (path, location), _ = report.largest_delay()
    check(path == "main/solve/flux_kernel" and location == "1.0",
          f"{path} on {location} is to blame")
    text = succeed([place.culprit, "report", folder]).stdout
    verdict = " ".join(text.split("AT A GLANCE")[0].split())
    wanted = "flux_kernel (flux.jl:42)" if way == "dump" else "flux_kernel on rank 1"
    check(wanted in verdict, f"the verdict names another: {verdict}")


TESTS = {way: lambda place, way=way: named(place, way) for way in ("map", "dump", "object")}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
