# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A run's records give its profile again: the states of its threads, and nothing else than what the
run kept itself."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import check, mpirun, succeed  # noqa: E402


def logs(page):
    """The lines of the tables, each by its columns' names."""
    found, names = [], []
    for line in page.splitlines():
        words = line.split()
        if words[:1] == ["log"]:
            names = words
        elif names and words and words[0].isdigit():
            found.append(dict(zip(names, words)))
    return found


def folded(place, command):
    experiment = place.experiment()
    succeed([place.culprit, "record", "-o", experiment, "--", *command])
    done = succeed([place.culprit, "fold", experiment])
    found = logs(done.stdout)
    for log in found:
        check(log["kept"] in ("none", "the"), f"the run kept another profile:\n{done.stdout}")
        check(float(log["absent"]) == 0, f"recording was on all the time:\n{done.stdout}")
    return found, done.stdout


def threads(place):
    """The threads of a team that have less to do are idle, and its master is not."""
    found, page = folded(place, [place.program("omp_imbalance.clang")])
    check(len(found) > 1, f"one thread only:\n{page}")
    seconds = {state: [float(log[state]) for log in found] for state in ("work", "idle", "mpi")}
    check(all(work > 0 for work in seconds["work"]), f"a thread without work:\n{page}")
    check(sum(seconds["idle"]) > 0.05 * sum(seconds["work"]), f"no thread is idle:\n{page}")
    check(sum(seconds["mpi"]) == 0, f"there is no MPI:\n{page}")


def ranks(place):
    """One of two ranks waits for the other inside of MPI."""
    found, page = folded(place, mpirun(2, place.program("late_sender.gcc")))
    check(len(found) == 2, f"not two threads:\n{page}")
    mpi = sorted(float(log["mpi"]) for log in found)
    work = sorted(float(log["work"]) for log in found)
    check(mpi[1] > mpi[0], f"no rank waits:\n{page}")
    check(work[1] > work[0], f"no rank works longer:\n{page}")


if __name__ == "__main__":
    sys.exit(harness.main({test.__name__: test for test in (threads, ranks)}))
