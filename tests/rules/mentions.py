# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Files and folders of the repository that prose or a comment names exist.

Two things count as a name of ours, so that nothing else raises an alarm: a path that begins with one of the
repository's folders (replay/detect/, trace/raw/raw.h, docs/*.md), and a name that ends as sources do
(thread_log.h, ranks/transport.h). The second may be the end of a path, and a header that some source
includes in angle brackets is a system's. In backticks of documents, raw/reader may stand for all files
of that name. Names with placeholders (<name>, $place, n) are no names.
"""
import fnmatch
import os
import re

ENDINGS = "h|c|cpp|def|inc|S|py|cmake|f90|F90|sh|js|jsx|mjs|md|map|supp"
PATH = r"[\w.*{},+-]+(?:/[\w.*{},+-]+)*/?"
SOURCE = re.compile(rf"(?<![\w/.$}}>~*-])(?:\.\./)*({PATH}\.(?:{ENDINGS}))(?![\w/]|\.\w|\(|:\d)")

# What experiments contain, in folders that are called as ours are.
EXPERIMENT = re.compile(r"(trace/traces|raw/(heartbeat\b|machine\b|process\b|\*))")

# Files that others wrote, or that a user writes.
FOREIGN = {
    "libgomp.c", "timestep.c", "bfs_reference.c", "tests/4.5", "tests/5.0", "tests/6.0", "tests/traces",  # suites
    "docs/file-formats.md",  # of Extra-P
    "packages/culprit/package.py",  # in a repository of Spack's
    "cuda.h", "mpif.h", "Node.js", "share/culprit/python", "share/culprit/ci", "share/modulefiles/culprit",  # installed ones
}

COMMENT = {
    "c": re.compile(r'//([^\n]*)|/\*(.*?)\*/|R"(?P<d>[^()\\ ]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"', re.DOTALL),
    "fortran": re.compile(r"""!([^\n]*)|"[^"\n]*"|'[^'\n]*'()"""),
    "script": re.compile(r'(?:^|(?<=\s))#([^\n]*)|"""(.*?)"""|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'", re.DOTALL),
}


def comments_of(path, text):
    """(line, text) of each comment."""
    kind = "script"
    if path.endswith((".h", ".c", ".cpp", ".def", ".inc", ".S", ".js", ".jsx", ".mjs")):
        kind = "c"
    elif path.lower().endswith(".f90"):
        kind = "fortran"
    for match in COMMENT[kind].finditer(text):
        comment = match.group(1) if match.group(1) is not None else match.group(2)
        if comment:
            yield text.count("\n", 0, match.start()) + 1, re.sub(r"\n\s*(//|\*|#)", "\n", comment)


def prose_of(text):
    """(line, text) of each line of a document that is no code."""
    fenced = code = False
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.lstrip().startswith("```")
        code = line.startswith("    ") and (code or not before.strip())
        before = line
        if not fenced and not code:
            yield number, line


class Known:
    """All files and folders, and all ends of their paths."""

    def __init__(self, tree):
        folders = {os.path.dirname(path) for path in tree.paths}
        for folder in list(folders):
            while folder:
                folders.add(folder)
                folder = os.path.dirname(folder)
        self.folders = folders - {""}
        self.tops = {folder for folder in self.folders if "/" not in folder}
        self.rooms = {part for folder in self.folders for part in folder.split("/")}
        decisions = {path[:path.index("-")] for path in tree.paths if path.startswith("docs/decisions/")}
        self.whole = {*tree.paths, *self.folders, *(os.path.splitext(path)[0] for path in tree.paths), *decisions}
        self.ends = {end for path in self.whole for end in ends(path)}

    def has(self, name, path):
        """Whether a file or folder is called so, or ends so; a path that begins with one of our folders is whole,
        but where the naming file is in a folder that has such a room (page/ in report/)."""
        whole = name.split("/")[0] in self.tops and "/" in name
        places = ("", path.split("/")[0] + "/") if whole else ()
        found = [place + name for place in places] or [name]
        return all(any(self._is(one, whole) for one in alternatives)
                   for alternatives in zip(*(spread(one) for one in found)))

    def _is(self, name, whole):
        names = self.whole if whole else self.ends
        return any(fnmatch.fnmatchcase(end, name) for end in names) if "*" in name else name in names


def ends(path):
    parts = path.split("/")
    return ["/".join(parts[i:]) for i in range(len(parts))]


def spread(name):
    """a{b,c} as ab and ac."""
    match = re.search(r"\{([^{}]*)\}", name)
    if not match:
        return [name]
    return [done for part in match.group(1).split(",")
            for done in spread(name[:match.start()] + part + name[match.end():])]


def names_in(text, known, ticks):
    """The names of files and folders of ours in a text."""
    tops = "|".join(map(re.escape, sorted(known.tops)))
    for match in re.finditer(rf"(?<![\w/.$}}>~*-])((?:{tops})/(?:{PATH})?)(?![\w<$])", text):
        yield match.group(1)
    for match in SOURCE.finditer(text):
        yield match.group(1)
    for match in re.finditer(rf"`({PATH})`", text) if ticks else ():
        if "/" in match.group(1) and match.group(1).split("/")[0] in known.rooms:
            yield match.group(1)


def check(tree, includes_of):
    """Files and folders that prose or a comment names exist."""
    known = Known(tree)
    systems = {end for path in tree.ending((".h", ".c", ".cpp")) for header, quoted in includes_of(tree.text(path))
               if not quoted for end in ends(header)}
    for path in tree.paths:
        if path.endswith(".md"):
            texts, ticks = prose_of(tree.text(path)), not path.startswith("docs/evidence/")
        elif path.endswith(tuple(f".{e}" for e in ENDINGS.split("|"))) or path.endswith("CMakeLists.txt") or path == "dev":
            texts, ticks = comments_of(path, tree.text(path)), False
        else:
            continue
        for line, text in texts:
            for name in sorted(set(names_in(text, known, ticks))):
                name = name.rstrip(".,/").removesuffix("/*")
                if not (known.has(name, path) or name in systems or name in FOREIGN or EXPERIMENT.match(name)):
                    yield f"{path}:{line}: there is no {name}"
