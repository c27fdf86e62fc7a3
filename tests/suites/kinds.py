# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of public suites that suites.py knows: which programs a folder of one has, and how each is started.

A kind is a function that takes a folder and yields its tests, and a row of KINDS. Suites move: lists of programs are read
from the suite where it has one, programs are found by what they are called, and what is not built is counted, so
that a newer suite gives more tests or fewer, and never a crash.
"""

import collections
import os
import pathlib
import re
import shlex

# program: the executable, or a source that is built first. ranks: None where no launcher starts it. launching: more
# arguments of the launcher. limit: seconds for a run, where the suite says so.
Test = collections.namedtuple("Test", "name program ranks arguments environment launching limit")


def test(name, program, ranks, arguments=(), environment=(), launching=(), limit=None):
    return Test(name, program, ranks, list(arguments), dict(environment), list(launching), limit)


def executables(folder):
    """Programs below a folder, those that libtool keeps in .libs under the name of their wrapper."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not os.access(path, os.X_OK) or ".so" in path.suffixes:
            continue
        with open(path, "rb") as file:
            if file.read(4) == b"\x7fELF":
                yield path


def sources(folder, suffixes=(".c", ".cc", ".cpp", ".C", ".f90", ".f", ".F90", ".f95")):
    if folder.is_file():
        return [folder]
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes and path.is_file())


# --- MPICH's test/mpi ---


def listed(line, folder, suite):
    """One line of a testlist: a name, a number of ranks, and words with an equals sign."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return None
    if len(words) < 2 or not words[1].isdigit():
        return None
    arguments, environment, launching, limit = [], {}, [], None
    for word in words[2:]:
        key, _, value = word.partition("=")
        if key == "arg":
            arguments.append(value)
        elif key == "env":
            name, _, content = value.partition("=")
            environment[name] = content
        elif key == "mpiexecarg":
            launching.append(value)
        elif key == "timeLimit" and value.isdigit():
            limit = int(value)
    name = " ".join([str((folder / words[0]).relative_to(suite)), words[1], *arguments,
                     *(f"{name}={content}" for name, content in environment.items())])
    return test(name, folder / words[0], int(words[1]), arguments, environment, launching, limit)


def mpich(folder):
    """What the lists of programs name, in this folder and below it, each line once."""
    known = set()
    for file in sorted(folder.rglob("testlist")):
        for line in file.read_text(errors="replace").splitlines():
            found = listed(line, file.parent, folder)
            if found and found.name not in known:
                known.add(found.name)
                yield found


# --- benchmarks ---

# Of the OSU benchmarks: few iterations of small messages; how many ranks those want that want more than two.
OSU_RANKS = {"osu_mbw_mr": 4, "osu_multi_lat": 4}


def osu(folder):
    for path in executables(folder):
        if not path.name.startswith("osu_"):
            continue
        many = OSU_RANKS.get(path.name, 4 if "collective" in path.parts else 2)
        yield test(path.name, path, many, ["-i", "20", "-x", "2", "-m", "4096"] if "startup" not in path.parts else [])


# Of Intel's MPI benchmarks: what makes each program short. Their names say what they measure.
IMB_SHORT = ["-npmin", "2", "-iter", "5", "-time", "0.5", "-msglog", "0:12"]
IMB_ARGUMENTS = {
    "IMB-MPI1": IMB_SHORT, "IMB-NBC": IMB_SHORT, "IMB-RMA": IMB_SHORT, "IMB-EXT": IMB_SHORT, "IMB-IO": IMB_SHORT,
    "IMB-P2P": ["-iter", "5", "-msglen", "12"],
    "IMB-MT": ["-repeat", "2", "-count", "16", "-thread_level", "multiple"],
}


def imb(folder):
    for path in executables(folder):
        if path.name in IMB_ARGUMENTS:
            yield test(path.name, path, 2, IMB_ARGUMENTS[path.name])


# Of the Barcelona OpenMP Tasks Suite: what makes each a matter of a second, by the name up to the first point.
BOTS_ARGUMENTS = {
    "alignment": ["-f", "inputs/alignment/prot.20.aa"],
    "concom": ["-n", "2000"],
    "fft": ["-n", "65536"],
    "fib": ["-n", "22"],
    "floorplan": ["-f", "inputs/floorplan/input.5"],
    "health": ["-f", "inputs/health/test.input"],
    "knapsack": ["-f", "inputs/knapsack/knapsack-012.input"],
    "nqueens": ["-n", "9"],
    "sort": ["-n", "262144"],
    "sparselu": ["-n", "16", "-m", "16"],
    "strassen": ["-n", "512"],
    "uts": ["-f", "inputs/uts/test.input"],
}


def bots(folder):
    for path in executables(folder / "bin" if (folder / "bin").is_dir() else folder):
        arguments = BOTS_ARGUMENTS.get(path.name.split(".")[0], [])
        yield test(path.name, path, None, [str(folder / word) if word.startswith("inputs/") else word
                                           for word in arguments])


# --- sources, one program each ---


def bugs(folder):
    """The MPI Bugs Initiative: each source says in a comment how it is started, and most hang or end with an error."""
    for path in sources(folder, (".c",)):
        text = path.read_text(errors="replace")
        started = re.search(r"mpirun -np (\d+)", text)
        if "BEGIN_MBI_TESTS" in text and started:
            yield test(str(path.relative_to(folder)), path, int(started[1]))


def openmp(folder):
    for path in sources(folder):
        name = path.name if folder.is_file() else str(path.relative_to(folder))
        yield test(name, path, None, environment={"OMP_NUM_THREADS": "4"})


def programs(folder):
    """Any folder of programs, on two ranks."""
    for path in executables(folder):
        yield test(str(path.relative_to(folder)), path, 2)


def alone(folder):
    """Any folder of programs, without a launcher."""
    for path in executables(folder):
        yield test(str(path.relative_to(folder)), path, None)


# What a folder of it is, for the help; and which command builds a test that is a source.
Kind = collections.namedtuple("Kind", "tests builds what")
KINDS = {
    "mpich": Kind(mpich, None, "MPICH's test/mpi or a part of it, built: the lists of programs in it"),
    "osu": Kind(osu, None, "OSU's MPI benchmarks, built"),
    "imb": Kind(imb, None, "Intel's MPI benchmarks, built"),
    "bots": Kind(bots, None, "the Barcelona OpenMP Tasks Suite, built"),
    "mbi": Kind(bugs, "mpi", "sources of the MPI Bugs Initiative"),
    "openmp": Kind(openmp, "openmp", "sources of OpenMP programs, one each: OpenMP's examples, OpenMP_VV, LLVM's and GCC's tests"),
    "programs": Kind(programs, None, "any MPI programs, each on two ranks"),
    "alone": Kind(alone, None, "any programs that no launcher starts"),
}


def tests_of(kind, folder):
    return list(KINDS[kind].tests(pathlib.Path(folder).resolve()))
