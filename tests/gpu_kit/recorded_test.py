# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# recorded_test.py <culprit> <operations>: each experiment in recorded/ says what is beside it, by its
# archive and by its records, assembled anew. Times may be assembled better than they were: of the records
# only what was counted is compared.

import pathlib
import subprocess
import sys
import tarfile
import tempfile

RECORDED = pathlib.Path(__file__).resolve().parent / "recorded"
OTHER_FORMAT = "made by another version of culprit"


def counted(says):
    """Without nanoseconds: in lines of operations they are behind the count, in two others at the end."""
    lines = []
    for line in says.splitlines():
        words = line.split()
        if words[0] == "operation":
            del words[3]
        elif words[0] in ("start_up", "clock"):
            words = words[:2]
        lines.append(" ".join(words))
    return lines


def main():
    culprit, operations = sys.argv[1:]
    failures = 0
    fixtures = sorted(RECORDED.glob("*.tar.xz"))
    for fixture in fixtures:
        wanted = fixture.with_name(fixture.name.removesuffix(".tar.xz") + ".says").read_text()
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(fixture) as archive:
                archive.extractall(folder)
            experiment = next(pathlib.Path(folder).iterdir())
            said = subprocess.run([operations, experiment], capture_output=True, text=True)
            if said.stdout != wanted:
                failures += 1
                print(f"{fixture.name}: its archive says otherwise\n{said.stdout}{said.stderr}", file=sys.stderr)
            made = subprocess.run([culprit, "export", "--format", "otf2", "-o", experiment / "again/trace", experiment],
                                  capture_output=True, text=True)
            if OTHER_FORMAT in made.stderr:
                continue
            said = subprocess.run([operations, experiment / "again"], capture_output=True, text=True)
            if made.returncode != 0 or counted(said.stdout) != counted(wanted):
                failures += 1
                print(f"{fixture.name}: its records say otherwise\n{made.stderr}{said.stdout}{said.stderr}",
                      file=sys.stderr)
    print(f"{len(fixtures)} experiments, {failures} failures")
    return 0 if fixtures and failures == 0 else 1


sys.exit(main())
