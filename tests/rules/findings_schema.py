#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# docs/findings.schema.json, the JSON Schema of `culprit report --format json`, from blame/findings/findings.def.
# `findings_schema.py <root>` writes it (./dev format does); the rule `findings_schema` compares. Keys may be added
# within a version: what is not listed is allowed, what is listed is required and of its type.
import json
import os
import re
import sys

import findings_doc
import macros

DOCUMENT = "docs/findings.schema.json"
VERSION = 1

# Tables whose key in JSON is another one; None: they are within another key, or not in JSON.
KEYS = {"instances": "worst_waits", "counts": "counters", "critical_callpaths": "performance_impacts", "callpaths": None, "metrics": None,
        "critical_path": None, "segments": None, "stuck": None, "stuck_helpers": None, "location_times": None, "callpath_times": None,
        "profile": None, "model_terms": None, "model_leads": None, "passes": None}
# Columns that JSON has elsewhere.
NOT_THERE = {"performance_impacts": {"time_s"}}
# What the program adds by hand (report/json/json.cpp).
MORE = {"run": {"notes": {"type": "array", "items": {"type": "string"}}}, "identities": {"violations": {"type": "array", "items": {"type": "string"}}},
        "delays": {"samples": {"type": ["integer", "null"]}}, "counters": {"unit": {"type": "string"}},
        "models": {"terms": {"type": "array"}, "leads": {"type": "array"}}}


def kind_of(row, words):
    """The schema of a column's value, from its row of columns.def."""
    name, kept_as, _, _, may_lack, shown = row
    if kept_as == "bool":
        kind = {"type": "boolean"}
    elif kept_as in words:
        kind = {"type": "string"}
    elif kept_as in ("std::string", "CallPathId", "LocationId", "MetricId", "Factor"):
        kind = {"type": "string"}
    elif kept_as == "double":
        kind = {"type": "number"}
    else:
        kind = {"type": "integer"}
    if may_lack.strip() == "true":
        kind["type"] = [kind["type"], "null"]
    if shown not in ("text", "word", "number"):
        kind["description"] = shown.replace("`", "")
    return kind


def schema(sources):
    words = findings_doc.words_of(sources)
    types = {arguments[0]: arguments for _, arguments in macros.calls(sources[findings_doc.COLUMNS])}
    table = re.sub(r'^#include "(.+)"$', lambda part: sources.get(part.group(1), ""), sources[findings_doc.TABLE], flags=re.MULTILINE)
    properties, key, one = {}, None, False
    rows = {}
    for macro, arguments in macros.calls(table):
        if macro in ("ONE", "LIST", "TABLE"):
            key, one = KEYS.get(arguments[1], arguments[1]), macro == "ONE"
            if key is None:
                continue
            rows = {"type": "object", "required": [], "properties": {}}
            properties[key] = rows if one else {"type": "array", "items": rows}
            properties[key]["description"] = findings_doc.sentence(arguments[-1])
        elif macro in ("FIELD", "FIELD_AS") and key is not None:
            kind, name, *shown = arguments
            column = shown[0] if macro == "FIELD_AS" else name
            if column in NOT_THERE.get(key, ()):
                continue
            # An enum of words.def has no row: it is written as one of its words.
            listed = [spelling for spelling, *_ in words.get(kind, [])]
            value = kind_of(types[kind], words) if kind in types else {"enum": listed} if listed else {"type": "string"}
            if shown[-1]:
                value["description"] = f"{value['description']}: {shown[-1]}" if "description" in value else shown[-1]
            rows["properties"][column] = value
            rows["required"].append(column)
    for key, more in MORE.items():
        if key in properties:
            row = properties[key] if properties[key]["type"] == "object" else properties[key]["items"]
            row["properties"].update(more)
            row["required"] += [name for name in more if name not in row["required"]]
    properties = {"schema": {"const": f"culprit-findings-{VERSION}"}, "tool": {"const": "culprit"}, **properties,
                  "verdict": {"type": "object", "required": ["kind", "text", "waiting_share", "causes"]}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Findings of culprit, as `culprit report --format json` prints them",
            "type": "object", "required": ["schema", "tool", "run", "verdict", "identities", "waits", "delays", "locations", "losses"], "properties": properties}


def document(sources):
    return json.dumps(schema(sources), indent=1, ensure_ascii=False) + "\n"


def check(tree):
    """The rule: the document is what the tables give."""
    if any(path not in tree.paths for path in findings_doc.SOURCES):
        return
    if DOCUMENT not in tree.paths or tree.text(DOCUMENT) != document({path: tree.text(path) for path in findings_doc.SOURCES}):
        yield f"{DOCUMENT}: not what {findings_doc.TABLE} says (./dev format does it)"


def main():
    root = sys.argv[1]
    sources = {}
    for path in findings_doc.SOURCES:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            sources[path] = file.read()
    with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as file:
        file.write(document(sources))


if __name__ == "__main__":
    main()
