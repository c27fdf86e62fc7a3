# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Experiments from somebody else, full of traps, read by every subcommand that reads experiments.

Whatever lies there: culprit ends by itself, soon, within little memory and with one of its statuses;
what it prints moves no cursor; and outside of the folder nothing is written but what was asked for.
"""

import hashlib
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import attacks  # noqa: E402
import harness  # noqa: E402
from harness import check, execute, mpirun  # noqa: E402

STATUSES = range(0, 7)
CPU_S = 60  # all of a sound experiment take well under a second
WALL_S = 150  # on a machine that does other things, too
MEMORY = 3 << 30
LARGEST_FILE = 256 << 20
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if "CULPRIT_SANITIZER_RUNTIME" not in os.environ:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def state_of(folder):
    """Everything in it, with times: what was read may have been read, but not written."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_size, status.st_mtime_ns, content)
    return found


class Trap:
    """A sound experiment, and copies of it that turn out otherwise."""

    def __init__(self, place):
        self.place = place
        self.scratch = pathlib.Path(place.scratch)
        self.sound = self.scratch / "sound"
        self.program = place.program("steps")
        done = execute([place.culprit, "run", "-o", self.sound, "--", *mpirun(2, self.program, "end")],
                       environment={"CULPRIT_MEMORY": "1"})
        check(done.returncode == 0, f"status {done.returncode} of steps: {done.stderr}")
        done = execute([place.culprit, "analyze", "--otf2", self.sound])
        check(done.returncode == 0, f"status {done.returncode} of analyze --otf2: {done.stderr}")
        self.evil = self.scratch / "evil"
        self.outside = self.scratch / "outside"
        (self.outside / "folder").mkdir(parents=True)
        (self.outside / "file").write_text("alias precious=yes\n", encoding="utf-8")
        (self.outside / "folder" / "file").write_text("precious\n", encoding="utf-8")
        self.before = state_of(self.outside)
        self.server = socket.create_server(("127.0.0.1", 0))  # never answers
        self.server.setblocking(False)

    def was_asked(self):
        try:
            self.server.accept()
        except BlockingIOError:
            return False
        return True

    def renew(self):
        # Not by rmtree: it recurses into folders as deep as they are.
        if self.evil.exists() or self.evil.is_symlink():
            subprocess.run(["rm", "-rf", self.evil], check=True)
        shutil.copytree(self.sound, self.evil, symlinks=True)

    def commands(self, results):
        """What may be said of a folder, in the order in which people say it."""
        evil = self.evil
        yield "info", evil
        yield "report", evil
        yield "report", "--format", "json", evil
        yield "stuck", evil
        yield "diff", self.sound, evil
        yield "view", evil, "-o", results / "view.html"
        yield "view", evil
        yield "analyze", evil
        yield "report", evil
        yield "analyze", "--otf2", evil
        yield "periods", evil
        yield "whatif", "--latency", "x0.5", evil
        yield "model", *[evil] * 5, "--param", "n=1,2,3,4,5"
        yield "export", evil, "--format", "csv", "-o", results / "csv"
        yield "export", evil, "--format", "otf2", "-o", results / "otf2"
        yield "export", evil, "--format", "perfetto", "-o", results / "perfetto"

    def try_command(self, words):
        command = [self.place.culprit, *map(str, words)]
        env = {**os.environ, **harness.ENVIRONMENT, **harness.sanitizer_environment(command),
               "HOME": str(self.outside), "TMPDIR": str(self.scratch),
               "DEBUGINFOD_URLS": f"http://127.0.0.1:{self.server.getsockname()[1]}"}
        try:
            done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=WALL_S, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return "does not end"
        said = (done.stdout + done.stderr).decode("utf-8", errors="replace")
        if done.returncode not in STATUSES:
            return f"status {done.returncode}: {said[-300:]}"
        if "culprit: bug at" in said or "terminate called" in said:
            return said[-300:]
        if CONTROL.search(said):
            return f"prints {CONTROL.search(said).group()!r}"
        return ""

    def try_attack(self, attack):
        results = self.scratch / "results"
        shutil.rmtree(results, ignore_errors=True)
        results.mkdir()
        attack()
        for words in self.commands(results):
            wrong = self.try_command(words)
            if wrong:
                yield f"{' '.join(map(str, words[:2]))}: {wrong}"
            if state_of(self.outside) != self.before:
                yield f"{' '.join(map(str, words[:2]))}: changed what is outside: {state_of(self.outside)}"
                self.before = state_of(self.outside)


def try_all(place, part, parts):
    trap = Trap(place)
    trap.renew()
    wrong, count = [], 0
    names = [name for name, _ in attacks.attacks(trap.evil, trap.outside, trap.program)]
    twice = {name for name in names if names.count(name) > 1}
    check(len(names) > 150 and not twice, f"only {len(names)} attacks, or some of them twice: {twice}")
    for i, name in enumerate(names):
        if i % parts != part:
            continue
        trap.renew()
        attack = dict(attacks.attacks(trap.evil, trap.outside, trap.program))[name]
        count += 1
        wrong += [f"{name}: {sentence}" for sentence in trap.try_attack(attack)]
    subprocess.run(["rm", "-rf", trap.evil], check=True)
    print(f"{count} attacks")
    check(not trap.was_asked(), "a server was asked for what the records name")
    check(not wrong, "\n".join(wrong))


PARTS = 8
if __name__ == "__main__":
    sys.exit(harness.main({str(part): lambda place, part=part: try_all(place, part, PARTS)
                           for part in range(PARTS)}))
