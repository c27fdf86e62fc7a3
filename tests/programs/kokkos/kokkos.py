# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What Kokkos tells its tools become regions by the program's labels, unless the user has a tool already."""

import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness  # noqa: E402
from harness import Report, check, mpirun, succeed  # noqa: E402

STEPS = 5
REGIONS = ("timestep", "advance<Fluid>", "fence: after advance", "copy: rho_mirror to rho")


def run(place, environment=None):
    folder = place.experiment()
    command = [place.culprit, "run", "-o", folder, "--", *mpirun(2, place.program("kokkos/like_kokkos"))]
    done = succeed(command, environment=environment) if environment else succeed(command)
    report = Report(place, folder)
    report.check_nothing_lost()
    rows = sqlite3.connect(f"{folder}/findings.db").execute(
        "SELECT c.region, SUM(p.visits) FROM profile p JOIN callpaths c ON c.id = p.callpath GROUP BY c.region").fetchall()
    return done.stdout, report, dict(rows)


def labels(place):
    out, report, visits = run(place)
    check("with a tool" in out and "fences" not in out, f"the program found: {out}")
    for region in REGIONS:
        check(visits.get(region) == 2 * STEPS, f"{region}: {visits.get(region)} visits, not {2 * STEPS}")
    (callpath, location), _ = report.largest_delay("mpi.wait_at_barrier")
    check("timestep" in callpath and "advance<Fluid>" in callpath and location == "1.0", f"{callpath} of {location} is blamed")


def users_own(place):
    out, _, visits = run(place, {"KOKKOS_TOOLS_LIBS": "/nowhere/users-own.so"})
    check("alone" in out, f"the user's tool was replaced: {out}")
    check(not any(region in visits for region in REGIONS), f"regions of a tool that is not there: {visits}")


sys.exit(harness.main({"labels": labels, "users_own": users_own}))
