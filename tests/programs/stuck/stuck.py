#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed because they do not go on: who waits for whom is exactly what hang.c's cases say,
and nobody is called stuck where a rank was merely slow."""

import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Report, Skip, check, execute


@dataclasses.dataclass
class Case:
    """Of a deadlock: `circles` (who waits, for whom) and those behind them; where nobody answers, those
    that wait stand behind an empty one. `words` stand in its sentence."""
    ranks: int = 2
    kind: str = "deadlock"
    circles: tuple = ()  # one for each group: {location: set of locations that it waits for}
    behind: dict = dataclasses.field(default_factory=dict)
    words: tuple = ()


def pair(**more):
    return Case(circles=({"0.0": {"1.0"}, "1.0": {"0.0"}},), **more)


NOBODY = Case(kind="")
CASES = {
    "recv_recv": pair(words=("rank 0 waits in MPI_Recv (hang.c:", "for a message from rank 1 with tag 7")),
    "ring": Case(ranks=4, circles=({f"{r}.0": {f"{(r + 3) % 4}.0"} for r in range(4)},)),
    "ssend_ssend": pair(words=("for rank 1 to receive its message with tag 7",)),
    "large_sends": pair(words=("MPI_Send",)),
    "after_much": pair(words=("with tag 2",)),
    "wrong_tag": pair(words=("rank 1 has sent a message with tag 8", "for rank 0 to enter MPI_Barrier")),
    "wrong_comm": pair(),
    "any_source": Case(ranks=3, circles=({f"{r}.0": {f"{o}.0" for o in range(3) if o != r}
                                          for r in range(3)},),
                       words=("for a message from any rank with any tag",)),
    "any_source_slow": dataclasses.replace(NOBODY, ranks=3),
    "probes": pair(words=("MPI_Probe",)),
    "probed_twice": NOBODY,
    "sendrecvs": Case(ranks=3, circles=({f"{r}.0": {f"{(r + 1) % 3}.0"} for r in range(3)},)),
    "to_itself": Case(circles=({"0.0": {"0.0"}},), behind={"1.0": {"0.0"}}),
    "gone": pair(words=("MPI_Finalize",)),
    "leaves": Case(kind="unanswered", circles=({},), behind={"0.0": set()},
                   words=("rank 0 waits in MPI_Recv", "but rank 1 exited")),
    "behind": Case(ranks=3, circles=({"0.0": {"1.0"}, "1.0": {"0.0"}},), behind={"2.0": {"0.0"}}),
    "two_pairs": Case(ranks=4, circles=({"0.0": {"1.0"}, "1.0": {"0.0"}},
                                        {"2.0": {"3.0"}, "3.0": {"2.0"}})),
    "irecv_wait": pair(words=("MPI_Wait", "with tag 4")),
    "issend_waitall": pair(words=("MPI_Waitall",)),
    "waitany": pair(words=("MPI_Waitany",)),
    "persistent": pair(words=("MPI_Wait", "with tag 4")),
    "posted": NOBODY,
    "barrier_recv": pair(words=("for rank 1 to enter MPI_Barrier",)),
    "order_of_comms": pair(words=("MPI_Barrier",)),
    "roots": pair(words=("names another root",)),
    "ibarrier": pair(words=("MPI_Wait",)),
    "comm_dup": pair(words=("for rank 1 to enter MPI_Comm_dup",)),
    "subset": Case(ranks=4, circles=({"0.0": {"1.0"}, "1.0": {"0.0"}},)),
    "slow_barrier": NOBODY,
    "fence": pair(words=("for rank 1 to enter MPI_Win_fence",)),
    "start_without_post": pair(words=("for rank 1 to post its window",)),
    "wait_without_complete": pair(words=("for rank 0 to complete its access",)),
    "win_create": pair(words=("for rank 1 to enter MPI_Win_create",)),
    "file_open": pair(words=("for rank 1 to enter MPI_File_open",)),
    "slow": NOBODY,
    "chain": dataclasses.replace(NOBODY, ranks=3),
    "two_locks": Case(ranks=1, circles=({"0.0": {"0.1"}, "0.1": {"0.0"}},),
                      words=("for a lock that thread 1 holds",)),
    "lock_twice": Case(ranks=1, circles=({"0.0": {"0.0"}},), words=("for a lock that it holds itself",)),
    "lock_and_barrier": Case(ranks=1, circles=({"0.0": {"0.1"}, "0.1": {"0.0"}},),
                             words=("for thread 1 to reach the barrier", "for a lock that thread 0 holds")),
    "across": Case(circles=({"0.0": {"1.0"}, "1.0": {"0.0", "0.1"}, "0.1": {"0.0"}},),
                   words=("rank 0 thread 1 waits in an OpenMP lock or critical section",)),
    "task_and_lock": Case(ranks=1, circles=({"0.0": {"0.1"}, "0.1": {"0.0"}},),
                          words=("for thread 1 to complete a task", "for a lock that thread 0 holds")),
    "task_across": Case(circles=({"0.0": {"0.1"}, "1.0": {"0.0", "0.1"}, "0.1": {"1.0"}},),
                        words=("rank 0 thread 1 waits in MPI_Recv",)),
    "slow_task": dataclasses.replace(NOBODY, ranks=1),
    "mismatch": pair(words=("which is in MPI_Alltoall on the same communicator",)),
    "imismatch": pair(words=("rank 0 waits in MPI_Wait", "which is in MPI_Allreduce on the same communicator",
                             "which has begun a nonblocking collective on the same communicator instead")),
    "slow_thread": dataclasses.replace(NOBODY, ranks=1),
}


def launch(mpi, ranks, *command):
    # A launcher whose ranks die may hang itself, as Open MPI's does once in a while.
    patience = ["timeout", "-s", "KILL", "40"]
    if mpi == "openmpi":
        return patience + harness.mpirun(ranks, *command)
    launcher = shutil.which("mpirun.mpich")
    if not launcher:
        raise Skip("MPICH's launcher is not there")
    return [*patience, launcher, "-n", str(ranks), *map(str, command)]


def edges(members):
    return {member["location"]: set(member["waits_for"]) for member in members}


def judge(case, groups, page):
    circles = [edges([m for m in group["members"] if m["in_circle"]]) for group in groups]
    check(circles == list(case.circles), f"{circles}, expected {case.circles}")
    behind = edges([m for group in groups for m in group["members"] if not m["in_circle"]])
    check(behind == case.behind, f"{behind}, expected {case.behind}")
    check(all(group["kind"] == case.kind for group in groups), f"{groups}")
    first = " ".join(page.split("\n\n")[0].split())
    named = re.match("(Deadlock|Hung): ", first)
    check((named[1] if named else None) == {"deadlock": "Deadlock", "unanswered": "Hung", "": None}[case.kind],
          first)
    for words in case.words:
        check(words in first, f"'{words}' is not in: {first}")


def hang(place, name, mpi):
    case = CASES[name]
    folder = place.experiment()
    done = execute([place.culprit, "run", "-o", folder, "--",
                    *launch(mpi, case.ranks, place.program(f"stuck/hang.{mpi}"), name)],
                   environment={"OMP_NUM_THREADS": "2"})
    check(done.returncode != 0, "it was not killed")
    report = Report(place, folder)
    report.check_identities()
    told = json.loads(execute([place.culprit, "report", folder, "--format", "json"]).stdout)
    judge(case, told["stuck"], execute([place.culprit, "report", "--full", folder]).stdout)
    check(case.kind == "unanswered" or told["run"]["wall_s"] > 0.8, f"the run lasted {told['run']['wall_s']} s")
    unknown = [loss["name"] for loss in told["losses"] if loss["name"].endswith("_without_records")]
    check(not unknown, f"{unknown} of calls that are known not to have returned")
    again = execute([place.culprit, "analyze", folder])
    check(again.returncode == (5 if case.circles else 0), f"analyze: {again.returncode} {again.stderr}")


def waiting(place):
    """Calls that never returned wait until the end, and who goes on is to blame for it."""
    folder = place.experiment()
    execute([place.culprit, "run", "-o", folder, "--",
             *launch("openmpi", 2, place.program("stuck/hang.openmpi"), "slow", "2")])
    told = json.loads(execute([place.culprit, "report", folder, "--format", "json"]).stdout)
    waits = sum(w["time_s"] for w in told["waits"] if w["pattern"] == "run.unanswered")
    check(1.5 < waits < 4, f"{waits} s of waiting for an answer")
    blamed = sum(d["short_s"] + d["long_s"] for d in told["delays"]
                 if d["location"] == "1.0" and d["pattern"] == "run.unanswered")
    check(blamed > 0.9 * waits, f"{blamed} of {waits} s are rank 1's")


def live(place):
    """A run that goes on is asked, and not disturbed."""
    folder = place.experiment()
    with subprocess.Popen([place.culprit, "run", "-o", folder, "--",
                           *launch("openmpi", 2, place.program("stuck/hang.openmpi"), "recv_recv", "8")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **harness.ENVIRONMENT}) as run:
        answers = []
        while run.poll() is None and len(answers) < 60:
            asked = execute([place.culprit, "stuck", folder])
            answers.append(asked)
            if asked.returncode == 5:
                break
            time.sleep(0.3)
        check(answers[-1].returncode == 5, f"{answers[-1].stdout}{answers[-1].stderr}")
        check("Deadlock: rank 0 waits in MPI_Recv" in answers[-1].stdout, answers[-1].stdout)
        check(run.poll() is None, "the run had ended before it was asked")
        run.communicate()
    report = Report(place, folder)
    report.check_identities()
    report.check_nothing_lost()


TESTS = {f"{name}.{mpi}": functools.partial(hang, name=name, mpi=mpi)
         for name in CASES for mpi in ("openmpi", "mpich")}
TESTS["waiting"] = waiting
TESTS["live"] = live

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
