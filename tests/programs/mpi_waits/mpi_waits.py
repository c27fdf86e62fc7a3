# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Each case of waits.c must show the waits that it makes: who waits, by which pattern, in which call
(where the MPI library leaves that open, in any), how long, and because of whom."""

import dataclasses
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import Off, Report, Skip, check, check_time, succeed  # noqa: E402


@dataclasses.dataclass
class Case:
    pattern: str
    waits: dict  # seconds by location; no other location may wait by this pattern
    guilty: str
    call: str = ""
    ranks: int = 2
    also: str = ""  # another pattern, at the same place ...
    also_s: float = 0.0


ALL = dict.fromkeys
CASES = {
    "late_sender": Case("mpi.late_sender", {"1.0": 0.3}, "0.0", "MPI_Recv"),
    "fifo": Case("thread.pipe", {"1.0": 0.3}, "0.0", "read"),
    "fifo_chain": Case("thread.pipe", {"1.0": 0.3}, "0.0", "read", 3),
    "wrong_order": Case("mpi.wrong_order", {"1.0": 0.25}, "0.0", "MPI_Recv"),
    "probe": Case("mpi.probe", {"1.0": 0.3}, "0.0", "MPI_Probe"),
    "matched_probe": Case("mpi.probe", {"1.0": 0.3}, "0.0", "MPI_Mprobe"),
    "late_receiver": Case("mpi.late_receiver", {"0.0": 0.3}, "1.0", "MPI_Ssend"),
    "persistent": Case("mpi.late_sender", {"1.0": 0.3}, "0.0", "MPI_Wait"),
    "nonblocking": Case("mpi.wait_at_barrier", ALL(["0.0", "2.0", "3.0"], 0.3), "1.0", "MPI_Wait", 4),
    "intercommunicator": Case("mpi.wait_at_nxn", ALL(["0.0", "1.0", "2.0"], 0.3), "3.0", "MPI_Allgather", 4),
    "neighbours": Case("mpi.wait_at_neighbors", ALL(["1.0", "3.0"], 0.3), "2.0",
                       "MPI_Neighbor_alltoall", 4),
    "split": Case("mpi.wait_at_nxn", ALL(["0.0", "2.0", "3.0"], 0.3), "1.0", "MPI_Comm_split", 4),
    "file": Case("mpi.wait_at_nxn", ALL(["0.0", "2.0", "3.0"], 0.3), "1.0", "MPI_File_write_all", 4),
    "fence": Case("mpi.rma.fence", ALL(["0.0", "2.0", "3.0"], 0.3), "1.0", "MPI_Win_fence", 4),
    "late_post": Case("mpi.rma.late_post", {"0.0": 0.3}, "1.0"),
    "early_wait": Case("mpi.rma.early_wait", {"1.0": 0.2}, "0.0", "MPI_Win_wait", 2,
                       "mpi.rma.late_complete", 0.3),
    "lock": Case("mpi.rma.lock", {"1.0": 0.3}, "0.0", "", 3),
    "progress": Case("mpi.progress", {"0.0": 0.3}, "1.0", "MPI_Send"),
    "start_skew": Case("run.start_skew", ALL(["0.0", "2.0"], 0.3), "1.0", "MPI_Init", 3),
}
# No wait, but a table of its own.
POLLING_S = 0.3
# A wait that is shorter is chance: nobody enters a call at the very same time as another.
CHANCE_S = 0.02


def judge(case, report):
    report.check_identities()
    report.check_nothing_lost()
    found = {}
    for wait in report.waits(case.pattern, callpath=case.call):
        found[wait["location"]] = found.get(wait["location"], 0.0) + wait["time_s"]
    for location, seconds in case.waits.items():
        check(location in found, f"{location} has no {case.pattern}; the report has\n{report.summary()}")
        check_time(f"{case.pattern} on {location}", found.pop(location), seconds)
    if any(seconds > CHANCE_S for seconds in found.values()):
        raise Off(f"others wait, too: {found}")
    if case.also:
        also = sum(w["time_s"] for w in report.waits(case.also, *case.waits))
        check_time(case.also, also, case.also_s)
    (callpath, location), _ = report.largest_delay(case.pattern)
    check(location == case.guilty, f"blamed is {location} at {callpath}, expected {case.guilty}")


def measure(place, name, mpi, ranks, program="waits"):
    launcher = shutil.which(f"mpirun.{mpi}")
    if not launcher:
        raise Skip(f"there is no mpirun of {mpi}")
    binding = ["--bind-to", "none"] if mpi == "openmpi" else []
    experiment = place.experiment()
    done = succeed([place.culprit, "run", "-o", experiment, "--", launcher, "-n", ranks, *binding,
                    place.program(f"{program}.{mpi}"), name], cwd=place.scratch)
    check(f"{name} is over" in done.stdout, f"the program's own output is missing: {done.stdout}")
    return Report(place, experiment)


def make_test(name, mpi):
    def test(place):
        judge(CASES[name], measure(place, name, mpi, CASES[name].ranks))
    return test


def polling(mpi):
    def test(place):
        report = measure(place, "polling", mpi, 2)
        report.check_identities()
        found = [p for p in report.data["polling"] if "MPI_Test" in p["callpath"]]
        check([p["location"] for p in found] == ["1.0"], f"who polls: {found}")
        check_time("polling", found[0]["time_s"], POLLING_S)
        check(not report.waits("mpi.late_sender", "1.0"), "a test has waited")
    return test


# The front comes back from rank 3, which starts when it has received and done all of the first sweep,
# at 0.4 s: ranks 1 and 2, idle since 0.3 s, get it at 0.5 s, rank 0, idle since 0.2 s, at 0.6 s.
REFILLS = {"0.0": 0.4, "1.0": 0.2, "2.0": 0.2}


def sweeps(mpi):
    def test(place):
        report = measure(place, "sweeps", mpi, 4)
        report.check_identities()
        report.check_nothing_lost()
        for location, seconds in REFILLS.items():
            found = sum(w["time_s"] for w in report.waits("mpi.pipeline_refill", location, "MPI_Recv"))
            check_time(f"refill on {location}", found, seconds, 2)
        check(not report.waits("mpi.pipeline_refill", "3.0"), "the corner itself waits for its front")
        refills = report.data["refills"]
        check([(r["rank"], r["coordinates"], r["locations"]) for r in refills] == [(3, "1,1", 3)],
              f"corners: {refills}")
        check_time("refills from the corner", refills[0]["time_s"], sum(REFILLS.values()), 4)
    return test


def empty_message(mpi):
    def test(place):
        report = measure(place, "empty_message", mpi, 2)
        report.check_identities()
        rows = report.data["message_use"]
        check([(r["location"], r["messages"], r["empty"], r["repeated"], r["silent_receivers"])
               for r in rows] == [("0.0", 1, 1, 0, 1)], f"messages: {rows}")
        check_time("waiting for it", rows[0]["waiting_empty_s"], 0.3)
        text = succeed([place.culprit, "report", "--full", place.experiment()]).stdout
        check("MESSAGES THAT SAY LITTLE" in text and "1 of 1 message had no data" in text, text)
    return test


# Which function the program was called back in, and by which rank's call.
CALLED_BACK = {"operation": ("MPI_Reduce/add_up/late_work", "0.0"),
               "operation_asleep": ("MPI_Reduce/add_asleep/late_nap", "0.0"),
               "library": ("MPI_Reduce/add_in_library/late_work", "0.0"),
               "attribute": ("MPI_Comm_free/delete/late_work", "1.0"),
               "attribute_asleep": ("MPI_Comm_free/delete_asleep", "1.0"),
               "request": ("MPI_Wait/query/late_work", "1.0"), "handler": ("MPI_Send/on_error/late_work", "1.0")}


def called_back(case, mpi):
    """What MPI calls back is the program's own doing, and no other code of it is."""
    def test(place):
        report = measure(place, case, mpi, 2, "called_back")
        report.check_identities()
        path, location = CALLED_BACK[case]
        (callpath, guilty), cost_s = report.largest_delay()
        check(f"/{path}/" in f"{callpath}/" and guilty == location,
              f"blamed is {guilty} at {callpath}, expected {location}\n{report.summary()}")
        all_s = sum(w["time_s"] for w in report.data["waits"] if w["location"] != location)
        if cost_s < 0.5 * all_s:
            raise Off(f"it causes only {cost_s} of {all_s} s\n{report.summary()}")
    return test


TESTS = {f"{name}.{mpi}": make_test(name, mpi) for name in CASES for mpi in ("openmpi", "mpich")}
for special in (polling, sweeps, empty_message):
    TESTS |= {f"{special.__name__}.{mpi}": special(mpi) for mpi in ("openmpi", "mpich")}
TESTS |= {f"called_back_{case}.{mpi}": called_back(case, mpi) for case in CALLED_BACK for mpi in ("openmpi", "mpich")}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
