# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Programs made outside, with a delay injected on one rank: their sources lie where a JSON file says.

The file is a list of objects:
  name      any
  source    the folder of the sources, relative to the file; it is copied, and the copy is changed
  patches, build, run   as tests/programs/made_outside.py has them; the compiler finds <late.h> by itself
  ranks, late_rank, ms   how many, which is late, by how many milliseconds each time
  polls     true if its ranks test for their messages: what tests are due to counts as waiting (default: false)
What is inserted calls injected_delay(), of tests/truth/late.h. All others wait for the late rank, if nothing else keeps
them apart: what is known is a lower bound where programs overlap work and communication.
"""

import json
import pathlib
from dataclasses import dataclass, field

import harness
import made_outside

HERE = pathlib.Path(__file__).resolve().parent


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
            try:
                self.copies["copy"] = made_outside.built_copy(
                    self.source, folder.parent / f"app-{self.name}", self.patches, self.build, HERE / "late.h",
                    [root / "include"])
            except made_outside.CannotBuild as failure:
                raise harness.Wrong(str(failure)) from failure
        return [*harness.mpirun(self.ranks), *made_outside.command(self.copies["copy"], self.run)]


def read_apps(path):
    path = pathlib.Path(path)
    return [App(**{**entry, "source": path.parent / entry["source"]}) for entry in json.loads(path.read_text())]
