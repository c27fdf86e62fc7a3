#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of documents are at most as wide as a page.

`prose.py <root>` breaks the paragraphs and list items of all .md files that are wider (./dev format
does); the rule `width` names them. Tables and what stands in fences may be wider, and an indented
block is left as it is.
"""
import os
import re
import sys
import textwrap

WIDTH = 120
ITEM = re.compile(r"\s*([-*]|\d+\.) +")
# What is not broken: links, and code within a line.
WHOLE = re.compile(r"\[[^\]\n]{1,60}\]\([^)]*\)|`[^`\n]{1,60}`")
GAP = "\0"


def too_wide(text):
    """(number, width) of each line of a document that is too wide."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and not line.startswith("|") and len(line) > WIDTH:
            yield number, len(line)


def broken(lines):
    """A paragraph or list item as lines that fit."""
    mark = ITEM.match(lines[0])
    first = mark.group() if mark else lines[0][:len(lines[0]) - len(lines[0].lstrip())]
    words = " ".join([lines[0][len(first):], *(line.strip() for line in lines[1:])])
    words = WHOLE.sub(lambda match: match.group().replace(" ", GAP), words)
    wrapped = textwrap.wrap(words, WIDTH, initial_indent=first, subsequent_indent=" " * len(first),
                            break_long_words=False, break_on_hyphens=False)
    return [line.replace(GAP, " ") for line in wrapped]


def narrowed(text):
    """The document with all paragraphs and list items broken that are too wide."""
    lines, paragraph = [], []
    fenced, inner = False, 0  # inner: where the text of the list item begins that we are in

    def flush():
        wide = any(len(line) > WIDTH for line in paragraph)
        lines.extend(broken(paragraph) if wide else paragraph)
        paragraph.clear()

    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        item = ITEM.match(line)
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and item:
            flush()
            inner = len(item.group())
            paragraph.append(line)
            continue
        elif not fenced and line.strip() and not re.match(r"[#|<]", line):
            if not paragraph and indent == 0:
                inner = 0
            if paragraph or indent < inner + 4:
                paragraph.append(line)
                continue
        flush()
        lines.append(line)
    flush()
    return "\n".join(lines)


def narrow_files(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".", "build"))]
        for path in (os.path.join(folder, f) for f in files if f.endswith(".md")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if any(too_wide(text)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(narrowed(text))


if __name__ == "__main__":
    narrow_files(sys.argv[1])
