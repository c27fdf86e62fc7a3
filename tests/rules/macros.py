#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Reads tables of macros (.def): what is generated from them outside of the compiler."""
import re

TOKEN = re.compile(r'"(?P<string>(?:[^"\\]|\\.)*)"|(?P<mark>[(),{}])|(?P<word>[^\s"(),{}]+)')


def calls(table):
    """(macro, arguments) for each of a table, in order. Strings come without their quotes, pasted where they touch."""
    code = re.sub(r"^\s*//.*$", "", table, flags=re.MULTILINE)
    macro, arguments, depth = None, [], 0
    for token in TOKEN.finditer(code):
        text = token.group("string") if token.group("string") is not None else token.group()
        if token.group("mark") and text in "({":
            depth += 1
            if depth == 1:
                arguments = [""]
                continue
        elif token.group("mark") and text in ")}":
            depth -= 1
            if depth == 0:
                yield macro, arguments
                macro = None
                continue
        if depth == 0:
            if macro:
                yield macro, []
            macro = text
        elif token.group("mark") and text == "," and depth == 1:
            arguments.append("")
        else:
            arguments[-1] += text
    if macro:
        yield macro, []
