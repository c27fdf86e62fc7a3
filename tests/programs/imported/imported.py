# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of other tools, given to `culprit analyze` as users give them: the verdict is that of the job."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
import job  # noqa: E402
from harness import check, execute, succeed  # noqa: E402

WORLD = [(0, 1, 2, 3)]
PAIRS = [(0, 1), (2, 3)]
SLOW = 3
LATE_S = 0.030
STEPS = 10
WITHIN = 0.02
COMMUNICATION = "dev.communication"


def analyzed(place, *inputs, name="experiment"):
    experiment = place.experiment(name)
    done = succeed([place.culprit, "analyze", "-o", experiment, *inputs])
    check("Traceback" not in done.stderr, done.stderr)
    report = harness.Report(place, experiment)
    report.check_identities()
    report.check_nothing_lost()
    return report


def length(groups, late, slow=SLOW):
    """Seconds of a run in which the slow rank, or each, is late."""
    job_ranks = job.training(groups, slow, int(late * 1e9), STEPS)
    return max(rank.now for rank in job_ranks) / 1e9


def ranks(groups=None):
    return job.training(groups or WORLD, SLOW, int(LATE_S * 1e9), STEPS)


def check_verdict(report, waiting_ranks):
    """Kernels of the ranks that wait for the slow one wait as long as it is late, and its function is to blame."""
    waited = {}
    for wait in report.waits(COMMUNICATION):
        waited[wait["location"].split(".")[0]] = wait["time_s"]
    check(len(waited) == len(waiting_ranks), f"{COMMUNICATION} on {waited}, not on {waiting_ranks}")
    for location, time_s in waited.items():
        check(abs(time_s / (STEPS * LATE_S) - 1) <= WITHIN, f"{location} waited {time_s} s for the slow rank")
    # That device waited for the launch, and those of the others for it.
    (callpath, location), _ = report.largest_delay()
    check("load_batch" in callpath and location == f"{SLOW}.0", f"{callpath} of {location} is blamed")


def check_kineto(place, **options):
    folder = job.write_kineto(ranks(), place.scratch / "traces", **options)
    check_verdict(analyzed(place, folder), {0, 1, 2})


def files(place):
    folder = job.write_kineto(ranks(), place.scratch / "traces")
    report = analyzed(place, *sorted(folder.iterdir()))
    check_verdict(report, {0, 1, 2})
    # What was made of them can be looked at like any other run, and analyzed again.
    experiment = place.experiment()
    succeed([place.culprit, "view", experiment, "-o", place.scratch / "page.html"])
    succeed([place.culprit, "analyze", experiment])
    succeed([place.culprit, "export", experiment, "--format", "otf2", "-o", place.scratch / "archive"])
    check_verdict(analyzed(place, place.scratch / "archive", name="again"), {0, 1, 2})


def check_pairs(place, write, **options):
    report = analyzed(place, write(ranks(PAIRS), place.scratch / "traces", **options))
    check_verdict(report, {2})
    # Balanced, the slow rank would be as late as all are in the mean: a simulated rerun says the same.
    gains = [gain["gain_s"] for gain in report.data["gains"]
             if "load_batch" in gain["callpath"] and gain["kind"] == "balanced"]
    expected = length(PAIRS, LATE_S) - length(PAIRS, LATE_S / 4, slow=None)
    check(len(gains) == 1 and abs(gains[0] / expected - 1) <= WITHIN, f"gains {gains}, not {expected}")


def same_in_all_formats(place):
    """Waits of a job do not depend on who recorded it."""
    reports = [analyzed(place, job.write_kineto(ranks(), place.scratch / "kineto", groups_named=False),
                        name="a"),
               analyzed(place, job.write_nsight(ranks(), place.scratch / "nsight"), name="b"),
               analyzed(place, job.write_nsight(ranks(), place.scratch / "older", newer=False), name="c")]
    waits = [sorted((w["pattern"], w["callpath"], w["location"], round(w["time_s"], 6)) for w in report.data["waits"])
             for report in reports]
    check(waits[0] == waits[1], f"PyTorch's and Nsight's differ:\n{waits[0]}\n{waits[1]}")
    check(waits[1] == waits[2], f"Nsight's versions differ:\n{waits[1]}\n{waits[2]}")


def refused(place):
    def sentence(*inputs):
        done = execute([place.culprit, "analyze", "-o", place.experiment("refused"), *inputs])
        check(done.returncode == 1, f"status {done.returncode} of {inputs}: {done.stderr}")
        lines = done.stderr.strip().splitlines()
        check(len(lines) == 1, f"not one sentence: {done.stderr}")
        check(not pathlib.Path(place.experiment("refused")).exists(), "an experiment was left")
        return lines[0]

    one = ranks()[0]
    folder = place.scratch
    (folder / "a.json").write_text(job.kineto(one))
    (folder / "b.json").write_text(job.kineto(one))
    check("rank 0" in sentence(folder / "a.json", folder / "b.json"), "two files of one rank")
    one.operations.clear()
    (folder / "host.json").write_text(job.kineto(one))
    check("ProfilerActivity.CUDA" in sentence(folder / "host.json"), "no operations")
    (folder / "other.json").write_text('{"answer": 42}')
    check("traceEvents" in sentence(folder / "other.json"), "no trace")
    job.write_nsight(ranks(), folder / "nsight")
    check("formats" in sentence(folder / "a.json", folder / "nsight/report0.sqlite"), "different formats")
    (folder / "run.nsys-rep").write_text("whatever")
    check("nsys export" in sentence(folder / "run.nsys-rep"), "a report that was not exported")


sys.exit(harness.main({
    "folder": check_kineto,
    "packed": lambda place: check_kineto(place, packed=True),
    "unnamed": lambda place: check_kineto(place, groups_named=False),
    "files": files,
    "pairs": lambda place: check_pairs(place, job.write_kineto),
    "pairs_unnamed": lambda place: check_pairs(place, job.write_kineto, groups_named=False),
    "nsight_pairs": lambda place: check_pairs(place, job.write_nsight),
    "same": same_in_all_formats,
    "refused": refused,
}))
