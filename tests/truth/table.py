#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/truth.md's tables: table.py BEFORE.json [AFTER.json], what truth.py --json has written; for
several runs of the same state, separated by commas, a later one's rows replace an earlier one's."""

import json
import pathlib
import sys

COLUMNS = ["judged", "first", "share", "cost, known (s)", "worst innocent"]
BRIEFLY = ["judged", "share"]  # of the state before


def rows_of(paths):
    rows = {}
    for path in paths.split(","):
        for row in json.loads(pathlib.Path(path).read_text())["rows"]:
            rows[row["case"], row["mode"]] = row
    return rows


def cost_of(row):
    """Seconds charged to the guilty, and known: '1.62 / 1.60'; of several, of each."""
    if "cost_s" not in row:  # a state that kept no amounts
        return ""
    pairs = []
    for found, (low, high) in zip(row["cost_s"], row["known_s"]):
        known = f"{high:.2f}" if high - low < 0.005 else f"{low:.2f} to {high:.2f}"
        pairs.append(f"{found:.2f} / {known}")
    return "; ".join(pairs)


def first_of(row):
    if not row["culprits"]:
        return row["named"] or "nobody"
    right = row.get("right_first", not any(fault.startswith("first is") for fault in row["faults"]))
    return "yes" if right else " on ".join(row["first"]) if "first" in row else "no"


def cells_of(row):
    """The columns of one run: was it right, is the guilty first, its share and its cost, the worst innocent."""
    if row is None or "skipped" in row:
        return [""] * len(COLUMNS)
    if "charged_share" not in row:
        return ["failed"] + [""] * (len(COLUMNS) - 1)
    word = "noisy" if row.get("noisy") else "right" if row["right"] else "**wrong**"
    if not row["culprits"]:
        return [word, first_of(row), "", "", ""]
    innocent = f"{row['innocent_share']:.1%}"
    if "innocent" in row and row["innocent_share"] > 0.02:
        innocent += f" {row['innocent'][0]}"
    return [word, first_of(row), f"{row['charged_share']:.1%}", cost_of(row), innocent]


def main():
    states = [rows_of(paths) for paths in sys.argv[1:3]]
    oracle = {key: row.get("oracle") for rows in states for key, row in rows.items()}
    words = ["before", "after"] if len(states) == 2 else ["found"]
    shown = [COLUMNS] if len(states) == 1 else [BRIEFLY, COLUMNS]
    heads = [column if len(states) == 1 else f"{word}: {column}"
             for word, columns in zip(words, shown) for column in columns]
    print("| case | oracle | " + " | ".join(heads) + " |")
    print("|---|---|" + "---|" * len(heads))
    for key in dict.fromkeys(key for rows in states for key in rows):
        share = oracle.get(key)
        cells = [cell for rows, columns in zip(states, shown)
                 for name, cell in zip(COLUMNS, cells_of(rows.get(key))) if name in columns]
        print(f"| {key[0]} {key[1]} | {'' if share is None else f'{share:.1%}'} | " + " | ".join(cells) + " |")
    for word, rows in zip(words, states):
        judged = [r for r in rows.values() if "skipped" not in r and not r.get("noisy")]
        print(f"\n{word}: {sum(r['right'] for r in judged)} of {len(judged)} right, "
              f"{len(rows) - len(judged)} not judged")


if __name__ == "__main__":
    main()
