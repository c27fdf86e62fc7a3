# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""culprit analyze behind a launcher. Several analysis ranks find what one finds: the whole JSON
report is compared. Traces are the generator's, so that every kind of operation between processes is
in them, and one that was really measured."""

import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import harness  # noqa: E402  (the folder above is not a package)
from harness import Skip, check, execute, succeed  # noqa: E402

PATTERNS = {
    "stencil": ("--ranks", "12", "--threads", "2", "--iterations", "20"),
    "master_worker": ("--ranks", "7", "--threads", "1", "--iterations", "30"),
    "alltoall": ("--ranks", "6", "--threads", "1", "--iterations", "20"),
    "tasks": ("--ranks", "3", "--threads", "4", "--iterations", "10"),
    "mixed_groups": ("--ranks", "8", "--threads", "1", "--iterations", "20"),
}


def launcher(mpi):
    found = shutil.which(f"mpirun.{mpi}")
    if not found:
        raise Skip(f"there is no mpirun.{mpi}")
    return [found] + (["--bind-to", "none"] if mpi == "openmpi" else [])


def generate(place, pattern, *more):
    folder = place.scratch / pattern
    succeed([place.build / "tests" / "trace_generator", pattern, folder, *PATTERNS[pattern], *more])
    return folder / "traces.otf2"


def report(place, experiment):
    return json.loads(succeed([place.culprit, "report", "--format", "json", experiment]).stdout)


def same(one, other, place=""):
    """Sums may be made in another order, nothing else may differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        check(one.keys() == other.keys(), f"{place}: {one.keys()} and {other.keys()}")
        for key in one:
            same(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        check(len(one) == len(other), f"{place}: {len(one)} and {len(other)} entries")
        for i, pair in enumerate(zip(one, other)):
            same(*pair, f"{place}[{i}]")
    elif isinstance(one, float) and isinstance(other, float):
        check(abs(one - other) <= 1e-9 * abs(one) + 1e-12, f"{place}: {one!r} and {other!r}")
    else:
        check(one == other, f"{place}: {one!r} and {other!r}")


def compare(place, trace, mpi, ranks):
    """Analyses `trace` alone and on `ranks` ranks; returns what several found."""
    alone, several = place.experiment("alone"), place.experiment("several")
    succeed([place.culprit, "analyze", trace, "-o", alone])
    said = succeed([*launcher(mpi), "-n", ranks, place.culprit, "analyze", "-v", trace, "-o", several])
    for words in (" analyze: read: ", " analyze: analyzed "):
        check(said.stderr.count(words) == 1, f"not one culprit spoke: {said.stderr}")
    found = report(place, several)
    check(found["waits"], "the trace holds no waits: nothing was compared")
    same(report(place, alone), found)
    shutil.rmtree(alone)
    shutil.rmtree(several)
    return found


def on(mpi):
    def test(place):
        for pattern in PATTERNS:
            trace = generate(place, pattern)
            for ranks in (2, 3):
                compare(place, trace, mpi, ranks)
    return test


def more_ranks_than_processes(place):
    compare(place, generate(place, "tasks"), "openmpi", 5)
    compare(place, generate(place, "stencil"), "openmpi", 16)


def recorded(place, *command, environment=None):
    """The same records twice: for one analysis rank, and for several."""
    alone, several = place.experiment("alone"), place.experiment("several")
    for old in (alone, several):
        shutil.rmtree(old, ignore_errors=True)
    execute([place.culprit, "record", "-o", alone, "--", *command], environment=environment)
    shutil.copytree(alone, several)
    return alone, several


def compare_records(place, alone, several, status=0):
    """Several ranks open records together: no archive comes about, and all that they find is what one
    rank finds."""
    done = execute([place.culprit, "analyze", alone])
    check(done.returncode == status, f"status {done.returncode}: {done.stderr}")
    wanted = report(place, alone)
    for ranks in ("2", "3", "5"):
        done = execute([*launcher("openmpi"), "--oversubscribe", "-n", ranks, place.culprit, "analyze",
                        several])
        check(done.returncode == status, f"status {done.returncode} on {ranks}: {done.stderr}")
        check(not (pathlib.Path(several) / "trace").exists(), "an archive was made")
        found = report(place, several)
        same(wanted, found, f"on {ranks} ranks: ")
    return wanted


def in_place(place):
    """An experiment that was only recorded."""
    found = compare_records(place, *recorded(
        place, *launcher("openmpi"), "-n", "3", place.program("late.openmpi"), "40", "2"))
    check(found["waits"], "there are no waits")


def in_place_hybrid(place):
    """With threads, regions and samples, on one rank more than there are cores."""
    found = compare_records(place, *recorded(
        place, *launcher("openmpi"), "--oversubscribe", "-n", "2", place.program("hybrid_chain"),
        environment={"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}))
    check(found["waits"], "there are no waits")


def in_place_devices(place):
    """Two processes that share a device."""
    found = compare_records(place, *recorded(
        place, *launcher("openmpi"), "-n", "2", place.program("opencl_shared_device")))
    check(any(row["stream"] for row in found["locations"]),
          "no device was recorded")


def in_place_stuck(place):
    """A run that hung and was killed: who waits for whom."""
    alone, several = recorded(place, "timeout", "-s", "KILL", "4", *launcher("openmpi"), "-n", "3",
                              place.build / "tests" / "programs" / "stuck" / "hang.openmpi", "ring")
    found = compare_records(place, alone, several, status=5)
    check(found["stuck"], "it is not said who is stuck")


def report_is_printed_once(place):
    trace = generate(place, "stencil")
    done = succeed([*launcher("openmpi"), "-n", "3", place.culprit, "analyze", "--report", trace,
                    "-o", place.experiment()])
    page = succeed([place.culprit, "report", place.experiment()]).stdout
    check(done.stdout.strip() == page.strip(), f"printed:\n{done.stdout}\nnot:\n{page}")
    check("would shorten the run" in page, f"not said what a change would bring:\n{page}")


def damaged(place):
    """Locations that cannot be read, on one of the ranks: told once, by the first."""
    trace = generate(place, "stencil")
    files = sorted((trace.parent / "traces").glob("*.evt"))
    files[-1].unlink()
    files[-3].write_bytes(files[-3].read_bytes()[:-40])
    alone = execute([place.culprit, "analyze", trace, "-o", place.experiment("alone")])
    several = execute([*launcher("mpich"), "-n", "3", place.culprit, "analyze", trace, "-o",
                       place.experiment("several")])
    check(alone.returncode == 3 and several.returncode == 3,
          f"statuses {alone.returncode}, {several.returncode}\n{several.stderr}")
    same(report(place, place.experiment("alone")), report(place, place.experiment("several")))


def refused(place, said, *command, environment=None):
    done = execute(command, environment=environment)
    check(done.returncode != 0 and said in done.stderr,
          f"status {done.returncode}, not said: {said}\n{done.stderr}")


def misunderstandings(place):
    """Copies that cannot or should not share one analysis say so at once, and none hangs."""
    trace = generate(place, "tasks")
    each = 'exec "$0" analyze "$1" -o "$2.$OMPI_COMM_WORLD_RANK" $3'
    farm = [*launcher("openmpi"), "-n", "2", "sh", "-c", each, place.culprit, trace,
            place.experiment("farm")]
    refused(place, "have different arguments", *farm)
    succeed([*farm, "--alone"])
    same(report(place, place.experiment("farm.0")), report(place, place.experiment("farm.1")))
    # The environment of a launcher without the launcher: MPI knows of one.
    refused(place, "the MPI that culprit was built with sees 1", place.culprit, "analyze",
            trace, "-o", place.experiment("one"), environment={"OMPI_COMM_WORLD_SIZE": "3"})
    check(not pathlib.Path(place.experiment("one")).exists(), "an experiment is left")


def memory(place):
    """Memory that does not suffice ends all ranks, whether it is known before or not."""
    trace = generate(place, "stencil", "--iterations", "1500")
    refused(place, "--memory allows", *launcher("openmpi"), "-n", "3", place.culprit, "analyze",
            trace, "--memory", "1M", "-o", place.experiment())
    # How much one rank may take is tried out, for MPI takes most of it: however little it is, all
    # ranks end, and somewhere between too little for MPI and enough, culprit says what is wrong.
    starve = 'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then ulimit -v $0; fi; exec "$@"'
    said = ""
    for limit in range(150_000, 400_000, 10_000):
        done = execute([*launcher("openmpi"), "-n", "2", "sh", "-c", starve, limit, place.culprit,
                        "analyze", "-j", "1", trace, "-o", place.experiment(str(limit))])
        if done.returncode == 0:
            break
        said += done.stderr
    check("out of memory" in said or "of memory on node" in said,
          f"nobody said that memory was missing: {said}")


def no_trace(place):
    """What goes wrong is said once, and nobody waits for anybody forever."""
    (place.scratch / "empty").mkdir()
    broken = place.scratch / "broken" / "traces.otf2"
    broken.parent.mkdir()
    broken.write_bytes(b"no archive")
    for mpi in ("openmpi", "mpich"):
        for what in ("nowhere", "empty", "broken/traces.otf2"):
            done = execute([*launcher(mpi), "-n", "3", place.culprit, "analyze",
                            place.scratch / what, "-o", place.experiment()])
            check(done.returncode == 1, f"status {done.returncode} of {what}: {done.stderr}")
            said = [l for l in done.stderr.splitlines() if l.startswith("culprit: ")]
            check(len(said) == 1, f"{len(said)} sentences of {what}: {done.stderr}")


if __name__ == "__main__":
    sys.exit(harness.main({
        "openmpi": on("openmpi"),
        "mpich": on("mpich"),
        "more_ranks_than_processes": more_ranks_than_processes,
        "in_place": in_place,
        "in_place_hybrid": in_place_hybrid,
        "in_place_devices": in_place_devices,
        "in_place_stuck": in_place_stuck,
        "report": report_is_printed_once,
        "damaged": damaged,
        "no_trace": no_trace,
        "misunderstandings": misunderstandings,
        "memory": memory,
    }))
