#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""How many hangs `culprit stuck` names: `hangs.py --build build [--repeat 1] [--only WORD] [--culprit FILE]`.

The programs are those of tests/programs/stuck/hangs.py, each of which hangs for certain, in every variant: both MPIs,
gcc and clang. Each is asked while it runs, and after it and culprit were killed by SIGKILL. Prints a table in Markdown,
what was wrong, and how many were named. The exit status is 1 if any was not. --culprit asks another build of it."""

import argparse
import contextlib
import io
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "programs"), str(HERE.parent / "programs" / "stuck")]
import harness
import hangs


def outcome(options, name):
    """"named", why it could not be tried, or what was wrong."""
    with tempfile.TemporaryDirectory(prefix="culprit-hang-") as scratch:
        place = harness.Place(options.build, scratch)
        if options.culprit:
            place.culprit = pathlib.Path(options.culprit)
        try:
            hangs.TESTS[name](place)
        except harness.Skip as reason:
            return f"skipped: {reason}"
        except Exception as wrong:  # whatever went wrong, it is one more that is not named
            return " ".join(str(wrong).split())
        return "named"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--culprit")
    options = parser.parse_args()
    named = tried = 0
    print("| hang | answer |\n|---|---|")
    for name in hangs.TESTS:
        if options.only not in name:
            continue
        for _ in range(options.repeat):
            with contextlib.redirect_stderr(io.StringIO()):
                said = outcome(options, name)
            tried += not said.startswith("skipped")
            named += said == "named"
            print(f"| {name} | {said} |", flush=True)
    print(f"\n{named} of {tried} named")
    return 1 if tried == 0 or named < tried else 0


if __name__ == "__main__":
    sys.exit(main())
