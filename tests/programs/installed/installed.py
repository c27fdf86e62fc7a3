# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The product as users get it: installed into an empty prefix, moved to another place, and used from
there while the build folder cannot be seen (an empty file system lies over it, in a mount namespace
of the test's own). What cannot be hidden on a machine that makes no such namespaces is at least
moved: the program must never name the build folder."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import harness  # noqa: E402  (the folder above is not a package)
from harness import Skip, check, execute, mpirun, succeed  # noqa: E402

OPTIONS = argparse.Namespace()  # what CMake tells: --cmake, --parts


def install(place):
    """The moved installation."""
    first, moved = place.scratch / "first", place.scratch / "moved"
    succeed([OPTIONS.cmake, "--install", place.build, "--prefix", first])
    return pathlib.Path(shutil.move(first, moved))


def hidden(place, command):
    """The command, run where the build folder is empty; as it is where that cannot be."""
    spaces = ["unshare", "--mount"]
    if os.geteuid() != 0:
        # Root by name alone: what root's own launchers have left in /tmp under that name is not his.
        spaces = ["env", f"TMPDIR={place.scratch}", *spaces, "--map-root-user"]
    hide = ["sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(place.build)]
    if execute([*spaces, *hide, "true"]).returncode == 0:
        return [*spaces, *hide, *map(str, command)]
    return list(map(str, command))


def own_copy(place, name):
    return pathlib.Path(shutil.copy(place.program(name), place.scratch / name))


def measure(place, prefix, command):
    experiment = place.scratch / "experiment"
    done = succeed(hidden(place, [prefix / "bin" / "culprit", "run", "-o", experiment, "--", *command]))
    check(str(place.build) not in done.stdout + done.stderr, f"it names the build folder: {done.stderr}")
    return harness.Report(harness.Place(prefix, place.scratch), experiment), done


def test_complete(place):
    prefix = install(place)
    for part in OPTIONS.parts.split(","):
        folder = "lib" if part.endswith(".so") else "bin"
        check((prefix / folder / part).is_file(), f"{folder}/{part} was not installed")
    built = {path.name for path in (place.build / "lib").glob("libculprit*.so")}
    installed = {path.name for path in (prefix / "lib").glob("libculprit*.so")}
    check(built == installed, f"built {sorted(built)}, installed {sorted(installed)}")
    for header in ("culprit.h", "culprit.f90"):
        check((prefix / "include" / header).is_file(), f"{header} was not installed")
    for path in [prefix / "bin" / "culprit", *(prefix / "lib").glob("*.so")]:
        dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        check(str(place.build) not in dynamic, f"{path.name} is bound to the build folder")


def test_hybrid(place):
    prefix = install(place)
    program = own_copy(place, "hybrid_chain")
    report, done = measure(place, prefix, mpirun(2, program))
    report.check_identities()
    report.check_nothing_lost()
    check("resolve_contacts" in done.stdout, f"the report does not name resolve_contacts:\n{done.stdout}")


def test_opencl(place):
    prefix = install(place)
    if not (prefix / "lib" / "libculprit-opencl.so").exists():
        raise Skip("culprit was built without OpenCL")
    report, _ = measure(place, prefix, [own_copy(place, "opencl_late_launch")])
    report.check_identities()
    check(report.data["devices"], "no device in the report")


def test_ranks(place):
    prefix = install(place)
    program = own_copy(place, "late_sender")
    experiment = place.scratch / "experiment"
    culprit = prefix / "bin" / "culprit"
    succeed(hidden(place, [culprit, "record", "-o", experiment, "--", *mpirun(2, program)]))
    succeed(hidden(place, mpirun(2, culprit, "analyze", experiment)))
    done = succeed(hidden(place, [culprit, "report", "--full", experiment]))
    check("Late sender" in done.stdout, f"no late sender in the report:\n{done.stdout}")


def test_doctor(place):
    """What is built is there; what is not was left out by the configuration, with its reason."""
    prefix = install(place)
    done = execute(hidden(place, [prefix / "bin" / "culprit", "doctor"]))
    text = " ".join(done.stdout.split())
    check(done.returncode == 0, f"status {done.returncode}: {text}")
    check("missing from this installation" not in text, text)
    for part, words in {"libculprit-opencl.so": "CL/cl_layer.h", "libculprit-cuda.so": "cupti.h",
                        "libculprit-papi.so": "papi.h", "libculprit-ranks-openmpi.so": "mpi.h of Open MPI",
                        "libculprit-ranks-mpich.so": "mpi.h of MPICH"}.items():
        built = part in OPTIONS.parts.split(",")
        check(built != (f"because {words} was not found" in text), f"{part} built: {built}, but: {text}")
    # And a part that is lost is told from one that was never built.
    lost = prefix / "lib" / "libculprit-ranks-openmpi.so"
    if lost.exists():
        lost.unlink()
        text = " ".join(execute([prefix / "bin" / "culprit", "doctor"]).stdout.split())
        check(f"{lost.name} is missing from this installation" in text, text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--parts", required=True)
    options, rest = parser.parse_known_args()
    OPTIONS.cmake, OPTIONS.parts = options.cmake, options.parts
    sys.argv[1:] = rest
    return harness.main({name[5:]: test for name, test in globals().items() if name.startswith("test_")})


if __name__ == "__main__":
    sys.exit(main())
