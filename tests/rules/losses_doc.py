#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# docs/losses.md from base/losses.def. `losses_doc.py <root>` writes it (./dev format does); the rule
# `losses` compares, and looks for each row's place in the source.
import os
import re
import sys

TABLE = "base/losses.def"
DOCUMENT = "docs/losses.md"

# As in `losses` of a result and in the report, the worst first: see base/losses.cpp, report/text_page/text.cpp.
SEVERITIES = ("data_loss", "warning", "info")

HEAD = """# Losses

Losses are the gaps of a result. Missing, damaged or unknown data is counted under a stable name, and the analysis goes
on with the rest. The last part of a report, `losses` of the JSON report and the table `losses` of `findings.db` list
the losses: name, number, severity, and meaning. A file keeps the text of the culprit that wrote it, so a name that is
not on this page is from an older or newer version, and is shown all the same.

| severity | in the report | meaning |
|---|---|---|
| `data loss` | Data loss | records are missing or wrong: `culprit analyze` returns 3, unless a program that ended early left them undone |
| `warning` | Warning | some figures are less accurate or less complete than they look |
| `info` | Note | good to know when you interpret a figure |

This page is generated from `base/losses.def`: change that and run `./dev format`.
"""


def stages(table):
    """(title, summary, [(id, severity, sentence)]) of each stage of a losses.def."""
    code = re.sub(r"^\s*//.*$", "", table, flags=re.MULTILINE)
    text = r'((?:\s*"(?:[^"\\]|\\.)*")+)\s*'
    found = []
    for match in re.finditer(rf"\b(?:STAGE\({text},{text}\)|LOSS\((\w+), (\w+),{text}\))", code):
        title, summary, name, severity, sentence = match.groups()
        if title:
            found.append((joined(title), joined(summary), []))
        else:
            found[-1][2].append((name, severity, joined(sentence)))
    rows = sum(len(rows) for _, _, rows in found)
    if rows != len(re.findall(r"\bLOSS\(", code)):
        raise ValueError(f"{TABLE}: only {rows} rows can be read")
    return found


def joined(literals):
    """The value of string literals that touch."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def ids(table):
    return [name for _, _, rows in stages(table) for name, _, _ in rows]


def document(table):
    """The page, for the text of a losses.def."""
    lines = [HEAD]
    for title, summary, rows in stages(table):
        lines.append(f"\n## {title}\n\n{summary[0].upper()}{summary[1:]}.\n\n")
        lines.append("| loss | severity | meaning |\n|---|---|---|\n")
        for name, severity, sentence in sorted(rows, key=lambda row: (SEVERITIES.index(row[1]), row[0])):
            meaning = sentence.replace("|", "\\|").replace("{}.", "...").replace("{}", "...")
            lines.append(f"| `{name}` | {severity.replace('_', ' ')} | {meaning} |\n")
    return "".join(lines)


if __name__ == "__main__":
    root = sys.argv[1]
    with open(os.path.join(root, TABLE), encoding="utf-8") as table:
        page = document(table.read())
    with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as file:
        file.write(page)
