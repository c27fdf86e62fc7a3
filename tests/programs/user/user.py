#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What programs tell of themselves, and what is left when only a part is recorded: exact counts of
visits, messages that match across pauses, and no blame on what was not seen."""

import functools
import json
import pathlib
import re
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, check, mpirun, succeed

OFF = "(not recorded)"


def program(place, name):
    return place.program(f"user/{name}")


class Run:
    """One measured run of a program of this folder, with its findings."""

    def __init__(self, place, name, *arguments, options=()):
        self.folder = place.experiment(f"{name}.{len(arguments)}")
        succeed([place.culprit, "run", "-o", self.folder, *options, "--",
                 *mpirun(2, program(place, name), *arguments)])
        self.report = Report(place, self.folder)
        self.report.check_identities()
        self.report.check_nothing_lost()
        unwanted = [l for l in self.report.data["losses"] if l["severity"] != "info"]
        check(not unwanted, f"losses: {unwanted}")
        self.database = sqlite3.connect(f"{self.folder}/findings.db")

    def rows(self, query, *values):
        return self.database.execute(query, values).fetchall()

    def visits(self, path):
        """By location, of call paths that end so."""
        return dict(self.rows(
            "SELECT l.name, SUM(p.visits) FROM profile p JOIN callpaths c ON c.id = p.callpath "
            "JOIN locations l ON l.id = p.location WHERE c.name LIKE ? GROUP BY l.name", "%" + path))

    def entered(self, path):
        """Of a region, or of the one function in which samples found all of its time."""
        return self.visits(path) or self.visits(path + "/%")

    def stages(self, kind):
        return {(s["name"], s["number"]): s["visits"] for s in self.report.data["stages"]
                if s["kind"] == kind}

    def has_path(self, part):
        return any(part in name for name, in self.rows("SELECT name FROM callpaths"))


def expect(what, found, expected):
    check(found == expected, f"{what}: {found}, expected {expected}")


def often(what, waits, expected):
    """On a busy machine others may be late."""
    if sum(w["count"] for w in waits) != expected:
        raise harness.Off(f"{what}: {waits}, expected {expected}")


def absent(place):
    """Without culprit the calls are nothing."""
    for name, words in (("told.gcc", "told: result"), ("told.clang", "told: result"),
                        ("functions.gcc", "told: result"), ("scopes", "scopes: result 202"),
                        ("told_f", "told: result")):
        done = succeed(mpirun(2, program(place, name)))
        check(words in done.stdout, f"{name} says {done.stdout!r}")


def regions(place, compiler):
    run = Run(place, f"told.{compiler}")
    expect("phases", run.stages("phase"), {("solve", 0): 2})
    expect("iterations", run.stages("iteration"), {("step", n): 2 for n in range(4)})
    expect("visits of the region", run.entered("main/solve/step/work"), {"0.0": 4, "1.0": 4})
    check(not run.has_path("before MPI"), "a region before the recording is there")
    slowest = max((s for s in run.report.data["stages"] if s["kind"] == "phase"),
                  key=lambda s: s["longest_s"])
    check(slowest["waiting_s"] > 0.03, f"rank 1 waited in the phase: {slowest}")
    check(0 < slowest["useful_s"] <= slowest["time_s"] - slowest["waiting_s"] + 1e-9,
          f"useful is neither waiting nor more than all: {slowest}")
    # One thread a rank: mean useful time / longest time in the phase.
    used = slowest["load_balance"] * slowest["communication"]
    check(abs(used - slowest["useful_s"] / 2 / slowest["longest_s"]) < 1e-6 * used,
          f"efficiencies do not multiply: {slowest}")
    page = succeed([place.culprit, "report", "--full", run.folder]).stdout
    check("PHASES AND ITERATIONS" in page and "step: 4 iterations" in page, page)


def functions(place, compiler):
    run = Run(place, f"functions.{compiler}")
    deeper = "main/solve/step/work/deeper"
    for depth in range(4):
        expect(f"visits at depth {depth}", run.visits(deeper), {"0.0": 4, "1.0": 4})
        deeper += "/deeper"
    expect("visits of inner", sum(run.visits("/inner").values()), 2 * 4 * 3)
    expect("visits of prepare", run.visits("main/solve/step/work/prepare"), {"0.0": 4})
    check(not run.has_path("prepare/prepare") and not run.has_path("main/main"),
          "a function stands twice on a path")


def partly(place, compiler):
    """Functions between an instrumented one and main need not be instrumented."""
    run = Run(place, f"partly.{compiler}")
    whole = "main/mid/inner/solve"
    expect("visits of solve", run.visits(whole), {"0.0": 6, "1.0": 6})
    check(run.has_path(whole + "/leaf"), "what solve() calls is not below it")
    check(not run.has_path("main/inner") and not run.has_path("main/solve"),
          "a function is missing on a path")


def scopes(place):
    run = Run(place, "scopes")
    expect("phases", run.stages("phase"), {("solve", 0): 2})
    expect("iterations", run.stages("iteration"), {("step", n): 2 for n in range(4)})
    expect("visits of the region", run.visits("step/risky/risky"), {"0.0": 4, "1.0": 4})


def fortran(place):
    run = Run(place, "told_f")
    expect("phases", run.stages("phase"), {("setup", 0): 2})
    expect("iterations", run.stages("iteration"), {("step", n): 2 for n in (0, 1, 3)})
    expect("visits of the region", sum(run.visits("step/work").values()), 2 * 3)
    check(run.has_path(OFF), "the pause does not show")


def pause(place, how):
    run = Run(place, "told.gcc", how)
    expect("iterations", run.stages("iteration"), {("step", n): 2 for n in (0, 3)})
    check(run.has_path(OFF), "the pause does not show")
    waits = [w for w in run.report.data["waits"] if OFF in w["callpath"]]
    check(not waits, f"a wait in what was not seen: {waits}")


def ranks(place):
    """Rank 1 waits for rank 0, of which nothing is recorded but its messages."""
    run = Run(place, "told.gcc", options=("--ranks", "1"))
    expect("iterations", run.stages("iteration"), {("step", n): 1 for n in range(4)})
    paths = {name for name, in run.rows(
        "SELECT DISTINCT c.name FROM profile p JOIN callpaths c ON c.id = p.callpath JOIN locations l "
        "ON l.id = p.location WHERE l.name = '0.0' AND p.time_s > 0.001")}
    check(all(OFF in path or path.startswith("(") for path in paths), f"of rank 0: {paths}")
    late = run.report.waits("mpi.late_sender", "1.0")
    often("late senders", late, 4)
    (path, location), _ = run.report.largest_delay("mpi.late_sender")
    check(OFF in path and location == "0.0", f"to blame: {path} on {location}")
    info = json.loads(pathlib.Path(run.folder, "experiment.json").read_text(encoding="utf-8"))
    check(any("ranks 1" in s for s in info["selected"]), f"experiment.json: {info}")
    check(any("ranks 1" in s for s in run.report.data["run"]["notes"]), "the report does not say so")


def phase(place):
    run = Run(place, "told.gcc", options=("--phase", "step:1-2"))
    expect("iterations", run.stages("iteration"), {("step", n): 2 for n in (1, 2)})
    expect("phases", run.stages("phase"), {})
    late = run.report.waits("mpi.late_sender", "1.0")
    check(all("main/step/" in w["callpath"] for w in late), f"late senders: {late}")
    often("late senders", late, 2)


def window(place):
    run = Run(place, "told.gcc", options=("--window", "..1ms"))
    expect("iterations", run.stages("iteration"), {})
    check(run.has_path(OFF), "the window does not show")
    run = Run(place, "told.gcc", "", options=("--window", "1ms..1h"))
    expect("iterations", run.stages("iteration"), {("step", n): 2 for n in range(4)})


def estimate(place):
    """Of a small run all is known, of a larger one the same, from its beginning."""
    kept = "were kept; they are assumed"
    def page(*arguments):
        folder = place.experiment("estimate")
        done = succeed([place.culprit, "run", "--estimate", "-o", folder, "--",
                        *mpirun(2, program(place, "functions.gcc"), *arguments)])
        check("told: result" in done.stdout, done.stdout)
        check(not pathlib.Path(folder).exists(), "an estimate left a folder")
        return done.stdout
    small = page()
    check("instrumented functions" in small and "MPI_Barrier" in small, small)
    check(kept not in small, small)
    large = page("many")
    check(kept in large, large)
    check("With --without functions, the trace takes" in large, large)
    line = next(l for l in large.splitlines() if "instrumented functions" in l)
    records = int(re.search(r"functions +(\d{1,3}(?: \d{3})*) ", line).group(1).replace(" ", ""))
    exact = 2 * 2 * 40000 * 7
    check(0.95 * exact < records < 1.05 * exact, f"{records} records, {exact} in truth:\n{large}")


def exclude(place):
    run = Run(place, "functions.gcc", options=("--exclude", "inn*,wor?"))
    check(not run.has_path("inner") and not run.has_path("/work"), "what was excluded is there")
    expect("visits of deeper", run.visits("main/solve/step/deeper"), {"0.0": 4, "1.0": 4})
    expect("iterations", run.stages("iteration"), {("step", n): 2 for n in range(4)})
    check(any("inn*,wor?" in s for s in run.report.data["run"]["notes"]), "the report does not say so")


def names(place):
    """Regions are recorded however many names they have."""
    run = Run(place, "told.gcc", "names")
    named = run.rows("SELECT COUNT(*) FROM callpaths WHERE region LIKE 'pass %'")[0][0]
    check(1000 <= named < 3000, f"{named} regions have a name of their own")
    expect("visits of what is within", run.visits("/within"), {"0.0": 3000, "1.0": 3000})
    others = run.visits("main/(other regions, whose names are too many)")
    expect("visits of those with a common name", others, {"0.0": 3000 - named, "1.0": 3000 - named})


def without(place):
    run = Run(place, "told.gcc", options=("--without", "regions,samples"))
    expect("iterations", run.stages("iteration"), {("step", n): 2 for n in range(4)})
    check(not run.has_path("step/work"), "regions were recorded")
    wrong = harness.execute([place.culprit, "run", "--without", "nonsense", "--", "true"])
    check(wrong.returncode == 2 and "nonsense" in wrong.stderr, wrong.stderr)


if __name__ == "__main__":
    sys.exit(harness.main({
        "absent": absent, "scopes": scopes, "fortran": fortran, "ranks": ranks, "phase": phase,
        "window": window, "without": without, "estimate": estimate, "exclude": exclude, "names": names,
        **{f"regions.{c}": functools.partial(regions, compiler=c) for c in ("gcc", "clang")},
        **{f"functions.{c}": functools.partial(functions, compiler=c) for c in ("gcc", "clang")},
        **{f"partly.{c}": functools.partial(partly, compiler=c) for c in ("gcc", "clang")},
        **{f"pause.{h}": functools.partial(pause, how=h) for h in ("pcontrol", "api")},
    }))
