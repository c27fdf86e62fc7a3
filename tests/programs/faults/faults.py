# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Page faults, and the time that the kernel takes for them, are where the program causes them."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import Report, check, execute, succeed  # noqa: E402


def run(place, *options, arguments=()):
    done = execute([place.culprit, "run", *options, "-o", place.experiment(), "--",
                    place.program("faults/faults"), *arguments])
    check(done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return Report(place, place.experiment()), int(re.search(r"touched (\d+) pages", done.stdout)[1])


def of_profile(place):
    """What the profile of the same run says."""
    succeed([place.culprit, "analyze", "--profile", "-o", place.experiment("profile"),
             place.experiment()])
    return Report(place, place.experiment("profile"))


def check_places(report, pages):
    rows = report.data["kernel_times"]
    check(rows, "no time in the kernel was found")
    here = [row for row in rows if "touch_memory" in row["callpath"]]
    faults = sum(row["page_faults"] for row in rows)
    check(0.5 * pages <= faults <= 1.5 * pages, f"{faults} page faults were found, of {pages}")
    there = sum(row["page_faults"] for row in here)
    check(there >= 0.3 * faults, f"of {faults} only {there} are in touch_memory")
    # Its turns are as short as the time between samples. What is in doubt is their common caller's.
    innocent = sum(row["page_faults"] for row in rows if "compute" in row["callpath"])
    check(innocent <= 0.05 * faults, f"{innocent} of {faults} are charged to a function that causes none")
    check(len({row["location"] for row in rows}) == 2, "not both threads have page faults")


def placed(place):
    """In the trace of a run, and in its profile."""
    report, pages = run(place)
    report.check_identities()
    check_places(report, pages)
    check_places(of_profile(place), pages)


def said(place):
    """A run that does little else says so first."""
    report, _ = run(place, arguments=["faults"])
    for each in (report, of_profile(place)):
        found = [row for row in each.data["diagnoses"] if row["kind"] == "page faults"]
        check(found and found[0]["matters"] and "touch_memory" in found[0]["callpath"], f"it says {found}")
        check(found[0]["callpath_s"] >= 0.5 * found[0]["time_s"], f"it says {found}")


def no_samples(place):
    """Without samples nothing is known by call path, and nothing is said."""
    report, _ = run(place, "--sampling", "0")
    check(not report.data["kernel_times"], "there is time in the kernel without samples")


if __name__ == "__main__":
    sys.exit(harness.main({test.__name__: test for test in (placed, said, no_samples)}))
