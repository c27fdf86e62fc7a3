#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The template of a device probe observes its made-up runtime; one of another version stays away."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "programs"))
import harness
from harness import Report, check, check_time, succeed


def measure(place, tools):
    folder = place.experiment()
    templates = place.build / "tests" / "templates"
    succeed([place.culprit, "run", "-o", folder, "--", templates / "toy_program"],
            environment={**os.environ, "TOY_TOOLS": str(templates / tools)})
    return Report(place, folder)


def observed(place):
    """Three operations of 40 ms, for each of which the host waits."""
    report = measure(place, "libtoy_probe.so")
    report.check_identities()
    report.check_nothing_lost()
    devices = report.data["devices"]
    check(len(devices) == 1 and devices[0]["name"] == "Toy", f"{devices}")
    waited = sum(wait["time_s"] for wait in report.waits("dev.host_wait", callpath="cu_toy_wait"))
    check_time("the host waited", waited, 0.12, 3)


def other_version(place):
    report = measure(place, "libtoy_other_version.so")
    check(not report.data["devices"], "a probe of another version was heard")
    check(report.losses().get("refused_probes", {}).get("count") == 1, f"{report.losses()}")


if __name__ == "__main__":
    harness.main({"observed": observed, "other_version": other_version})
