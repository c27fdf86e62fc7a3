#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A run that goes on, looked at by culprit snapshot and culprit top: in a terminal, through a pipe, in a
narrow window, until the program ends."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import ENVIRONMENT, TIMEOUT_S, check, execute

LEFT = "\033[?1049l"  # the page that stood there before is back


class Run:
    """The imbalance of attach's known program, measured, going on for so long."""

    def __init__(self, place, seconds=120, name="experiment"):
        self.experiment = place.experiment(name)
        command = [place.culprit, "record", "-o", self.experiment, "--", place.program("attach/known"), "imbalance",
                   seconds]
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, **ENVIRONMENT}, start_new_session=True)

    def __enter__(self):
        check(self.process.stdout.readline() == "ready\n", "the program did not begin")
        time.sleep(3)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def files(self):
        """All that is in the experiment, but for the records, which the program writes."""
        return sorted(str(path) for path in pathlib.Path(self.experiment).rglob("*") if "raw" not in path.parts)


def snapshot(place):
    with Run(place) as run:
        before = run.files()
        done = execute([place.culprit, "snapshot", "--format", "json", run.experiment])
        check(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
        report = json.loads(done.stdout)
        later = execute([place.culprit, "snapshot", run.experiment])
        kept = place.scratch / "now.db"
        harness.succeed([place.culprit, "snapshot", "-o", kept, run.experiment])
        shown = harness.succeed([place.culprit, "report", "--by", "region", kept])
        check(run.process.poll() is None, "the program goes on")
        check(run.files() == before, f"nothing is written into the experiment: {before}, {run.files()}")
    check("late_part" in later.stdout and "late_part" in shown.stdout, f"no late_part: {later.stdout}")
    blamed = {}
    for row in report["idle_blame"]:
        path = row["callpath"]
        blamed[path] = blamed.get(path, 0) + row["time_s"]
    check(blamed and "late_part" in max(blamed, key=blamed.get), f"who is waited for: {blamed}")
    check(not report.get("stuck"), f"nobody is stuck in a run that goes on: {report.get('stuck')}")
    check(not [l for l in report["losses"] if l["severity"] == "data loss"], f"{report['losses']}")


def plain(place):
    with Run(place, 8) as run:
        done = execute([place.culprit, "top", "--every", "0.5", run.experiment])
    check(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    check("\033" not in done.stdout, "sequences for terminals in a pipe")
    check(done.stdout.count("late_part") >= 2, f"no pages: {done.stdout[:2000]}")
    check("runs for" in done.stdout and "has ended" in done.stdout, f"{done.stdout[-1500:]}")
    lengths = [float(text) for text in re.findall(r"runs for ([0-9.]+) s", done.stdout)]
    check(lengths == sorted(lengths), f"time goes backwards: {lengths}")


class Terminal:
    """culprit top in a terminal of its own."""

    def __init__(self, place, *arguments, rows=30, columns=110):
        self.master, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.resize(rows, columns, False)
        env = {**os.environ, **ENVIRONMENT, "TERM": "xterm"}
        for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
            env.pop(name, None)
        self.process = subprocess.Popen([str(place.culprit), "top", "--every", "0.5", *arguments], stdin=slave,
                                        stdout=slave, stderr=slave, env=env, start_new_session=True)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def resize(self, rows, columns, tell=True):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")

    def wait_for(self, word):
        """What was shown until the word came, which is then read."""
        end = time.monotonic() + TIMEOUT_S
        while word not in self.text:
            check(time.monotonic() < end and self.process.poll() is None,
                  f"no {word!r} within a long time: {self.text[-2500:]!r}")
            self.read(0.2)
        before, self.text = self.text.split(word, 1)
        return before

    def press(self, keys):
        os.write(self.master, keys.encode())

    def check_end(self):
        """The command ends, and the terminal is as it was."""
        end = time.monotonic() + TIMEOUT_S
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.2)
        check(self.process.poll() == 0, f"status {self.process.poll()}")
        self.read(0.5)
        check(LEFT in self.text, f"the page was not put back: {self.text[-200:]!r}")
        check(termios.tcgetattr(self.slave) == self.before, "the terminal's settings have changed")


def keys(place):
    with Run(place) as run, Terminal(place, run.experiment) as top:
        top.wait_for("late_part")
        for word in ("call paths", "ranks", "threads", "waits", "devices", "functions"):
            top.press("\t")
            top.wait_for(word)
        top.press("\r")
        top.wait_for("call paths")
        top.press("\177?")
        top.wait_for("stop and go on refreshing")
        top.press("x\033[B\033[A\033[C\033[D\033[6~\033[5~rp")
        top.wait_for("paused")
        top.press("p")
        top.wait_for("old")
        top.press("q")
        top.check_end()
        check(run.process.poll() is None, "the program goes on")
    with Run(place, 60, "second") as run, Terminal(place, run.experiment) as top:
        top.wait_for("late_part")
        top.process.send_signal(signal.SIGINT)
        top.check_end()


def resize(place):
    with Run(place) as run, Terminal(place, run.experiment) as top:
        top.wait_for("late_part")
        for rows, columns in ((5, 12), (1, 1), (24, 40), (60, 300)):
            top.resize(rows, columns)
            top.read(2)
            top.text = ""
            top.read(2)
            pages = [re.sub(r"\033\[[0-9?]*[A-Za-z]", "", page) for page in top.text.split("\033[H")[1:-1]]
            check(pages, f"no page in {columns} columns: {top.text[:300]!r}")
            for line in pages[-1].split("\r\n"):
                check(len(line.rstrip("\r")) <= max(columns, 10), f"{len(line)} columns in a terminal of {columns}: {line!r}")
            check(pages[-1].count("\n") < max(rows, 4), f"too many lines for {rows}: {pages[-1]!r}")
        top.wait_for("late_part")
        top.press("q")
        top.check_end()


def ended(place):
    """A program that ends is still there to be looked at, and says that it has ended."""
    with Run(place, 6) as run, Terminal(place, run.experiment) as top:
        top.wait_for("runs for")
        top.wait_for("has ended")
        top.press("\t")
        top.wait_for("call paths")
        top.press("q")
        top.check_end()


def killed(place):
    with Run(place, 60) as run, Terminal(place, run.experiment) as top:
        top.wait_for("runs for")
        os.killpg(run.process.pid, signal.SIGKILL)
        top.wait_for("has ended")
        top.press("q")
        top.check_end()


def metrics(place):
    file = place.scratch / "job.prom"
    with Run(place, 8) as run:
        harness.succeed([place.culprit, "snapshot", "--metrics", file, run.experiment])
        first = file.read_text()
        check('culprit_running{' in first and "} 1\n" in first.split("culprit_running{", 1)[1][:200], first)
        top = subprocess.Popen([str(place.culprit), "top", "--every", "0.2", "--metrics", str(file), run.experiment],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        looked = 0
        while top.poll() is None:
            text = file.read_text()  # a reader never sees half of it
            check(text.endswith("\n") and "culprit_efficiency_ratio" in text and text.startswith("# HELP"),
                  f"half a file: {text!r}")
            looked += 1
            time.sleep(0.05)
        check(top.returncode == 0, f"status {top.returncode}: {top.stderr.read()}")
        top.stderr.close()
    last = file.read_text()
    check(re.search(r"^culprit_running\{.*\} 0$", last, re.MULTILINE), f"it has ended: {last}")
    check(re.search(r'^culprit_idle_blamed_ratio\{.*function="late_part.*\} 0\.\d+$', last, re.MULTILINE), last)
    check(not [path for path in file.parent.iterdir() if path.name.startswith("job.prom") and path != file],
          "drafts are left behind")
    check(looked > 3, "it was never looked at")


def refused(place):
    empty = place.scratch / "empty"
    empty.mkdir()
    for command in ("top", "snapshot"):
        for what in (empty, place.scratch / "missing"):
            done = execute([place.culprit, command, what])
            check(done.returncode == 1 and "culprit: error: " in done.stderr, f"{command}: {done.stderr}")
    with Run(place) as run:
        done = execute([place.culprit, "snapshot", "--metrics", place.scratch / "no" / "file", run.experiment])
        check(done.returncode == 1 and "file" in done.stderr, f"{done.stderr}")


TESTS = {"snapshot": snapshot, "plain": plain, "keys": keys, "resize": resize, "ended": ended, "killed": killed,
         "metrics": metrics, "refused": refused}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
