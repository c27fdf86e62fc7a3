#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/evidence/truth.md's table: table.py RESULT.json, what truth.py --json has written; of several results
of the same state, separated by commas, a later one's rows replace an earlier one's. One row a case, one
column a mode: which share of the waiting the guilty are charged with."""

import json
import pathlib
import re
import sys

MODES = "FPWCM"


def rows_of(paths):
    rows = {}
    for path in paths.split(","):
        for row in json.loads(pathlib.Path(path).read_text())["rows"]:
            rows[row["case"], row["mode"]] = row
    return rows


def seconds(low, high):
    return f"{high:.2f}" if high - low < 0.005 else f"{low:.2f} to {high:.2f}"


def answer_of(row):
    """Who is guilty of how many seconds, by the program's own account."""
    if not row.get("culprits"):
        return "nobody"
    pairs = zip(row["culprits"], row["known_s"])
    answer = "; ".join(f"{who}: {seconds(*known)} s" for who, known in pairs)
    return re.sub(r"(\.cpp):\d+", r"\1", answer)  # documents name no lines, which move


def cell_of(row):
    if row is None or "skipped" in row:
        return ""
    if "charged_share" not in row:
        return "failed"
    share = f"{row['charged_share']:.1%}" if row["culprits"] else "yes" if row["right"] else "no"
    if row.get("noisy"):
        return f"({share})"
    return share if row["right"] else f"**{share}**"


def main():
    rows = rows_of(sys.argv[1])
    modes = [mode for mode in MODES if any(key[1] == mode for key in rows)]
    oracle = any("oracle" in row for row in rows.values())
    print("| case | guilty | " + ("oracle | " if oracle else "") + " | ".join(modes) + " |")
    print("|---|---|" + "---|" * (len(modes) + oracle))
    for case in dict.fromkeys(case for case, _ in rows):
        of_case = {mode: rows.get((case, mode)) for mode in modes}
        some = next(row for row in of_case.values() if row)
        share = next((row["oracle"] for row in of_case.values() if row and row.get("oracle")), None)
        cells = [case, answer_of(some), *([f"{share:.1%}" if share else ""] if oracle else []),
                 *map(cell_of, of_case.values())]
        print("| " + " | ".join(cells) + " |")
    judged = [row for row in rows.values() if "skipped" not in row and not row.get("noisy")]
    print(f"\n{sum(row['right'] for row in judged)} of {len(judged)} right, "
          f"{len(rows) - len(judged)} not judged")


if __name__ == "__main__":
    main()
