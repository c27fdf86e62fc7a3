# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Programs made outside: their sources are copied, the copy is changed, and built. None of them is part of this
repository.

A patch is {"file": ..., "after": a piece of a line that occurs once, "insert": lines to put after that line}; what is
inserted calls functions of a header that a changed file includes first."""

import os
import shutil
import subprocess

BUILD_TIMEOUT_S = 600


class CannotBuild(Exception):
    pass


def insert(path, after, text, header):
    lines = path.read_text(errors="replace").splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if after in line]
    if len(places) != 1:
        raise CannotBuild(f"{path.name} has {len(places)} lines with {after!r}, not one")
    lines.insert(places[0] + 1, text.rstrip("\n") + "\n")
    first = f"#include <{header.name}>\n"
    path.write_text("".join(lines) if lines[0] == first else first + "".join(lines))


def built_copy(source, copy, patches, build, header, includes=()):
    """Copies the folder `source`, changes and builds the copy; `build` is a shell command in it."""
    shutil.copytree(source, copy, symlinks=True)
    for patch in patches:
        insert(copy / patch["file"], patch["after"], patch["insert"], header)
    include = os.pathsep.join(str(folder) for folder in (header.parent, *includes))
    done = subprocess.run(["bash", "-c", build], cwd=copy, env={**os.environ, "CPATH": include},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=BUILD_TIMEOUT_S)
    if done.returncode != 0:
        raise CannotBuild(f"{source.name} could not be built: {done.stdout[-1500:]}")
    return copy


def command(copy, run):
    """The program relative to the copy, and its arguments; one that begins with @ is a file in the copy."""
    return [str(copy / run[0]), *(str(copy / a[1:]) if a.startswith("@") else a for a in run[1:])]
