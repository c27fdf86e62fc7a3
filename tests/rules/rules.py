#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# The house rules as checks. Each rule is a function that takes the tree and yields what breaks it;
# RULES lists them. `rules.py <root>` checks all, `rules.py <root> <rule>` one, `rules.py --list`
# names them. Needs git or a plain folder, python3, and clang-format-19 for `format` alone.
import os
import re
import shutil
import subprocess
import sys

import dependencies
import files
import findings_doc
import findings_schema
import losses_doc
import mentions
import mpi_calls
import page
import patterns_doc
import prose
import records_doc
import region_names
import settings_doc
import shape

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 80
SKIPPED = 77  # what ctest understands as "skipped"

# Which folders a folder may include from, besides itself. tests/ and examples/ are free.
FLOORS = {
    "base": [],
    "trace": ["base"],
    "fold": ["trace", "base"],
    "collector": ["fold", "trace", "base"],
    "gpu": ["collector", "trace", "base"],
    "assemble": ["fold", "trace", "base"],
    "replay": ["trace", "base"],
    "blame": ["replay", "trace", "base"],
    "predict": ["blame", "replay", "trace", "base"],
    "report": ["predict", "blame", "replay", "trace", "base"],
    "cli": ["assemble", "fold", "report", "predict", "blame", "replay", "trace", "base"],
}

# Headers of others, each with the places that may include them.
VENDORS = [
    (r"mpi\.h$", ["collector/mpi/", "base/ranks/transport_mpi.cpp"]),
    (r"(omp-tools|ompt)\.h$", ["collector/openmp/"]),
    (r"(cupti.*|cuda)\.h$", ["gpu/cuda/"]),
    (r"CL/", ["gpu/opencl/"]),
    (r"papi\.h$", ["collector/counters/"]),
    (r"otf2/", ["trace/otf2"]),
    (r"(elfutils/|dwarf\.h$|libelf\.h$|gelf\.h$)", ["assemble/"]),
    (r"sqlite3\.h$", ["base/sqlite/"]),
    (r"CLI/", ["cli/"]),
    (r"spdlog/", ["base/log.cpp"]),
    (r"boost/", ["base/statistics.cpp", "cli/serve/loopback.cpp"]),
    (r"kissfft/", ["predict/periods/spectrum.cpp"]),
    (r"protozero/", ["report/exports/perfetto.cpp"]),
    (r"rapidjson/", ["trace/kineto/json.cpp"]),
    (r"Eigen/", ["predict/model/least_squares.cpp"]),
    (r"gtest/|gmock/|benchmark/", []),
]

CODE = (".h", ".c", ".cpp", ".def", ".inc", ".S")
HEADED = CODE + (".py", ".cmake", ".f90", ".sh")


class Tree:
    """The files of the repository that people write, by path relative to the root."""

    def __init__(self, root):
        self.root = root
        self.paths = sorted(p for p in self._list() if os.path.isfile(os.path.join(root, p)))

    def _list(self):
        found = subprocess.run(
            ["git", "-C", self.root, "ls-files", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True)
        if found.returncode == 0 and found.stdout:
            return set(found.stdout.splitlines())
        paths = set()
        for folder, folders, files in os.walk(self.root):
            folders[:] = [f for f in folders if not f.startswith((".git", "build"))]
            paths.update(os.path.relpath(os.path.join(folder, f), self.root) for f in files)
        return paths

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def ending(self, endings):
        return [p for p in self.paths if p.endswith(endings)]


def includes_of(text):
    """The operands of #include lines, and whether they are quoted."""
    for match in re.finditer(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', text, re.MULTILINE):
        yield match.group(2), match.group(1) == '"'


def check_includes(tree):
    """A folder includes only from its own floor and those below."""
    for path in tree.ending(CODE):
        folder = path.split("/")[0]
        if folder not in FLOORS:
            continue
        for header, _ in includes_of(tree.text(path)):
            target = header.split("/")[0]
            if target in FLOORS and target != folder and target not in FLOORS[folder]:
                yield f"{path}: {folder}/ must not include from {target}/ ({header})"


def check_vendors(tree):
    """Each vendor's headers are included in one place."""
    for path in tree.ending(CODE):
        if path.startswith(("tests/", "examples/")):
            continue
        for header, quoted in includes_of(tree.text(path)):
            if quoted and header.split("/")[0] in FLOORS:
                continue
            for pattern, places in VENDORS:
                if re.match(pattern, header) and not path.startswith(tuple(places)):
                    yield f"{path}: {header} may be included in {', '.join(places) or 'tests'} only"


def check_headers(tree):
    """Every file says whose it is and under which licence, and every header says what it is for."""
    scripts = [p for p in tree.paths if p in ("dev", ".ci/run") or p.endswith("CMakeLists.txt")]
    for path in tree.ending(HEADED) + scripts:
        head = tree.text(path).splitlines()[:6]
        if not any("SPDX-FileCopyrightText:" in line for line in head):
            yield f"{path}: no SPDX-FileCopyrightText in its first lines"
        if not any("SPDX-License-Identifier:" in line for line in head):
            yield f"{path}: no SPDX-License-Identifier in its first lines"
        if path.endswith(".h") and not opening_words(tree.text(path)):
            yield f"{path}: does not open with a paragraph that says what it is"


def opening_words(text):
    """The comment after the SPDX lines."""
    lines = [l for l in text.splitlines()[:8] if not re.search(r"SPDX-(File|License)", l)]
    return [l for l in lines if re.match(r"\s*(//|/?\*)\s*\w", l)]


def check_sizes(tree):
    """Files and functions stay readable."""
    for path in tree.ending(CODE + (".py", ".cmake", ".f90")):
        count = tree.text(path).count("\n")
        if count > MAX_FILE_LINES:
            yield f"{path}: {count} lines, at most {MAX_FILE_LINES}"
    for path in tree.ending((".h", ".c", ".cpp")):
        for name, count in functions_of(tree.text(path)):
            if count > MAX_FUNCTION_LINES:
                yield f"{path}: {name} has {count} lines, at most {MAX_FUNCTION_LINES}"


def without_comments_and_strings(text):
    """The code alone, line breaks kept, so that braces can be counted."""
    token = re.compile(
        r'R"(?P<d>[^()\\ ]{0,16})\(.*?\)(?P=d)"|//[^\n]*|/\*.*?\*/'
        r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|^\s*#(?:\\\n|[^\n])*",
        re.DOTALL | re.MULTILINE)

    def blank(match):
        # 1'000'000 is a number, not a character.
        if match.group().startswith("'") and text[match.start() - 1].isalnum():
            return match.group()
        return "\n" * match.group().count("\n")

    return token.sub(blank, text)


def functions_of(text):
    """(name, number of lines) of each function body outside other functions."""
    code = without_comments_and_strings(text)
    scopes = []  # True for a function, False for a namespace or type
    start = 0
    names = []
    for match in re.finditer(r"[{};]", code):
        if match.group() == "{":
            head = code[start:match.start()].strip()
            is_function = bool(scopes and scopes[-1][0]) or is_function_head(head)
            begin = match.start() - len(code[start:match.start()].lstrip())
            scopes.append((is_function, begin, head))
        elif match.group() == "}" and scopes:
            is_function, begin, head = scopes.pop()
            if is_function and not (scopes and scopes[-1][0]):
                names.append((function_name(head), code.count("\n", begin, match.start()) + 1))
        start = match.end()
    return names


def is_function_head(head):
    head = re.sub(r"template\s*<[^()]*?>\s*(?=\w)", "", head)
    if "(" not in head or re.search(r"\b(namespace|enum|extern)\b[^()]*$", head):
        return False
    before = head.split("(")[0]
    return "=" not in before and not re.search(r"\b(class|struct|union)\s+\w+[^(]*$", before)


def function_name(head):
    match = re.search(r"([~\w:]+(?:<[^()]*>)?)\s*\(", head)
    return match.group(1) if match else head[:40]


def check_format(tree):
    """Sources are as clang-format leaves them."""
    tool = shutil.which("clang-format-19")
    if not tool:
        raise FileNotFoundError("clang-format-19 is not installed")
    files = tree.ending((".h", ".c", ".cpp"))
    result = subprocess.run([tool, "--dry-run", "-Werror"] + files, cwd=tree.root,
                            capture_output=True, text=True)
    broken = re.findall(r"^([^\s:][^:\n]*):\d+:\d+: error:", result.stderr, re.MULTILINE)
    for path in sorted(set(broken)):
        yield f"{path}: not formatted (./dev format does it)"


# What finished work does not hold: promises for later, and paths of somebody's own machine.
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]) + r")\b")
OWN_PATHS = re.compile(r"(?<![\w.$}{/-])/(home|root|work|Users)/\w\w")


def check_words(tree):
    """Nothing is left for later, and nothing points to a machine."""
    for path in tree.paths:
        if path.endswith((".png", ".db", ".otf2", ".def.bin")):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            for pattern in (UNFINISHED, OWN_PATHS):
                match = pattern.search(line)
                if match:
                    yield f"{path}:{number}: '{match.group()}'"


def check_docs(tree):
    """Documents refer to files and functions, never to line numbers, which move."""
    names = {os.path.basename(p) for p in tree.ending(CODE + (".py",)) if not p.startswith("examples")}
    for path in tree.ending(".md"):
        in_block = False
        for line in tree.text(path).splitlines():
            in_block ^= line.startswith("```")
            if in_block or line.startswith("    "):
                continue
            for match in re.finditer(r"([\w./-]+\.\w+):\d+", line):
                if os.path.basename(match.group(1)) in names:
                    yield f"{path}: refers to a line number ({match.group()})"


def anchors_of(text):
    """What links to the headings of a document end with."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(tree):
    """Links between documents lead somewhere, and the index has all documents."""
    known = set(tree.paths) | {os.path.dirname(path) for path in tree.paths}
    index = set()
    for path in tree.ending(".md"):
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", tree.text(path)):
            full = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if full not in known:
                yield f"{path}: links to {target}, which is not there"
            elif anchor and anchor not in anchors_of(tree.text(full)):
                yield f"{path}: links to #{anchor} of {full}, which has no such heading"
            if path == "docs/README.md":
                index.add(full)
    for path in tree.ending(".md") if "docs/README.md" in tree.paths else []:
        if path.startswith("docs/") and path != "docs/README.md" and path not in index:
            yield f"docs/README.md: {path} is missing"


def check_patterns(tree):
    """The document about wait patterns says what the table says."""
    if patterns_doc.TABLE in tree.paths:
        written = tree.text(patterns_doc.DOCUMENT) if patterns_doc.DOCUMENT in tree.paths else ""
        if written != patterns_doc.document(tree.text(patterns_doc.TABLE)):
            yield f"{patterns_doc.DOCUMENT}: not what {patterns_doc.TABLE} says (./dev format does it)"


def check_settings(tree):
    """The document about settings says what the tables say."""
    if settings_doc.TABLE in tree.paths:
        written = tree.text(settings_doc.DOCUMENT) if settings_doc.DOCUMENT in tree.paths else ""
        if written != settings_doc.document(tree.text(settings_doc.TABLE), tree.text(settings_doc.EVENTS)):
            yield f"{settings_doc.DOCUMENT}: not what {settings_doc.TABLE} says (./dev format does it)"


def strings_of(text):
    """The string literals outside of comments."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\ ]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    return [match.group() for match in token.finditer(text) if not match.group().startswith("/")]


def check_variables(tree):
    """Names of environment variables of ours stand in the table of settings and nowhere else in the product."""
    for path in tree.ending(CODE):
        if path.split("/")[0] not in FLOORS or path == settings_doc.TABLE:
            continue
        for string in strings_of(tree.text(path)):
            for name in re.findall(r"\bCULPRIT_[A-Z_]+", string):
                yield f"{path}: {name} is spelled outside of {settings_doc.TABLE}"
def check_findings(tree):
    """The document about the findings says what their table says."""
    if findings_doc.TABLE in tree.paths:
        written = tree.text(findings_doc.DOCUMENT) if findings_doc.DOCUMENT in tree.paths else ""
        if written != findings_doc.document(written, {path: tree.text(path) for path in findings_doc.SOURCES}):
            yield f"{findings_doc.DOCUMENT}: not what {findings_doc.TABLE} says (./dev format does it)"


def check_losses(tree):
    """The document about losses says what the table says, and names of losses are spelled there alone."""
    if losses_doc.TABLE not in tree.paths:
        return
    written = tree.text(losses_doc.DOCUMENT) if losses_doc.DOCUMENT in tree.paths else ""
    if written != losses_doc.document(tree.text(losses_doc.TABLE)):
        yield f"{losses_doc.DOCUMENT}: not what {losses_doc.TABLE} says (./dev format does it)"
    names = losses_doc.ids(tree.text(losses_doc.TABLE))
    counted = set()
    for path in tree.ending((".h", ".cpp")):
        if path.startswith("tests/"):
            continue
        text = tree.text(path)
        counted.update(re.findall(r"\badd\(\s*LossKind::(\w+)", text))
        for name in re.findall(r'\brestore\(\s*"(\w*)"', text):
            yield f"{path}: \"{name}\" is counted by a string: give it a row in {losses_doc.TABLE}"
        for name in set(re.findall(r'"(\w+)"', text)).intersection(names):
            yield f"{path}: \"{name}\" is LossKind::{name}"
    for name in names:
        if name not in counted:
            yield f"{losses_doc.TABLE}: nothing counts {name}"


def check_records(tree):
    """The document about raw records says what the table says."""
    if records_doc.TABLE in tree.paths:
        written = tree.text(records_doc.DOCUMENT) if records_doc.DOCUMENT in tree.paths else ""
        if written != records_doc.document(tree.text):
            yield f"{records_doc.DOCUMENT}: not what {records_doc.TABLE} says (./dev format does it)"


def check_exports(tree):
    """Functions that stand in for the system's are exported: else nothing ever calls them."""
    table, exports = "collector/sampling/blocking_calls.def", "collector/preload.map"
    if table in tree.paths:
        exported = re.findall(r"^ +(\w+);", tree.text(exports), re.MULTILINE)
        for name in re.findall(r"^CALL(?:_NOEXCEPT)?\([^,]+,\s*(\w+),", tree.text(table), re.MULTILINE):
            if name not in exported:
                yield f"{exports}: lacks {name}, which {table} has"


def check_width(tree):
    """Lines of documents are at most as wide as a page; tables and what stands in fences may be wider."""
    for path in tree.ending(".md"):
        for number, width in prose.too_wide(tree.text(path)):
            yield f"{path}:{number}: {width} columns, at most {prose.WIDTH} (./dev format does it)"


RULES = {
    "includes": check_includes,
    "vendors": check_vendors,
    "headers": check_headers,
    "sizes": check_sizes,
    "format": check_format,
    "words": check_words,
    "files": lambda tree: files.check(tree, without_comments_and_strings),
    "docs": check_docs,
    "links": check_links,
    "mentions": lambda tree: mentions.check(tree, includes_of),
    "width": check_width,
    "patterns": check_patterns,
    "mpi_calls": mpi_calls.check,
    "region_names": lambda tree: region_names.check(tree, FLOORS),
    "settings": check_settings,
    "variables": check_variables,
    "findings": check_findings,
    "findings_schema": findings_schema.check,
    "losses": check_losses,
    "records": check_records,
    "exports": check_exports,
    "page": page.check,
    "dependencies": dependencies.check,
    "cycles": shape.check_cycles,
    "rooms": shape.check_rooms,
    "classes": lambda tree: shape.check_classes(tree, without_comments_and_strings),
    "folders": shape.check_folders,
    "openings": shape.check_openings,
    "quotes": shape.check_quotes,
}


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(RULES))
        return 0
    tree = Tree(os.path.abspath(arguments[0]))
    broken = skipped = 0
    for name in arguments[1:] or RULES:
        try:
            for problem in RULES[name](tree):
                print(f"{name}: {problem}")
                broken += 1
        except FileNotFoundError as missing:
            print(f"{name}: skipped: {missing}")
            skipped += 1
    print(f"{broken} breaches of {len(arguments[1:]) or len(RULES)} rules in {len(tree.paths)} files")
    return 1 if broken else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
