# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A run's records, and the archive that is made of them, give the same findings: each program is
recorded once, and analyzed from both."""
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness
from harness import Skip, check, execute, mpirun, succeed

# Program, ranks (0: no MPI), arguments.
PROGRAMS = {
    "late_sender": ("late_sender", 2, ()),
    "collective_imbalance": ("collective_imbalance", 3, ()),
    "omp_imbalance.clang": ("omp_imbalance.clang", 0, ()),
    "hybrid_chain": ("hybrid_chain", 3, ()),
    "wavefront": ("wavefront", 3, ()),
    "opencl_oversync": ("opencl_oversync", 0, ()),
    "opencl_shared_device": ("opencl_shared_device", 2, ()),
    "counted": ("counted", 0, ()),
    "names": ("names", 2, ()),
    "killed": ("dies", 2, ("kill",)),
    "long_jump": ("survival/survive", 0, ("mpi", "long_jump_from_mpi")),
    "phases": ("user/told.gcc", 2, ()),
    "functions": ("user/functions.gcc", 2, ()),
    **{name: ("waits.openmpi", ranks, (name,)) for name, ranks in {
        "intercommunicator": 4, "neighbours": 4, "matched_probe": 2, "persistent": 2, "file": 4,
        "fence": 4, "late_post": 2, "lock": 3}.items()},
    **{name: ("openmp_waits/openmp_waits", 0, (name,)) for name in (
        "critical", "nest_lock", "ordered", "dependence", "long_task", "sections", "nested",
        "smaller_teams")},
}
OPTIONS = {"counted": ("--counters", "rusage")}


def findings_of(place, experiment):
    done = execute([place.culprit, "analyze", experiment])
    check(done.returncode in (0, 3, 5), f"status {done.returncode}: {done.stderr}")
    return json.loads(succeed([place.culprit, "report", "--format", "json", experiment]).stdout)


def compare(name):
    def test(place):
        program, ranks, arguments = PROGRAMS[name]
        command = [place.program(program), *arguments]
        experiment = pathlib.Path(place.experiment(name))
        done = execute([place.culprit, "record", "--otf2", *OPTIONS.get(name, ()), "-o", experiment, "--",
                        *(mpirun(ranks, *command) if ranks else command)])
        if done.returncode == 77:
            raise Skip("there is no device")
        archive = experiment.with_name(name + ".archive")
        shutil.copytree(experiment, archive, ignore=shutil.ignore_patterns("raw"))
        found, known = findings_of(place, experiment), findings_of(place, archive)
        differing = [key for key in {**found, **known} if found.get(key) != known.get(key)]
        check(not differing, "\n".join(f"{key}: {str(found.get(key))[:500]}\ninstead of "
                                       f"{str(known.get(key))[:500]}" for key in differing))
        check(found["run"]["events"] > 0, "there is nothing in it")
    return test


if __name__ == "__main__":
    sys.exit(harness.main({name: compare(name) for name in PROGRAMS}))
