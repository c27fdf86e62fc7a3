# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# check_test.py: the GPU kit's script on a kit of stubs. Each check is broken in turn, a few that have
# nothing to do with each other at a time, in one of the ways in which checks break; then all of them, in
# each way; then programs of the kit are missing. Whatever happens, each check has its line, the others are
# what they were, nothing goes on running, and the archive comes, small enough and with the summary in it.

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = ["check.sh", "checks.sh"]
PROGRAMS = ["culprit/bin/culprit", "mpi/bin/mpiexec.hydra"] + [
    "bin/" + name for name in [
        "operations", "device", "kernel_times", "launches", "endings", "waits", "threads", "full_queue",
        "cuda_graph", "cuda_shared_device", "cuda_late_launch", "cuda_oversync", "cuda_overlap",
        "cuda_two_streams", "opencl_late_launch", "opencl_oversync"]]

# How a check breaks: the body of its function.
WAYS = {
    "unset variable": 'echo "$never_set"',
    "no such command": "culprit_is_not_here",
    "exit": "exit 3",
    "killed": "kill -KILL $BASHPID",
    "hang": "sleep 600",
    "hang in the shell": "while :; do :; done",
    "leaves processes": "for i in 1 2 3 4 5 6 7 8; do setsid sleep 600 & done; return 1",
}

STUB = r"""#!/usr/bin/env bash
set -u
name=${0##*/}
[[ $name != culprit || ${1:-} != --version ]] || { echo "culprit 0"; exit 0; }
case $name in
  culprit)
    [[ $1 != doctor ]] || exit 0
    shift
    [[ $1 == -o ]] && experiment=$2
    while [[ $1 != -- ]]; do shift; done
    shift
    mkdir -p "$experiment/raw/host.1"
    head -c 3000 /dev/urandom > "$experiment/raw/host.1/process"
    "$@"
    status=$?
    echo "The verdict: refine prepare work_of_its_own busy"
    echo "  Measurement overhead: about 1.0 % of the run time (estimate)."
    exit $status ;;
  operations)
    busy="0 busy(unsigned long)"
    case ${1##*/} in
      kernel_times) echo "operation kernel 200 1000000 $busy" ;;
      threads) echo "operation kernel 1680 1000000 $busy" ;;
      full_queue) echo "operation kernel 4000 1000000 $busy" ;;
      launches) echo "operation kernel 2010 1000000 0 nothing()" ;;
      graph_launches) echo "operation graph 5 100000000 0 graph" ;;
      graph_nodes) echo "operation kernel 50 100000000 50 busy(unsigned long)" ;;
      two_ranks) echo "operation kernel 6 120000000 $busy" ;;
    esac
    printf '%s\n' "launch 200 200" "queue 2" "wait 10 10 10 0" "room 1" "start_up 2 100" "clock 200 0" ;;
  device) echo "simulated device, compute capability 9.0" ;;
  kernel_times) echo "200 1000000" ;;
  launches)
    echo 1000
    [[ -z ${CULPRIT_KIT_RECORDS:-} ]] || echo 3000 > "$CULPRIT_KIT_RECORDS" ;;
  endings) exit 3 ;;
esac
exit 0
"""

failures = []


def expect(condition, what, output):
    if condition:
        return
    failures.append(what)
    print(f"FAILED: {what}\n{output}\n", file=sys.stderr)


def make_kit(folder):
    for script in SCRIPTS:
        shutil.copy(HERE / script, folder / script)
    for program in PROGRAMS:
        path = folder / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUB)
        path.chmod(0o755)
    (folder / "cuda/lib64").mkdir(parents=True)
    (folder / "cuda/lib64/libcupti.so.13").touch()


def break_checks(folder, broken):
    """Replaces the functions of these checks, each by that of its way."""
    ways = list(WAYS)
    lines = [(HERE / "checks.sh").read_text()]
    lines += [f"broken_{i}() {{ {WAYS[way]}; }}" for i, way in enumerate(ways)]
    lines += ['for i in "${!checks[@]}"; do', "  case ${checks[i]%% *} in"]
    lines += [f"    {name}) checks[i]='{name} 30 any broken_{ways.index(way)}' ;;" for name, way in broken.items()]
    lines += ["    *) ;;", "  esac", "done", ""]
    (folder / "checks.sh").write_text("\n".join(lines))


class Outcome:
    def __init__(self, kit, results, extra=None, signal_when=None):
        environment = dict(os.environ, CULPRIT_KIT_ENDINGS="1", CULPRIT_KIT_LAUNCHES="10",
                           **(extra or {}))
        script = subprocess.Popen([kit / "check.sh", results], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        if signal_when is not None:
            while script.poll() is None and not (results / signal_when).exists():
                time.sleep(0.05)
            script.terminate()
        self.output = script.communicate()[0]
        self.status = script.returncode
        summary = results / "summary.txt"
        self.text = summary.read_text() if summary.exists() else ""
        self.lines = {}
        for line in self.text.splitlines():
            word, _, rest = line.partition(" ")
            if word in ("ok", "FAILED", "skipped"):
                self.lines[rest.partition(":")[0]] = word
        self.archive = results / "results.tar.gz"
        self.members = []
        if self.archive.exists():
            with tarfile.open(self.archive) as archive:
                self.members = archive.getnames()
        self.all = self.output + self.text
        self.left = left_running(script.pid)

    def has_come(self, what, names):
        expect(list(self.lines) == names, f"{what}: a line for each check", self.all)
        expect("results/summary.txt" in self.members, f"{what}: the archive with the summary", self.all)
        expect(not self.left, f"{what}: nothing goes on running", f"{self.left}")


def left_running(script):
    """Processes that still have the run's mark."""
    mark = f"CULPRIT_KIT_RUN={script}.".encode()
    left = []
    for proc in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (proc / "environ").read_bytes():
                left.append((proc / "cmdline").read_bytes())
        except OSError:
            continue
    return left


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        kit = folder / "kit"
        kit.mkdir()
        make_kit(kit)
        names = subprocess.run([kit / "check.sh", "--list"], capture_output=True, text=True,
                               check=True).stdout.split()
        whole = Outcome(kit, folder / "whole")
        whole.has_come("nothing broken", names)
        expect(whole.status == 0 and "FAILED" not in whole.lines.values(), "nothing broken: all is ok", whole.all)
        for turn in range(TURNS):
            ways = list(WAYS)[turn % len(WAYS)], list(WAYS)[(turn + 3) % len(WAYS)]
            try_broken(kit, folder, names, {name: ways[i % 2] for i, name in enumerate(names[turn::TURNS])}, whole)
        for way in WAYS:
            try_broken(kit, folder, names, {name: way for name in names}, whole)
        shutil.copy(HERE / "checks.sh", kit / "checks.sh")
        try_missing(kit, folder, names)
        try_small_archive(kit, folder, names)
        try_interrupted(kit, folder, names)
    print(f"{len(names)} checks, {len(WAYS)} ways: {len(failures)} failures")
    return 1 if failures else 0


TURNS = 9
# What looks at the records of another check's run.
DEPEND = {"kernel_times": {"launches_matched", "clock", "start_up"}, "launch_rate": {"overhead", "cupti_records"}}


def try_broken(kit, folder, names, broken, whole):
    break_checks(kit, broken)
    what = ", ".join(f"{name} broken ({way})" for name, way in list(broken.items())[:3])
    outcome = Outcome(kit, folder / "broken", {"CULPRIT_KIT_SECONDS": "1" if len(broken) == len(names) else "10"})
    outcome.has_come(what, names)
    expect(outcome.status == 1, f"{what}: status 1", outcome.all)
    may_differ = set(broken).union(*(DEPEND.get(name, set()) for name in broken))
    for name in names:
        if name in broken:
            expect(outcome.lines.get(name) == "FAILED", f"{what}: {name} is told to fail", outcome.all)
        elif name not in may_differ:
            expect(outcome.lines.get(name) == whole.lines[name], f"{what}: {name} is as ever", outcome.all)
    shutil.rmtree(folder / "broken")


def try_missing(kit, folder, names):
    for programs in [["culprit/bin/culprit"], ["bin/operations"], ["bin/device", "bin/endings"], PROGRAMS]:
        for program in programs:
            (kit / program).rename(kit / (program + ".aside"))
        outcome = Outcome(kit, folder / "missing")
        outcome.has_come(f"without {programs[0]}", names)
        expect("FAILED" in outcome.lines.values(), f"without {programs[0]}: somebody says so", outcome.all)
        for program in programs:
            (kit / (program + ".aside")).rename(kit / program)
        shutil.rmtree(folder / "missing")


def try_small_archive(kit, folder, names):
    outcome = Outcome(kit, folder / "small", {"CULPRIT_KIT_ARCHIVE_KIB": "12"})
    outcome.has_come("a small archive", names)
    expect(outcome.archive.stat().st_size <= 12 * 1024, "a small archive: it is small", outcome.all)
    left_out = [line.split()[2].rstrip(":") for line in outcome.text.splitlines() if line.startswith("left out")]
    expect(left_out and all(path.startswith("raw/") for path in left_out),
           "a small archive: the largest are left out, and named", outcome.all)
    expect(all("results/" + path not in outcome.members for path in left_out), "a small archive: they are out",
           outcome.all)


def try_interrupted(kit, folder, names):
    break_checks(kit, {"waits": "hang"})
    outcome = Outcome(kit, folder / "interrupted", signal_when="results/logs/waits.check.err")
    expect("results/summary.txt" in outcome.members, "interrupted: the archive comes", outcome.all)
    expect(outcome.lines.get("waits") == "FAILED", "interrupted: the check at hand is named", outcome.all)
    expect(not outcome.left, "interrupted: nothing goes on running", f"{outcome.left}")


sys.exit(main())
