# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Programs made outside, with a delay injected on one rank: their sources lie where a JSON file says.

The file is a list of objects:
  name      any
  source    the folder of the sources, relative to the file; it is copied, and the copy is changed
  patches   [{"file": ..., "after": a piece of a line that occurs once, "insert": lines to put after that line}]
  build     a shell command, in the copy; the compiler finds <late.h> by itself
  run       the program, relative to the copy, and its arguments; one that begins with @ is a file in the copy
  ranks, late_rank, ms   how many, which is late, by how many milliseconds each time
  polls     true if its ranks test for their messages: what tests are due to counts as waiting (default: false)
What is inserted calls injected_delay(), of tests/truth/late.h, which a file must include first. All others wait
for the late rank, if nothing else keeps them apart: what is known is a lower bound where programs overlap work
and communication.
"""

import json
import os
import pathlib
import shutil
import subprocess
from dataclasses import dataclass, field

import harness

HERE = pathlib.Path(__file__).resolve().parent
BUILD_TIMEOUT_S = 600


@dataclass
class App:
    name: str
    source: pathlib.Path
    patches: list
    build: str
    run: list
    ranks: int
    late_rank: int
    ms: float
    modes: str = "FP"  # F: the delay is a region that the program names itself; P: by samples
    path: str = ""
    polls: bool = False
    ratio: bool = False
    program: str = "app"
    rounds: int = 0
    who: str = field(init=False)
    copies: dict = field(default_factory=dict)

    def __post_init__(self):
        self.who = f"{self.late_rank}:injected_delay=injected_delay*(ranks-1)"

    @property
    def key(self):
        return f"app.{self.name}"

    def environment(self, mode):
        return {"TRUTH_LATE_RANK": str(self.late_rank), "TRUTH_LATE_MS": str(self.ms),
                "TRUTH_REGIONS": "1" if mode == "F" else "0"}

    def command(self, root, folder):
        """Copies, changes and builds the program, once; what runs it."""
        if "copy" not in self.copies:
            copy = folder.parent / f"app-{self.name}"
            shutil.copytree(self.source, copy, symlinks=True)
            for patch in self.patches:
                insert(copy / patch["file"], patch["after"], patch["insert"])
            include = os.pathsep.join([str(HERE), str(root / "include")])
            done = subprocess.run(["bash", "-c", self.build], cwd=copy, env={**os.environ, "CPATH": include},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=BUILD_TIMEOUT_S)
            harness.check(done.returncode == 0, f"{self.name} could not be built: {done.stdout[-1500:]}")
            self.copies["copy"] = copy
        copy = self.copies["copy"]
        arguments = [str(copy / a[1:]) if a.startswith("@") else a for a in self.run[1:]]
        return [*harness.mpirun(self.ranks), copy / self.run[0], *arguments]


def insert(path, after, text):
    lines = path.read_text(errors="replace").splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if after in line]
    harness.check(len(places) == 1, f"{path.name} has {len(places)} lines with {after!r}, not one")
    lines.insert(places[0] + 1, text.rstrip("\n") + "\n")
    path.write_text("#include <late.h>\n" + "".join(lines) if "late.h" not in lines[0] else "".join(lines))


def read_apps(path):
    path = pathlib.Path(path)
    return [App(**{**entry, "source": path.parent / entry["source"]}) for entry in json.loads(path.read_text())]
