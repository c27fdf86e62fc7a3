# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Rules about the shape of the sources: no circles of includes, nor of rooms, no classes that hold a whole stage,
no folder that a stranger cannot take in, each file with its opening, and templates that the documents
quote as they are.

What still breaks one of them stands in a list with the reason; an entry that is no longer needed
breaks the rule as well, so the lists only shrink.
"""
import os
import re

PRODUCT = ("base/", "trace/", "fold/", "collector/", "gpu/", "assemble/", "replay/", "blame/", "predict/", "report/", "cli/")
CODE = (".h", ".cpp", ".def", ".inc", ".S")
MAX_CLASS_LINES = 200
MAX_FOLDER_FILES = 30
SCREEN = 60  # lines

CIRCLES_LEFT = {}
# To be divided.
CLASSES_LEFT = {
    "assemble/device/devices.cpp: Reader",
    "assemble/run/comms/comms.cpp: Unifier",
    "assemble/run/survey.cpp: Surveyor",
    "assemble/stuck/thread_end.cpp: Walk",
    "blame/device/device_use.cpp: DeviceReport",
    "blame/identities.cpp: Checker",
    "replay/match/collectives.cpp: CollectiveMatcher",
    "report/text_page/devices.cpp: Section",
}
FOLDERS_LEFT = {}


def sources(tree):
    return [path for path in tree.ending(CODE) if path.startswith(PRODUCT)]


def less_exceptions(tree, found, left, what):
    """Problems by key, but for those that are known; and the known ones that are gone."""
    for key, problem in found.items():
        if key not in left:
            yield problem
    for key in left:
        there = any(path.startswith(key.split(":")[0]) for path in tree.paths)
        if there and key not in found:
            yield f"{key}: no longer {what}: take it off the list in tests/rules/shape.py"


def component(path):
    """A header and its source are one; a table is for itself."""
    return os.path.splitext(path)[0] if path.endswith((".h", ".cpp")) else path


def circles(graph):
    """The strongly connected parts of more than one node, each sorted (Tarjan 1972)."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        on_stack.add(node)
        for target in sorted(graph[node]):
            if target not in number:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in on_stack:
                low[node] = min(low[node], number[target])
        if low[node] == number[node]:
            part = []
            while not part or part[-1] != node:
                part.append(stack.pop())
                on_stack.discard(part[-1])
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def includes(tree):
    """(component, included component) of each include of one of our own headers by another component."""
    paths = sources(tree)
    known = {component(path) for path in paths}
    for path in paths:
        for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', tree.text(path), re.MULTILINE):
            target = component(header)
            if target in known and target != component(path):
                yield component(path), target


def graph_of(nodes, edges):
    graph = {node: set() for node in nodes}
    for source, target in edges:
        if source != target:
            graph[source].add(target)
    return graph


def check_cycles(tree):
    """Files do not include each other in circles, a header and its source taken as one."""
    graph = graph_of({component(path) for path in sources(tree)}, includes(tree))
    found = {part[0]: f"{', '.join(part)}: include each other in a circle" for part in circles(graph)}
    yield from less_exceptions(tree, found, CIRCLES_LEFT, "in a circle")


def room(node):
    """A folder below one of the product's, with all folders below it; a file beside them is one for itself."""
    return "/".join(node.split("/")[:2])


def check_rooms(tree):
    """Rooms stand on each other: none needs, be it through others, one that needs it."""
    edges = {(room(source), room(target)) for source, target in includes(tree)}
    rooms = {room(component(path)) for path in sources(tree)}
    for part in circles(graph_of(rooms, edges)):
        yield f"{', '.join(part)}: need each other in a circle"


def classes_of(code):
    """(name, number of lines) of each class or struct, in code without comments and strings."""
    head = re.compile(r"\b(?:class|struct)\s+(?:[A-Z_]+\s+)?(\w+)(?:\s+final)?\s*(?::[^;{}()]*)?\{")
    for match in head.finditer(code):
        depth, at = 1, match.end()
        while depth and at < len(code):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        yield match.group(1), code.count("\n", match.start(), at) + 1


def check_classes(tree, blank):
    """A class is a small thing with an invariant, and no scope for the parameters of a stage."""
    found = {}
    for path in sources(tree):
        for name, lines in classes_of(blank(tree.text(path))):
            if lines > MAX_CLASS_LINES:
                found[f"{path}: {name}"] = (f"{path}: class {name} has {lines} lines, more than "
                                            f"{MAX_CLASS_LINES}")
    yield from less_exceptions(tree, found, CLASSES_LEFT, "a large class")


def check_folders(tree):
    """A folder is taken in at a glance."""
    count = {}
    for path in sources(tree):
        count[os.path.dirname(path)] = count.get(os.path.dirname(path), 0) + 1
    found = {folder: f"{folder}/: {files} files, more than {MAX_FOLDER_FILES}"
             for folder, files in count.items() if files > MAX_FOLDER_FILES}
    yield from less_exceptions(tree, found, FOLDERS_LEFT, "a large folder")


def check_openings(tree):
    """A source of more than a screen says first what it does and what it assumes."""
    for path in tree.ending(".cpp"):
        lines = tree.text(path).splitlines() if path.startswith(PRODUCT) else []
        if len(lines) <= SCREEN:
            continue
        after = next((line for line in lines[2:] if line.strip()), "")
        if not re.match(r"//\s*\w", after):
            yield f"{path}: {len(lines)} lines, and no paragraph that opens them"


def check_quotes(tree):
    """What a document quotes from a file stands there: a block under `<!-- from: path -->`."""
    known = set(tree.paths)
    for path in tree.ending(".md"):
        for source, block in re.findall(r"<!-- from: (\S+) -->\n+```\w*\n(.*?)```", tree.text(path), re.DOTALL):
            if source not in known:
                yield f"{path}: quotes {source}, which is not there"
            elif block.strip() not in tree.text(source):
                yield f"{path}: what it quotes from {source} does not stand there"
