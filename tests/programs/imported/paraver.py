# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Extrae's traces, given to `culprit analyze` as users give them: the verdict is that of the job."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
import paraver_job  # noqa: E402
from harness import check, execute, succeed  # noqa: E402

STEPS = 10
WITHIN = 0.02


def analyzed(place, job, name="run.prv", **options):
    folder = job.write(place.scratch / "trace", **options)
    experiment = place.experiment()
    succeed([place.culprit, "analyze", "-o", experiment, folder / name if name else folder])
    report = harness.Report(place, experiment)
    report.check_identities()
    report.check_nothing_lost()
    return report


def check_cause(report, pattern, waited_s, code, location):
    waited = sum(wait["time_s"] for wait in report.waits(pattern))
    check(abs(waited / waited_s - 1) <= WITHIN, f"{waited} s of {pattern}, not {waited_s}")
    (callpath, late), _ = report.largest_delay(pattern)
    check(code in callpath and late == location, f"{callpath} of {late} is blamed for {pattern}, not {code} of {location}")


def late_sender(place):
    check_cause(analyzed(place, paraver_job.late_sender()), "mpi.late_sender", STEPS * 0.030, "prepare", "0.0")


def barrier(place):
    report = analyzed(place, paraver_job.slow_rank(), name=None)
    check_cause(report, "mpi.wait_at_barrier", STEPS * 3 * 0.020, "relax", "2.0")
    last = {row["location"]: row["last"] for row in report.data["arrivals"] if row["operation"] == "MPI_Barrier"}
    check(last == {"0.0": 0, "1.0": 0, "2.0": STEPS, "3.0": 0}, f"came last: {last}")
    page = succeed([place.culprit, "report", place.experiment(), "--full"]).stdout
    check("WHO COMES LAST" in page, "the page does not say who comes last")


def packed(place):
    report = analyzed(place, paraver_job.slow_rank(), name="run.prv.gz", packed=True)
    check_cause(report, "mpi.wait_at_barrier", STEPS * 3 * 0.020, "relax", "2.0")


def threads(place):
    report = analyzed(place, paraver_job.uneven_threads())
    check_cause(report, "omp.barrier", STEPS * 3 * 0.020, "smooth", "0.3")


def unnamed(place):
    report = analyzed(place, paraver_job.unnamed_code())
    check_cause(report, "mpi.wait_at_nxn", STEPS * 0.030, "(between MPI_Allreduce and MPI_Allreduce)", "1.0")
    verdict = succeed([place.culprit, "report", place.experiment()]).stdout
    check("code between MPI_" in verdict, f"the verdict does not say what is known of the code:\n{verdict}")


def refused(place):
    def sentence(path):
        done = execute([place.culprit, "analyze", "-o", place.experiment("refused"), path])
        check(done.returncode == 1, f"status {done.returncode}: {done.stderr}")
        lines = done.stderr.strip().splitlines()
        check(len(lines) == 1, f"not one sentence: {done.stderr}")
        return lines[0]

    folder = paraver_job.slow_rank().write(place.scratch / "trace")
    (folder / "run.pcf").unlink()
    check(".pcf" in sentence(folder / "run.prv"), "a trace without names")
    empty = paraver_job.Job(2)
    empty.rank(0).computes(1000)
    check("nobody is seen to wait" in sentence(empty.write(place.scratch / "empty") / "run.prv"), "a trace without waits")


sys.exit(harness.main({
    "late_sender": late_sender,
    "barrier": barrier,
    "packed": packed,
    "threads": threads,
    "unnamed": unnamed,
    "refused": refused,
}))
