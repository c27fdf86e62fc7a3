#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# docs/developers/raw-records.md from trace/raw/records.def and the parts that it includes. `records_doc.py
# <root>` writes it (./dev format does); the rule `records` compares.
import os
import re
import sys

import prose

TABLE = "trace/raw/records.def"
DOCUMENT = "docs/developers/raw-records.md"

HEAD = """# Raw records

These are the records that the collector leaves behind. This page is generated from `trace/raw/records.def` and its
parts: change those and run `./dev format`. `trace/raw/raw.h` says how a log's file is built, `trace/raw/values.h` has
the enumerations; `culprit-rawdump` prints the records of an experiment.

A record has a header, with its time, its kind and two numbers (`arg`, 32 bits, and `flags`, 16 bits), and after it
words of 64 bits (`w0`, `w1`, ...), which may be divided into halves. A field whose word is *optional* is 0 where the
record ends before it; an address, a call path, a string or a time that is 0 is absent or unknown. A kind with
*yes* under "off" is recorded while recording is off, too: others need it to be understood. One with *always* is kept
also when a run is so long that other records are kept of bursts alone. A record that *grows* may change while it is
the newest of its log; *ticks until* a kind means that a record of that kind follows after this many ticks, and is not
written.
"""
COLUMNS = "| kind | number | off | meaning | fields |\n|---|---|---|---|---|\n"

KEPT = {"LEFT_OUT": "no", "KEPT": "yes", "DEFINES": "always"}

# What a field is, where its macro says more than its type.
SORTS = {"PATH": "call path", "NAME": "string", "CODE": "return address", "ENTRY": "function's address",
         "MOMENT": "time"}
TYPED = ("ARG", "FLAGS", "WORD", "LOW", "HIGH", "MAYBE")
PLAIN = re.compile(r"u?int\d+_t")


def sources(read):
    """The table's text, its parts where it includes them; `read` gives the text at a path."""
    return re.sub(r'^#include "([^"]+)"$', lambda match: read(match.group(1)), read(TABLE), flags=re.MULTILINE)


def arguments(text):
    """A macro's arguments: words, and strings pasted where they touch."""
    joined = re.sub(r'"\s+"', "", text)
    return [string or word for string, word in re.findall(r'"((?:[^"\\]|\\.)*)"|([^\s,"]+)', joined)]


def steps(table):
    """What a table has, in order: (macro's name, arguments), and ("section", [text])."""
    code = re.sub(r"^\s*#.*\n", "", table, flags=re.MULTILINE)
    token = re.compile(r'^// --- (?P<section>(?:.|\n(?=//))*?) ---$'
                       r'|^//.*$'
                       r'|^(?P<macro>[A-Z_]+)(?:\((?P<arguments>(?:"(?:[^"\\]|\\.)*"|[^")])*)\))?', re.MULTILINE)
    for match in token.finditer(code):
        if match["section"]:
            yield "section", [re.sub(r"\s*\n//\s*", " ", match["section"])]
        elif match["macro"]:
            yield match["macro"], arguments(match["arguments"] or "")


class Layout:
    """Where the fields of a record lie, told one after the other."""

    def __init__(self):
        self.words = 0

    def place(self, macro):
        if macro in ("ARG", "PATH"):
            return "`arg`"
        if macro in ("FLAGS", "NAME"):
            return "`flags`"
        if macro == "REST":
            return f"`w{self.words}`..."
        if macro in ("HIGH", "NOTED_HIGH"):
            return f"`w{self.words - 1}`, upper half"
        self.words += 1
        half = ", lower half" if macro in ("LOW", "NOTED_LOW") else ""
        return f"`w{self.words - 1}`{half}{', optional' if macro == 'MAYBE' else ''}"


def field(layout, macro, values):
    """A field, as the last column tells of it."""
    place = layout.place(macro)
    meaning = values[-1]
    if macro == "REST":
        return f"{place}: {meaning}"
    if macro.startswith("NOTED"):
        name, kind, _ = values
        place += f", ticks until `{kind}`"
    elif macro in TYPED:
        kind, name, _ = values
        place += "" if PLAIN.fullmatch(kind) else f", `{kind}`"
    else:
        name, _ = values
        place += f", {SORTS[macro]}"
    return f"`{name}` ({place})" + (f": {meaning}" if meaning else "")


def document(read):
    """The page; `read` gives the text at a path."""
    lines = [HEAD]
    row = fields = layout = grows = None
    for macro, values in steps(sources(read)):
        if macro == "section":
            title, _, more = values[0].partition(". ")
            lines.append(f"\n## {title}\n\n")
            lines.extend(line + "\n" for line in (prose.broken([more + "."]) if more else []))
            lines.append(("\n" if more else "") + COLUMNS)
        elif macro == "RECORD":
            row, fields, layout = values, [], Layout()
            grows = False
        elif macro == "GROWS":
            grows = True
        elif macro == "END":
            kind, number, _, kept, meaning = row
            meaning += " (*grows*)" if grows else ""
            cells = [f"`{kind}`", number, KEPT[kept], meaning, "<br>".join(fields)]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
        else:
            grows |= macro.startswith("NOTED")
            fields.append(field(layout, macro, values))
    return "".join(lines)


if __name__ == "__main__":
    root = sys.argv[1]

    def text_at(path):
        with open(os.path.join(root, path), encoding="utf-8") as table:
            return table.read()

    page = document(text_at)
    with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as file:
        file.write(page)
