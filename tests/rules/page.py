# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Is the page that is built into culprit made of the sources in page/?

The template's first line holds a stamp of them; page/build.mjs computes the same. So it shows without Node that
somebody changed a source and did not build the page.
"""
import hashlib
import re

TEMPLATE = "report/page_data/template.html"
SOURCES = "page/src/"
VERSIONS = "page/package-lock.json"


def stamp(tree):
    made = hashlib.sha256()
    # As JavaScript sorts, by UTF-16; names are ASCII.
    for path in sorted(path for path in tree.paths if path.startswith(SOURCES)):
        made.update(f"{path[len(SOURCES):]}\n".encode())
        with open(f"{tree.root}/{path}", "rb") as file:
            made.update(file.read())
    with open(f"{tree.root}/{VERSIONS}", "rb") as file:
        made.update(file.read())
    return made.hexdigest()[:16]


def check(tree):
    if TEMPLATE not in tree.paths or VERSIONS not in tree.paths:
        return
    found = re.match(r"<!-- page (\w+) -->", tree.text(TEMPLATE))
    if not found or found.group(1) != stamp(tree):
        yield f"{TEMPLATE}: not what {SOURCES} gives (./dev page does it)"
