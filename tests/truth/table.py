#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/truth.md's tables: table.py BEFORE.json [AFTER.json], what truth.py --json has written; for
several runs of the same state, separated by commas, a later one's rows replace an earlier one's."""

import json
import pathlib
import sys


def rows_of(paths):
    rows = {}
    for path in paths.split(","):
        for row in json.loads(pathlib.Path(path).read_text())["rows"]:
            rows[row["case"], row["mode"]] = row
    return rows


def cells_of(row):
    """The four columns of one run: was it right, and what was charged to whom."""
    if row is None or "skipped" in row:
        return ["", "", "", ""]
    if "charged_share" not in row:
        return ["failed", "", "", ""]
    word = "noisy" if row.get("noisy") else "right" if row["right"] else "**wrong**"
    if not row["culprits"]:
        return [word, "", "", row["named"]]
    named = row["named"] if any("verdict" in fault for fault in row["faults"]) else ""
    return [word, f"{row['charged_share']:.0%}", f"{row['innocent_share']:.0%}", named]


def main():
    states = [rows_of(paths) for paths in sys.argv[1:3]]
    oracle = {key: row.get("oracle") for rows in states for key, row in rows.items()}
    words = ["before", "after"] if len(states) == 2 else ["found"]
    print("| case | oracle | " + " | ".join(f"{w} | culprit | other | verdict" for w in words) + " |")
    print("|---|---|" + "---|---|---|---|" * len(states))
    for key in dict.fromkeys(key for rows in states for key in rows):
        share = oracle.get(key)
        cells = [cell for rows in states for cell in cells_of(rows.get(key))]
        print(f"| {key[0]} {key[1]} | {'' if share is None else f'{share:.0%}'} | " + " | ".join(cells) + " |")
    for word, rows in zip(words, states):
        judged = [r for r in rows.values() if "skipped" not in r and not r.get("noisy")]
        print(f"\n{word}: {sum(r['right'] for r in judged)} of {len(judged)} right, "
              f"{len(rows) - len(judged)} not judged")


if __name__ == "__main__":
    main()
