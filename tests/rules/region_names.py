# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What a region is, its model and role say, and tables that are asked by its whole name. Code that compares names
itself takes functions of the program for calls that are named alike, and drifts from the tables."""
import re

import macros

# Where names are at home.
HOMES = re.compile(r"trace/(mpi_calls|pseudo_regions|thread_calls|device_apis|device_calls|openmp_names|definitions|"
                   r"paraver/collectives)\.|"
                   r"assemble/openmp/ompt_names\.h$|assemble/names/others/device_runtime\.def$")
# They call functions by their names, or know them by those of the system's calls.
CALLERS = ("collector/", "gpu/", "assemble/look/system_calls.cpp")
# Their names are for people.
RECORDS = "trace/raw/"

# A whole literal that is, or begins, the name of a call or of a construct.
NAME = re.compile(r"P?MPI_([A-Z][a-z]\w*)?|!\$omp\b.*|(cu|cl|cuda|hip)[A-Z]\w*")
BEGINNING = re.compile(
    r'\bstarts_with(?:_any)?\(\s*(?:\w+,\s*)?"(cu|cuda|cl|hip|omp_\w*|futex\w*|\(|(pthread|sem|mtx|cnd|thrd)_\w*)"')
ASK = "ask the region's model and role, or a table of trace/"
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def names_of(tree, table, column):
    if table not in tree.paths:
        return set()
    return {words[column] for _, words in macros.calls(tree.text(table)) if len(words) > column}


def check(tree, floors):
    """Names of regions stand in tables; nothing else compares them, or how they begin."""
    names = names_of(tree, "trace/pseudo_regions.def", 1) | names_of(tree, "trace/thread_calls.def", 0)
    for path in tree.ending((".h", ".cpp", ".def")):
        if path.split("/")[0] not in floors or HOMES.match(path) or path.startswith((*CALLERS, RECORDS)):
            continue
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            code = re.sub(r"(^|\s)//.*", "", line)
            if code.lstrip().startswith("#"):
                continue
            for literal in LITERAL.findall(code):
                if NAME.fullmatch(literal) or literal in names:
                    yield f'{path}:{number}: "{literal}" is the name of a region: {ASK}'
            if BEGINNING.search(code):
                yield f"{path}:{number}: compares how a name begins: {ASK}"
