# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What a run's profile says agrees with what its trace says: exactly where calls and constructs begin
and end, and within what samples can tell where functions do."""

import collections
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import check, execute, mpirun, succeed  # noqa: E402

# Of each other: conversions of ticks round.
ROUNDING_S = 1e-5
# Of the allocated time: how functions share what lies between two events is decided by samples, which
# a trace pools by length as well, and a thread of a second has some hundred of them.
BY_SAMPLES = 0.10
# Of the idle time: its blame by thread.
BLAME = 0.02


class Rows:
    """The profile of findings: time and visits by call path and location."""

    def __init__(self, experiment):
        with sqlite3.connect(pathlib.Path(experiment) / "findings.db") as db:
            self.rows = {
                (path, location): (time, visits, model)
                for path, location, time, visits, model in db.execute(
                    "SELECT c.name, l.name, p.time_s, p.visits, c.model FROM profile p "
                    "JOIN callpaths c ON c.id = p.callpath "
                    "JOIN locations l ON l.id = p.location")}
            self.allocation = db.execute("SELECT allocation_s FROM run").fetchone()[0]
            self.blame = list(db.execute(
                "SELECT l.name, b.time_s FROM idle_blame b JOIN locations l ON l.id = b.location"))
            self.idle, self.nobody = db.execute("SELECT idle_s, idle_nobody_s FROM identities").fetchone()
            self.violations = [text for (text,) in db.execute("SELECT sentence FROM violations")]
            self.lost = list(db.execute("SELECT name FROM losses WHERE severity = 'data loss'"))

    def of(self, *models):
        return {key: row for key, row in self.rows.items() if row[2] in models}

    def blamed(self):
        """By location."""
        sums = collections.Counter()
        for location, time in self.blame:
            sums[location] += time
        return sums

    def total(self, models, below=""):
        return sum(row[0] for key, row in self.of(*models).items() if below in key[0])


def both(place, command):
    trace, profile = place.experiment(), place.experiment("profile")
    done = execute([place.culprit, "run", "-o", trace, "--", *command])
    check(done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}")
    succeed([place.culprit, "analyze", "--profile", "-o", profile, trace])
    return Rows(trace), Rows(profile)


def agree(trace, profile):
    check(not profile.violations, f"sums do not add up: {profile.violations}")
    check(not profile.lost, f"losses: {profile.lost}")
    off = abs(trace.allocation - profile.allocation)
    check(off <= 0.001 * trace.allocation, f"allocated: {trace.allocation} and {profile.allocation} s")
    wrong = []
    for key, (time, visits, _) in trace.of("mpi").items():
        found, count, _ = profile.rows.get(key, (0, 0, ""))
        if abs(time - found) > ROUNDING_S or visits != count:
            wrong.append(f"{key}: {time} s, {visits} visits; in the profile {found} s, {count}")
    check(not wrong, "calls of MPI differ:\n" + "\n".join(wrong))
    names = {key for key in set(trace.rows) | set(profile.rows)}
    differ = sum(abs(trace.rows.get(key, (0,))[0] - profile.rows.get(key, (0,))[0]) for key in names) / 2
    most = sorted(names, key=lambda key: -abs(trace.rows.get(key, (0,))[0] - profile.rows.get(key, (0,))[0]))
    told = "\n".join(f"{key}: {trace.rows.get(key)} {profile.rows.get(key)}" for key in most[:8])
    check(differ <= BY_SAMPLES * trace.allocation,
          f"{differ} of {trace.allocation} s are at other call paths:\n{told}")


def late_sender(place):
    agree(*both(place, mpirun(2, place.program("late_sender.clang"))))


def hybrid(place):
    agree(*both(place, mpirun(2, place.program("hybrid_chain.clang"))))


def blame(place):
    """Idle time, and who is to blame for it, as the replay of the same run has it."""
    trace, profile = both(place, [place.program("omp_imbalance.clang")])
    check(trace.idle > 0.1, f"next to no thread was idle: {trace.idle} s")
    check(not profile.violations, f"sums do not add up: {profile.violations}")
    near = BLAME * trace.idle
    check(abs(profile.idle - trace.idle) <= near, f"idle: {profile.idle} s, replayed {trace.idle} s")
    check(abs(profile.nobody - trace.nobody) <= near, f"nobody: {profile.nobody} s, replayed {trace.nobody} s")
    own, replayed = profile.blamed(), trace.blamed()
    for name in set(own) | set(replayed):
        check(abs(own[name] - replayed[name]) <= near,
              f"{name}: blamed for {own[name]} s, replayed {replayed[name]} s")


def report(place):
    """The page says what it is, and that it does not know who made whom wait."""
    both(place, mpirun(2, place.program("hybrid_chain.clang")))
    page = succeed([place.culprit, "report", "--full", place.experiment("profile")]).stdout
    check("profile" in page, f"the page does not say what it is:\n{page}")
    check("ROOT CAUSES" not in page, f"the page names causes:\n{page}")


if __name__ == "__main__":
    sys.exit(harness.main({test.__name__: test for test in (late_sender, hybrid, blame, report)}))
