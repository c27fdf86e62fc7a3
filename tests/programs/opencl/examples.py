#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The OpenCL examples under culprit: they print what they always print, nothing of their devices is
lost, and the trace holds their kernels, as many as the source says."""

import re
import shutil
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, Skip, check, execute, mpirun, succeed

CALIBRATION = 6  # kernels by which an example finds out how fast the device is

# Name: ranks (0: without MPI), what it prints, kernels of each rank besides the calibration's.
EXAMPLES = {
    "opencl_late_launch": (0, "value 2.500000", 5),
    "opencl_oversync": (0, "value 2.500000", 5),
    "opencl_overlap": (0, "value 2.500000", 5),
    "opencl_two_queues": (0, "done", 10),
    "opencl_shared_device": (2, "value 1.500000", 3),
}


def kernels_by_location(folder):
    printer = shutil.which("otf2-print")
    if not printer:
        raise Skip("there is no otf2-print")
    found = {}
    for line in succeed([printer, f"{folder}/trace/traces.otf2"]).stdout.splitlines():
        match = re.match(r'ENTER\s+(\d+)\s+\d+\s+Region: "busy"', line)
        if match:
            found[int(match.group(1))] = found.get(int(match.group(1)), 0) + 1
    return found


def run(place, name):
    ranks, words, kernels = EXAMPLES[name]
    program = place.program(name)
    command = mpirun(ranks, program) if ranks else [program]
    folder = place.experiment(name)
    done = execute([place.culprit, "run", "-o", folder, "--", *command])
    if done.returncode == 77:
        raise Skip("there is no OpenCL device")
    check(done.returncode == 0, f"status {done.returncode}: {done.stdout}{done.stderr}")
    check(words in done.stdout, f"{name} says {done.stdout!r}")
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()
    found = kernels_by_location(folder)
    per_rank = {}
    for location, count in found.items():
        check(location >> 32 > 0, f"kernels on a thread: {found}")
        rank = location & 0xffffffff
        per_rank[rank] = per_rank.get(rank, 0) + count
    expected = {rank: CALIBRATION + kernels for rank in range(max(ranks, 1))}
    check(per_rank == expected, f"kernels by rank: {per_rank}, expected {expected}")


if __name__ == "__main__":
    sys.exit(harness.main({name: lambda place, n=name: run(place, n) for name in EXAMPLES}))
