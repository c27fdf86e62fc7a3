# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Gains that can be had: what culprit says that a change would bring, against the same program run with it.

`gain` of a case says what may be said of guilty(): `spread`, that dividing it, or beginning with it, brings
something; `halved`, that only less of it would. In both cases what half of it would bring is checked as well.
"""

import glob
import json
import os
import statistics
import subprocess

import harness

EXACT, LEAST_S = 0.05, 0.02  # how far a gain may be off: of the run, and at least
CHANGE_OF = {"balanced": "spread", "earlier": "spread", "mixed": "spread", "halved": "halved", "held": "halved"}


def cases(case):
    """The cases, made with the table's own maker."""
    def gains(ranks, name, gain, path="guilty"):
        return case("gains", ranks, name, None, path=path, gain=gain, modes="P", ms=80, rounds=10)

    return [
        gains(2, "helper_naps", "spread"),
        gains(2, "helper_nanosleep", "spread"),
        gains(2, "helper_poll", "spread"),
        gains(2, "helper_poll_slices", "spread"),
        gains(2, "helper_select", "spread"),
        gains(2, "helper_condition", "spread"),
        gains(2, "root_barrier", "spread"),
        gains(2, "root_bcast", "spread"),
        gains(2, "root_scatter", "spread"),
        gains(2, "root_reduce", "spread"),
        gains(2, "root_receive", "spread"),
        gains(2, "other_beside", "spread"),
        gains(2, "hybrid", "spread", path=""),
        gains(1, "uneven_team", "spread", path=""),
        gains(1, "small_team", "spread", path=""),
        gains(1, "serial_part", "spread"),
        gains(1, "item_last", "spread"),
        gains(1, "item_first", "halved"),
        gains(1, "large_chunks", "spread", path=""),
        gains(1, "one_single", "halved"),
        gains(1, "in_sections", "halved"),
        gains(1, "task_chain", "halved"),
        gains(1, "one_long_task", "spread"),
        gains(1, "critical_held", "halved"),
    ]


def lasted(command, change, folder, repeat=3):
    """How long the program's loop takes with a change: all of some runs without culprit."""
    seconds = []
    for _ in range(repeat):
        prefix = folder / f"{change}-account"
        environment = {**os.environ, **harness.ENVIRONMENT, "TRUTH_ACCOUNT": str(prefix), "TRUTH_CHANGE": change}
        done = subprocess.run(list(map(str, command)), env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=100)
        harness.check(done.returncode == 0, f"status {done.returncode}: {done.stdout[-500:]}")
        seconds.append(max(json.load(open(path))["lasted_s"] for path in glob.glob(f"{prefix}.*")))
    return seconds


def faults_of_gains(case, command, data, folder):
    """What is wrong with what is said of guilty(), as sentences; and the figures."""
    rows = [g for g in data["function_gains"] if "guilty" in g["callpath"].split("/")]
    if not rows:
        return ["no gain is known of guilty"], {}
    row = rows[0]
    runs = {change: lasted(command, change, folder) for change in ("none", "spread", "halved")}
    figures = {"kind": row["kind"], "gain_s": row["gain_s"], "halved_s": row["halved_s"]}
    faults = []
    if CHANGE_OF[row["kind"]] != case.gain:
        faults.append(f"{row['kind']} is said")
    for said_s, change in ((row["gain_s"], CHANGE_OF[row["kind"]]), (row["halved_s"], "halved")):
        before, after = statistics.median(runs["none"]), statistics.median(runs[change])
        noise = max(max(r) - min(r) for r in (runs["none"], runs[change]))
        figures[f"{change}_really_s"] = before - after
        if abs(said_s - (before - after)) > max(EXACT * before, LEAST_S, noise):
            faults.append(f"{change}: {said_s:.3f} s shorter is said, really {before - after:.3f} of {before:.3f}")
    return faults, figures
