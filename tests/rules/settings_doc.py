#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# docs/settings.md from base/settings.def and base/frequent_events.def. `settings_doc.py <root>` writes
# it (./dev format does); the rule `settings` compares. The rule `variables` keeps the names of variables
# in the table.
import os
import re
import sys

TABLE = "base/settings.def"
EVENTS = "base/frequent_events.def"
DOCUMENT = "docs/settings.md"
COLUMNS = {
    "SETTING": ("id", "reader", "shape", "initial", "option", "variable", "help"),
    "HANDED_ON": ("id", "shape", "variable", "help"),
    "FREQUENT": ("name", "what"),
}

HEAD = f"""# Settings

These are the settings of `culprit run` and `culprit record`. Each option has a variable, for batch scripts and for
launchers that start culprit behind them; the option takes precedence. A senseless value is refused before anything
is started.

This page is generated from `{TABLE}` and `{EVENTS}`: change those and run `./dev format`.

## Options and their variables
"""

VARIABLES = """
## Variables without an option

`CULPRIT_LOG`, `CULPRIT_NAME_CACHE` and `CULPRIT_WRAPPERS` hold for all commands; the options `-v` and `-q` go before
`CULPRIT_LOG`, and a level that does not exist is ignored, with a warning.
"""

FREQUENT = """
## What `--without` leaves out
"""

HANDED_ON = """
## Variables that culprit sets for the collector

These are not for users: culprit sets them in the environment of the measured program, beside those settings above that
the program reads. A probe finds all of them in `environment()` (`collector/process/environment.h`).
"""

SHAPES = {
    "flag": "`1`, `0`",
    "size": "bytes, as in `500M` or `2G`",
    "window": "as in `10s..60s`, `10s..` or `..1m`",
    "ranks": "as in `0-3,8`",
    "phase": "`NAME`, `NAME:n-m`",
    "frequent_events": "names, see below",
    "text": "text",
    "path": "path",
}


def arguments(text):
    """The arguments of a macro, split at the commas that stand in neither strings nor parentheses."""
    parts, depth = [""], 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[^"]', text):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]


def plain(argument):
    """A string, pasted where its parts touch, or whatever else it is."""
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', argument)
    return "".join(strings) if argument.startswith('"') else argument


def rows(table, macro):
    """The rows of a .def as dictionaries."""
    code = re.sub(r"^\s*//.*$", "", table, flags=re.MULTILINE)
    for match in re.finditer(rf"^{macro}\((.*?)\)\s*(?=^[A-Z_]+\(|\Z)", code, re.MULTILINE | re.DOTALL):
        yield dict(zip(COLUMNS[macro], map(plain, arguments(match.group(1))), strict=True))


def values(shape):
    kind, inside = re.fullmatch(r"(\w+)\((.*)\)", shape, re.DOTALL).groups()
    if kind == "number":
        return "{} to {}".format(*arguments(inside))
    if kind == "choice":
        return ", ".join(f"`{word}`" for word in plain(inside).split(","))
    return SHAPES[kind]


def words(text):
    return re.sub(r"([<>*|])", r"\\\1", text)


def code(text):
    return f"`{text}`" if text else ""


def table_of(columns, lines):
    yield "\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns) + "\n"
    for line in lines:
        yield "| " + " | ".join(line).replace("|  |", "| |") + " |\n"


def document(table, events):
    """The page, for the texts of a settings.def and a frequent_events.def."""
    settings = list(rows(table, "SETTING"))
    readers = {"culprit": "culprit", "program": "the measured program"}

    def line(row):
        options = ", ".join(code(option) for option in row["option"].split(",") if option)
        return ([options] if options else []) + [
            code(row["variable"]), values(row["shape"]), code(row["initial"]), words(row["help"]),
            readers[row["reader"]]]

    columns = ["variable", "values", "default", "what it says", "read by"]
    page = [HEAD]
    page += table_of(["option", *columns], (line(row) for row in settings if row["option"]))
    page.append(VARIABLES)
    page += table_of(columns, (line(row) for row in settings if not row["option"]))
    page.append(FREQUENT)
    page += table_of(["name", "events"], ([code(r["name"]), r["what"]] for r in rows(events, "FREQUENT")))
    page.append(HANDED_ON)
    page += table_of(["variable", "values", "what it says"],
                     ([code(r["variable"]), values(r["shape"]), words(r["help"])]
                      for r in rows(table, "HANDED_ON")))
    return "".join(page)


if __name__ == "__main__":
    def read(path):
        with open(os.path.join(sys.argv[1], path), encoding="utf-8") as file:
            return file.read()

    text = document(read(TABLE), read(EVENTS))
    with open(os.path.join(sys.argv[1], DOCUMENT), "w", encoding="utf-8") as file:
        file.write(text)
