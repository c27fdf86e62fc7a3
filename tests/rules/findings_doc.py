#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# The tables of docs/findings-db.md from blame/findings/findings.def, between two marks. `findings_doc.py <root>` writes them
# (./dev format does); the rule `findings` compares.
import os
import re
import sys

import macros
import prose

TABLE = "blame/findings/findings.def"
COLUMNS = "blame/findings/columns.def"
WORDS = ("blame/findings/words.def", "base/severities.def")
# of the table, which includes them
PARTS = tuple(f"blame/findings/findings_{part}.def" for part in ("derived", "cores", "bursts", "threads"))
SOURCES = (TABLE, *PARTS, COLUMNS, *WORDS)
DOCUMENT = "docs/findings-db.md"

BEGIN = f"<!-- The tables, from {TABLE}: change that and run ./dev format -->\n"
END = "<!-- The end of the tables -->\n"


def words_of(sources):
    """The spellings of each enum, with their meanings."""
    words = {}
    for path in WORDS:
        for macro, arguments in macros.calls(sources[path]):
            if macro == "WORDS":
                words[arguments[0]] = listed = []
            elif macro == "WORD" and arguments[1]:
                listed.append(arguments[1:])
    return words


def marked_up(text):
    """A meaning with the marks of a document."""
    parts = re.split(r"(?<!\w)'([^']+)'(?!\w)", text)
    parts[0::2] = [re.sub(r"(?<![\w/.])[a-z]+(?:_[a-z]+)+(?![\w/.])|\b[\w/-]+\.md\b", r"`\g<0>`", part)
                   for part in parts[0::2]]
    parts[1::2] = [f"`{part}`" for part in parts[1::2]]
    return "".join(parts)


def sentence(text):
    return text[0].upper() + text[1:] + "."


def column_row(name, kind, key, meaning, types, words):
    enum, shown = types.get(kind, (kind, "word"))
    remarks = [marked_up(meaning)] if meaning else []
    if enum in words:
        remarks.append(", ".join(f"`{spelling}`" + (f" ({marked_up(about)})" if about else "")
                                 for spelling, about in words[enum]))
    text = ": ".join(remarks)
    if key != name:
        text += f"{'; ' if text else ''}in JSON: `{key}`"
    return f"| `{name}` | {shown} | {text + ' ' if text else ''}|\n"


def tables(sources):
    """All tables, for the texts of the sources by path."""
    words = words_of(sources)
    types = {arguments[0]: (arguments[1], arguments[5]) for _, arguments in macros.calls(sources[COLUMNS])}
    lines = []
    table = re.sub(r'^#include "(.+)"$', lambda part: sources.get(part.group(1), ""), sources[TABLE], flags=re.MULTILINE)
    for macro, arguments in macros.calls(table):
        if macro in ("ONE", "LIST", "TABLE"):
            about = prose.broken([sentence(marked_up(arguments[-1]))])
            lines += [f"\n### `{arguments[1]}`\n\n", "\n".join(about), "\n\n| column | value | meaning |\n|---|---|---|\n"]
        elif macro == "FIELD":
            kind, name, meaning = arguments
            lines.append(column_row(name, kind, name, meaning, types, words))
        elif macro == "FIELD_AS":
            kind, name, key, meaning = arguments
            lines.append(column_row(name, kind, key, meaning, types, words))
    return "".join(lines) + "\n"


def document(page, sources):
    """The page with its tables as the sources say."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + tables(sources) + END + after


if __name__ == "__main__":
    root = sys.argv[1]

    def read(path):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            return file.read()

    written = document(read(DOCUMENT), {path: read(path) for path in SOURCES})
    with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as file:
        file.write(written)
