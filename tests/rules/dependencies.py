# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Do docs/developers/dependencies.md, ./dev and the CMake files agree on what culprit needs?

The document's tables hold packages and what the build looks for; ./dev has its packages in
arrays, one a table; CMake's find_... calls say what is looked for. Modules of our own (cmake/Find*)
are taken apart: what they find counts, not their name. Names with variables in them are passed over.
"""
import re

DOCUMENT = "docs/developers/dependencies.md"
SECTIONS = {"To build": "build_packages", "To test": "test_packages", "To pack": "pack_packages"}
ROW = re.compile(r"^\| (?!package \|)([^|]+?) \| ?([^|]*?) ?\| ([^|]+?) \|$", re.MULTILINE)


def tables(document):
    """{section: {package: [what the build looks for]}}"""
    found = {}
    for section in re.split(r"^## ", document, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        rows = {package: [name.strip() for name in names.split(",") if name.strip()]
                for package, names, _ in ROW.findall(body)}
        if rows:
            found[title.strip()] = rows
    return found


def arrays(script):
    """{name: [words]} of the bash arrays in ./dev."""
    return {name: words.split() for name, words in
            re.findall(r"^(\w+_packages)=\(([^)]*)\)", script, re.MULTILINE)}


def looked_for(text):
    """What the find_... calls of a CMake file ask for, each by its first name."""
    text = re.sub(r"#[^\n]*", "", text)
    for kind, words in re.findall(r"\bfind_(package|program|library|path|file)\(([^)]*)\)", text):
        words = [w for w in words.split() if w != "NAMES"]
        name = words[0 if kind == "package" else 1]
        if "$" not in name:
            yield name


def check(tree):
    if DOCUMENT not in tree.paths:
        return
    documented = tables(tree.text(DOCUMENT))
    installed = arrays(tree.text("dev"))
    for section, array in SECTIONS.items():
        rows, packages = documented.get(section, {}), installed.get(array, [])
        for package in sorted(set(packages) - set(rows)):
            yield f"{DOCUMENT}: {package} is in ./dev's {array}, but not in '{section}'"
        for package in sorted(set(rows) - set(packages)):
            yield f"dev: {package} is in '{section}' of {DOCUMENT}, but not in {array}"
    own = {re.sub(r".*/Find(\w+)\.cmake$", r"\1", path) for path in tree.paths}
    explained = {name for rows in documented.values() for names in rows.values() for name in names}
    asked = {}
    for path in tree.ending(("CMakeLists.txt", ".cmake")):
        for name in looked_for(tree.text(path)):
            if name not in own:
                asked.setdefault(name, path)
    for name in sorted(set(asked) - explained):
        yield f"{asked[name]}: looks for {name}, which {DOCUMENT} does not have"
    for name in sorted(explained - set(asked)):
        yield f"{DOCUMENT}: no CMake file looks for {name}"
