#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time between events goes. The programs compute by their own CPU time and sleep by the
clock, so what is asked of samples holds on any machine: there are some, and in the right place."""

import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, check, mpirun, succeed


class Run:
    def __init__(self, place, *command, name="run"):
        self.folder = place.experiment(name)
        succeed([place.culprit, "run", "-o", self.folder, "--", *command])
        self.report = Report(place, self.folder)
        self.report.check_identities()
        self.report.check_nothing_lost()
        self.database = sqlite3.connect(f"{self.folder}/findings.db")

    def rows(self, query, *values):
        return self.database.execute(query, values).fetchall()

    def own(self, path, location="%", below=False):
        """Seconds, samples and seconds known from samples alone, of call paths that end so; with
        `below`, of those that lie below them, too."""
        more = "%" + path + "/%" if below else ""
        return self.rows(
            "SELECT TOTAL(p.time_s), CAST(TOTAL(p.samples) AS INTEGER), TOTAL(p.sampled_s) "
            "FROM profile p JOIN callpaths c ON c.id = p.callpath "
            "JOIN locations l ON l.id = p.location WHERE (c.name LIKE ? OR c.name LIKE ?) "
            "AND l.name LIKE ?", "%" + path, more, location)[0]

    def paths(self):
        return [name for name, in self.rows("SELECT name FROM callpaths")]


def phases(place, case):
    return Run(place, *mpirun(2, place.program("sampling/phases"), case), name=case)


def wrapper(place):
    """2 ms at a time: no stretch has a sample of its own that could be told from its neighbours'."""
    run = phases(place, "wrapper")
    computing, samples, _ = run.own("main/compute", "0.0", below=True)
    check(samples >= 20, f"{samples} samples in a second of CPU time")
    check(computing >= 0.9, f"{computing} s in compute, which takes a second")
    wrapping, _, _ = run.own("main/wrap_barrier", "0.0")
    check(wrapping <= 0.1 * computing, f"{wrapping} s of the wrapper's own, {computing} of compute")
    (path, _), _ = run.report.largest_delay()
    check("wrap_barrier" not in path or path.endswith("MPI_Barrier"), f"{path} is to blame")
    delays = run.report.delays("main/compute")
    check(delays and max(d["samples"] or 0 for d in delays) >= 20, f"samples behind the blame: {delays}")


def sleep(place):
    """Known to the microsecond, without a sample; no sleep is interrupted (else the program fails)."""
    run = phases(place, "sleep")
    asleep, _, sampled = run.own("main/nap", "0.0")
    check(asleep >= 1.5, f"{asleep} s in nap, which sleeps for 1.5 s")
    check(sampled <= 0.1 * asleep, f"{sampled} s of {asleep} s of sleep are from samples")
    wrapping, _, _ = run.own("main/wrap_barrier", "0.0")
    check(wrapping <= 0.1, f"{wrapping} s of the wrapper's own")


def early(place):
    run = phases(place, "early")
    reading, samples, _ = run.own("main/read_mesh", "0.0", below=True)
    check(samples >= 10, f"{samples} samples before MPI_Init in half a second of CPU time")
    check(reading >= 0.4, f"{reading} s in read_mesh, which takes half a second")


def thread(place):
    run = phases(place, "thread")
    helping, samples, _ = run.own("helper", "0.%", below=True)
    check(samples >= 10, f"{samples} samples of a thread in half a second of CPU time")
    check(helping >= 0.4, f"{helping} s in the helper, which takes half a second")
    helpers = run.rows("SELECT DISTINCT l.name FROM profile p JOIN locations l ON l.id = p.location "
                       "JOIN callpaths c ON c.id = p.callpath WHERE c.name LIKE 'helper%'")
    check(len(helpers) == 1 and helpers[0][0] != "0.0", f"the helper ran on {helpers}")
    joining, _, sampled = run.own("main/pthread_join", "0.0")
    check(joining >= 0.3 and sampled == 0, f"{joining} s in pthread_join, {sampled} s sampled")


def short_threads(place):
    """Threads that follow each other are one location; each one's records are there all the same."""
    run = Run(place, *mpirun(2, place.program("sampling/short_threads")))
    for rank in (0, 1):
        # No more than lived at the same time, and those that had not quite ended.
        count, = run.rows("SELECT COUNT(*) FROM locations WHERE rank = ?", rank)[0]
        check(4 <= count <= 1 + 4 * 3, f"rank {rank} has {count} locations, 303 threads of its own")
        for function, visits in (("even", 150), ("odd", 150), ("long_one", 3)):
            found, = run.rows("SELECT TOTAL(p.visits) FROM profile p JOIN callpaths c ON c.id = p.callpath "
                              "JOIN locations l ON l.id = p.location "
                              "WHERE c.name LIKE ? AND l.rank = ?", f"{function}/%MPI_Sendrecv", rank)[0]
            check(found == visits, f"rank {rank}: {found} messages in {function}, expected {visits}")
    working, samples, _ = run.own("long_one", below=True)
    check(samples >= 6, f"{samples} samples in 0.6 s of CPU time")
    violations = run.rows("SELECT sentence FROM violations")
    check(not violations, f"the sums do not add up: {violations}")
    absent = run.rows("SELECT TOTAL(p.time_s) FROM profile p JOIN callpaths c ON c.id = p.callpath "
                      "JOIN locations l ON l.id = p.location "
                      "WHERE l.thread > 0 AND c.name = '(not started)'")[0][0]
    check(absent == 0, f"threads that are not there hold {absent} s")
    outside, _, _ = run.own("(outside)")
    check(outside == 0, f"between two threads a location is somewhere for {outside} s")


def dynamic(place):
    """The master's path is the workers'; and what came before OpenMP began is there."""
    run = Run(place, place.program("sampling/dynamic"))
    bodies = {name for name in run.paths() if name.endswith("/body") and "!$omp for" in name}
    check(len(bodies) == 1, f"one loop has these call paths: {bodies}")
    check("@dynamic.c" in bodies.pop().split("!$omp for")[1], "the loop has no place")
    _, samples, _ = run.own("main/body", "0.0", below=True)
    check(samples >= 5, f"{samples} samples before OpenMP began")
    _, samples, _ = run.own("early_helper/body", below=True)
    check(samples >= 5, f"{samples} samples of a thread that began before OpenMP")


def throwing(place):
    """Samples in the unwinder have a stack, too: else what is done between exceptions had their time."""
    run = Run(place, place.program("sampling/throwing"))
    reading, samples, _ = run.own("run/read_numbers", below=True)
    check(samples >= 20, f"{samples} samples in 0.8 s of CPU time")
    check(reading >= 0.6, f"{reading} s in read_numbers, which takes 0.8 s")
    unwinding, samples, _ = run.own("(in __cxa_throw)")
    check(samples >= 10, f"{samples} samples, {unwinding} s of throwing")
    computing, _, _ = run.own("run/compute", below=True)
    check(computing <= reading, f"{computing} s in compute, {reading} s in read_numbers")


def registered(place):
    """Where unwind tables were registered, libgcc takes a lock: then samples must not unwind in it."""
    run = Run(place, place.program("sampling/throwing"), "registered")
    computing, samples, _ = run.own("run/compute", below=True)
    check(samples >= 5 and computing > 0.1, f"{samples} samples, {computing} s in compute")


def nothing(place):
    """Programs without MPI, OpenMP and threads leave nothing behind, whoever started them."""
    folder = pathlib.Path(place.experiment("nothing"))
    done = harness.execute([place.culprit, "run", "-o", folder, "--", "sh", "-c",
                            "(echo one; exec sh -c 'echo two') | cat; python3 -c 'print(\"three\")'"])
    check(all(word in done.stdout for word in ("one", "two", "three")), f"said {done.stdout!r}")
    left = list((folder / "raw").glob("*")) if (folder / "raw").exists() else []
    check(not [path for path in left if path.is_dir()], f"left behind: {left}")


if __name__ == "__main__":
    sys.exit(harness.main({"wrapper": wrapper, "sleep": sleep, "early": early, "thread": thread,
                  "short_threads": short_threads, "dynamic": dynamic, "throwing": throwing,
                  "registered": registered, "nothing": nothing}))
