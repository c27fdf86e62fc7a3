# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Programs into which no library of culprit's can be loaded: linked statically, or on musl, as they
are started by culprit itself, by a shell, and beside others. They run as they do without culprit."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import harness  # noqa: E402  (the folder above is not a package)
from harness import check, execute, succeed  # noqa: E402

STATUS = 7


def judge(done, program):
    check(done.stdout.startswith("it ran\n"), f"{program} did not run:\n{done.stdout}{done.stderr}")
    for word in ("relocating", "symbol not found", "cannot be preloaded", "Error loading"):
        check(word not in done.stderr, f"{program} was tampered with:\n{done.stderr}")


def run_alone(place, program, sentence):
    done = execute([place.culprit, "run", "-o", place.experiment(), "--", program])
    judge(done, program)
    check(done.returncode == STATUS, f"status {done.returncode} instead of the program's {STATUS}")
    check(sentence in " ".join(done.stderr.split()), f"not told why:\n{done.stderr}")


def run_in_a_shell(place, program):
    """The shell is GNU's, and culprit's library in it."""
    done = execute([place.culprit, "run", "-o", place.experiment("shell"), "--", "sh", "-c",
                    f"{program}; exit $?"])
    judge(done, program)
    check(done.returncode == STATUS, f"status {done.returncode} of a child of a shell")


def run_beside_ranks(place, program):
    """Of the same job, what can be observed is."""
    experiment = place.experiment("beside")
    script = f"{program}; exec {place.program('late.openmpi')} 1 1"
    succeed([place.culprit, "run", "-o", experiment, "--",
             *harness.mpirun(2, "sh", "-c", script)])
    harness.Report(place, experiment).check_nothing_lost()


def static(place):
    program = place.program("unpreloaded.static")
    run_alone(place, program, "linked statically")
    run_in_a_shell(place, program)
    run_beside_ranks(place, program)


def musl(place):
    program = place.program("unpreloaded.musl")
    run_alone(place, program, "runs on musl")
    run_in_a_shell(place, program)
    run_beside_ranks(place, program)


def needs_nothing(place):
    """What LD_PRELOAD names must load everywhere: it needs no library and no symbol, and names the
    one that comes in its place by a note that only GNU's dynamic linker knows."""
    library = place.build / "lib" / "libculprit-preload.so"
    notes = subprocess.run(["readelf", "--dynamic", library], stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    check("(NEEDED)" not in notes, f"it needs a library:\n{notes}")
    check("[$ORIGIN/libculprit.so]" in notes, f"it brings nothing in:\n{notes}")
    symbols = subprocess.run(["readelf", "--dyn-syms", "--wide", library], stdout=subprocess.PIPE,
                             text=True, check=True).stdout
    # Each line ends in a name, but for that of symbol 0, which stands for none.
    named = [line.split()[-1] for line in symbols.splitlines() if "GLOBAL" in line or "WEAK" in line]
    check(not named, f"it has symbols:\n{symbols}")


if __name__ == "__main__":
    sys.exit(harness.main({f.__name__: f for f in (static, musl, needs_nothing)}))
