#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# docs/patterns.md from replay/model/wait_patterns.def. `patterns_doc.py <root>` writes it (./dev format does);
# the rule `patterns` compares.
import os
import re
import sys

import macros
import prose

TABLE = "replay/model/wait_patterns.def"
DOCUMENT = "docs/patterns.md"
COLUMNS = ("id", "parent", "name", "unit", "summary", "diagnosis", "remedy")

HEAD = """# Wait patterns

The wait patterns that culprit knows, as a tree. `culprit patterns` lists them, `culprit patterns ID` explains one.
This page is generated from `replay/model/wait_patterns.def`: change that and run `./dev format`.
To add one, see [add a pattern](developers/add-a-pattern.md). Times are allocated time, in seconds.
"""


def rows(table):
    """The rows of a wait_patterns.def as dictionaries."""
    for _, arguments in macros.calls(table):
        yield dict(zip(COLUMNS, arguments, strict=True))


def sentence(text):
    return text[0].upper() + text[1:] + "."


def document(table):
    """The page, for the text of a wait_patterns.def."""
    patterns = list(rows(table))
    lines = [HEAD]

    def write(parent, depth):
        for row in patterns:
            if row["parent"] != parent:
                continue
            if depth == 0:
                lines.append(f"\n## {row['name']} (`{row['id']}`)\n\n{sentence(row['summary'])}\n\n")
            else:
                indent = "  " * (depth - 1)
                more = f" To confirm: {row['diagnosis']} Try: {row['remedy']}." if row["remedy"] else ""
                more = re.sub(r"([^.?]) Try: ", r"\1. Try: ", more)
                text = f"{indent}- **{row['name']}** (`{row['id']}`): {row['summary']}.{more}"
                lines.extend(line + "\n" for line in prose.broken([text]))
            write(row["id"], depth + 1)

    write("", 0)
    return "".join(lines)


if __name__ == "__main__":
    root = sys.argv[1]
    with open(os.path.join(root, TABLE), encoding="utf-8") as table:
        page = document(table.read())
    with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as file:
        file.write(page)
