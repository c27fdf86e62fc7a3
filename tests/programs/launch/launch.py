# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Forms in which MPI programs are started: options of launchers, what stands between launcher and
program, scripts, odd names and folders. Whatever the form, all ranks end in one experiment and the
wait that the program contains by construction is found: in late.c, all ranks wait for rank 0."""

import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import harness  # noqa: E402  (the folder above is not a package)
from harness import Report, Skip, check, check_time, execute, succeed  # noqa: E402

LATE = ("150", "1")
WAIT_S = 0.15


def launcher(name):
    found = shutil.which(name)
    if not found:
        raise Skip(f"there is no {name}")
    return found


def judge(place, experiment, said, jobs=1, ranks=2):
    report = Report(place, experiment)
    report.check_identities()
    report.check_nothing_lost()
    check(report.data["run"]["locations"] == jobs * ranks,
          f"{report.data['run']['locations']} ranks in {experiment}\n{said}")
    waited = sum(w["time_s"] for w in report.waits("mpi.late_sender"))
    check_time(f"late sender in {experiment}", waited, jobs * (ranks - 1) * WAIT_S)
    return report


def measure(place, command, front=True, name="experiment", cwd=None, jobs=1, env=None):
    """`command` contains "{culprit}" where culprit stands, unless it stands in front."""
    words = [str(w) for w in command]
    culprit = [str(place.culprit), "run", "-o", place.experiment(name), "--"]
    if front:
        words = culprit + words
    else:
        at = words.index("{culprit}")
        words[at:at + 1] = culprit
    done = succeed(words, cwd=cwd, environment=env)
    check(done.stdout.count("late: 2 ranks") == jobs, f"the program's output is lost: {done}")
    report = judge(place, place.experiment(name), done.stdout + done.stderr, jobs)
    shutil.rmtree(place.experiment(name))
    return done, report


def openmpi_options(place):
    mpirun, late = launcher("mpirun.openmpi"), [place.program("late.openmpi"), *LATE]
    one = ["--bind-to", "none", "-x", "A=1", "-n", "1", *late]
    measure(place, [mpirun, *one, ":", "-n", "1", *late])
    measure(place, [mpirun, "--bind-to", "none", "-n", "1", *late, ":", "-x", "A=1", "-n", "1",
                    *late])
    measure(place, [mpirun, "-np", "2", "--map-by", ":OVERSUBSCRIBE", "--mca", "btl",
                    "self,vader,tcp", "-x", "A", "--bind-to", "none", *late], env={"A": "1"})
    measure(place, [mpirun, "-x", "A=1", "-n", "2", "--bind-to", "none", "{culprit}", *late],
            front=False)


def mpich_options(place):
    mpirun, late = launcher("mpirun.mpich"), [place.program("late.mpich"), *LATE]
    measure(place, [mpirun, "-genv", "A", "1", "-n", "1", *late, ":", "-env", "B", "2", "-n", "1",
                    *late])
    measure(place, [mpirun, "-genvnone", "-n", "2", *late])
    measure(place, [mpirun, "-genvlist", "PATH,A", "-n", "2", *late])
    measure(place, [mpirun, "-genv", "A", "1", "-n", "2", "{culprit}", *late], front=False)


def between(place):
    """What people put between launcher and program."""
    start = [launcher("mpirun.openmpi"), "--bind-to", "none", "-n", "2"]
    late = [place.program("late.openmpi"), *LATE]
    script = place.scratch / "setup.sh"
    script.write_text('#!/bin/bash\nulimit -c 0\nexport A="$1"; shift\n"$@"\nstatus=$?\n'
                      "echo setup.sh: done >&2\nexit $status\n")
    script.chmod(0o755)
    measure(place, [*start, "env", "A=1", "nice", "-n", "1", "taskset", "-c", "0-63", *late])
    measure(place, [*start, "bash", "-c", " ".join(late)])
    measure(place, [*start, "bash", "-c", "cd / && exec " + " ".join(late)])
    done, _ = measure(place, [*start, script, "1", *late])
    check(done.stderr.count("setup.sh: done") == 2, f"the script was not finished: {done.stderr}")
    measure(place, [*start, script, "1", "{culprit}", *late], front=False)


def several_jobs(place):
    """Programs in turn and at the same time, of two MPIs: all in one experiment, told apart."""
    openmpi = " ".join([launcher("mpirun.openmpi"), "--bind-to", "none", "-n", "2",
                        place.program("late.openmpi"), *LATE])
    mpich = " ".join([launcher("mpirun.mpich"), "-n", "2", place.program("late.mpich"), *LATE])
    measure(place, ["bash", "-c", f"{openmpi}; {mpich}"], jobs=2)
    measure(place, ["bash", "-c", f"{openmpi} & {mpich} & {mpich} & wait"], jobs=3)


def odd_names(place):
    """Blanks, quotes and other than ASCII in paths, arguments and the experiment's name."""
    folder = place.scratch / "my földer's"
    folder.mkdir()
    program = folder / "late $app"
    shutil.copy(place.program("late.openmpi"), program)
    arguments = ["two words", "it's", '"', "", "$HOME;*"]
    done, report = measure(place, [launcher("mpirun.openmpi"), "--bind-to", "none", "-n", "2",
                                   program, *LATE, *arguments], name="my földer's/ex, periment")
    check("".join(f" [{a}]" for a in arguments) in done.stdout, f"arguments: {done.stdout}")
    check("'it'\\''s'" in report.data["run"]["command"], report.data["run"]["command"])


def folders(place):
    """Relative names mean where culprit was started, wherever the program works."""
    start = [launcher("mpirun.openmpi"), "--bind-to", "none", "-n", "2"]
    late = [place.program("late.openmpi"), *LATE]
    done = succeed([place.culprit, "run", "-o", "here", "--", *start, "-wdir", "/", *late],
                   cwd=place.scratch)
    judge(place, place.scratch / "here", done.stderr)
    # Nobody can write into /proc, root included: the program runs all the same.
    for command in ([place.culprit, "run", "--", *start, *late],
                    [*start, place.culprit, "run", "--", *late]):
        refused = execute(command, cwd="/proc")
        check(refused.returncode == 0 and "cannot create" in refused.stderr and "late: 2 ranks" in
              refused.stdout, f"lost where no folder can be made: {refused}")
    done = succeed([place.culprit, "run", "-o", place.scratch / "there", "--", *start, *late],
                   cwd="/proc")
    judge(place, place.scratch / "there", done.stderr)
    refused = execute([*start, place.culprit, "run", "-o", place.scratch / "there", "--", *late])
    check(refused.returncode != 0 and "already exists" in refused.stderr, f"overwrites: {refused}")
    judge(place, place.scratch / "there", refused.stderr)


def bounded(place):
    """Each rank may write one window: what comes later is kept in bursts and in the profile alone."""
    start = [launcher("mpirun.openmpi"), "--bind-to", "none", "-n", "2"]
    done = succeed([place.culprit, "run", "--max-size", "1M", "--memory", "8", "-o",
                    place.experiment(), "--", *start, place.program("late.openmpi"), "0", "10000"])
    check("late: 2 ranks" in done.stdout, f"the program's output is lost: {done}")
    report = Report(place, place.experiment())
    report.check_identities()
    losses = report.losses()
    lost = {"early_ends", "dropped_records", "missing_records", "damaged_records"} & set(losses)
    check(not lost, f"losses: {losses}")
    kept = sum(file.stat().st_size for file in pathlib.Path(place.experiment()).glob("raw/**/*")
               if file.name.startswith("events.") and file.suffix != ".tail")
    check(0 < kept <= 2 << 20, f"{kept} bytes of records")


TESTS = {test.__name__: test for test in
         (openmpi_options, mpich_options, between, several_jobs, odd_names, folders, bounded)}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
