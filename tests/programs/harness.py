# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs with and without culprit and reads what it says of them.

Only the standard library. A test is a function that gets a `Place` (where things were built) and
raises `Wrong` with one sentence. Whatever holds on any machine is `Wrong` at the first try. `Off` is
a figure that other programs on the machine can spoil: such a test is tried again a few times, and
if others had a good part of the processors each time, it is skipped rather than failed.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77  # CTest's SKIP_RETURN_CODE, set in CMakeLists.txt
ATTEMPTS = 3
TIMEOUT_S = 200  # of a hang; busy machines take ten times as long as quiet ones
# Share of all processors that others may take while times are judged.
QUIET = 0.05

# A figure known by construction must be met within this share of it, plus what a busy machine adds
# to each wait.
RELATIVE = 0.05
SLACK_PER_WAIT_S = 0.010
# Which function the time went to is known from samples: half a period more or less at either end.
SLACK_PER_DELAY_S = 0.015
# Sums of costs are sums of doubles; lengths are whole nanoseconds.
IDENTITY_S = 1e-6

ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMP_WAIT_POLICY": "passive",
    "CULPRIT_NAME_CACHE": "off",
}


class Wrong(Exception):
    """What was expected and what came instead, in one sentence."""


class Off(Wrong):
    """A time that differs from the expected; worth another try."""


class Skip(Exception):
    """Why this machine cannot run the test."""


def check(condition, sentence):
    if not condition:
        raise Wrong(sentence)


class Place:
    """Where culprit and the programs were built, and an empty folder for this test's files."""

    def __init__(self, build, scratch):
        self.build = pathlib.Path(build)
        self.culprit = self.build / "bin" / "culprit"
        self.scratch = pathlib.Path(scratch)

    def program(self, name):
        for folder in ("examples", "tests/programs"):
            path = self.build / folder / name
            if path.exists():
                return str(path)
        raise Skip(f"{name} was not built: its compiler or MPI is missing")

    def experiment(self, name="experiment"):
        return str(self.scratch / name)


def mpirun(ranks, *command):
    launcher = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if not launcher:
        raise Skip("there is no mpirun")
    return [launcher, "-n", str(ranks), "--bind-to", "none", *map(str, command)]


def sanitizer_environment(command):
    """In builds with a sanitizer the collector needs its runtime in all programs that it reaches;
    which of them leak is not the question."""
    if "CULPRIT_SANITIZER_RUNTIME" not in os.environ or not any("culprit" in str(w) for w in command[:1]):
        return {}
    options = {name: os.environ[name] + ":detect_leaks=0"
               for name in ("ASAN_OPTIONS",) if name in os.environ}
    return {"LD_PRELOAD": os.environ["CULPRIT_SANITIZER_RUNTIME"], **options}


def execute(command, cwd=None, environment=None):
    env = {**os.environ, **ENVIRONMENT, **sanitizer_environment(command), **(environment or {})}
    return subprocess.run(list(map(str, command)), cwd=cwd, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", timeout=TIMEOUT_S)


def succeed(command, **where):
    done = execute(command, **where)
    check(done.returncode == 0,
          f"status {done.returncode} of: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


ROUNDING = 1e-9


def shares_in(value, path=""):
    """All numbers of a JSON document that are called a share, by where they stand."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        is_share = isinstance(value, (int, float)) and path.endswith("share")
        return {path: value} if is_share else {}
    found = {}
    for key, part in parts:
        found.update(shares_in(part, f"{path}/{key}"))
    return found


class Report:
    """The JSON report of an experiment, with the questions that the tests ask of it."""

    def __init__(self, place, experiment):
        self.place, self.experiment = place, experiment
        done = succeed([place.culprit, "report", "--format", "json", experiment])
        try:
            self.data = json.loads(done.stdout)
        except ValueError as error:
            raise Wrong(f"the JSON report does not parse: {error}: {done.stdout[:400]}") from error
        for key in ("run", "identities", "waits", "delays", "critical_path", "losses"):
            check(key in self.data, f"the JSON report has no {key!r}")
        self.check_proportions()

    def check_proportions(self):
        """No part exceeds its whole, whatever was measured."""
        shares = shares_in(self.data)
        wrong = {path: value for path, value in shares.items() if not 0 <= value <= 1 + ROUNDING}
        check(not wrong, f"shares that are none: {wrong}")
        verdict = json.dumps(self.data.get("verdict", ""), ensure_ascii=False)
        large = [p for p in re.findall(r"(\d+(?:\.\d+)?) %", verdict) if float(p) > 100]
        check(not large, f"more than all of something: {large} in {verdict}")

    def check_same_figures(self):
        """The first screen says what JSON says: the verdict, the efficiency and the savings."""
        verdict = self.data["verdict"]
        page = " ".join(succeed([self.place.culprit, "report", self.experiment]).stdout.split())
        whole = " ".join(succeed([self.place.culprit, "report", "--full", self.experiment]).stdout.split())
        for sentence in (verdict["text"], verdict["warning"] or ""):
            check(sentence in page and sentence in whole, f"'{sentence}' is not in\n{page}\nor\n{whole}")
        efficiency = next((row["value"] for row in self.data["efficiencies"] if row["name"] == "parallel"), None)
        if efficiency is not None and verdict["kind"] not in ("failed", "stuck"):
            check(f"Efficiency: {100 * efficiency:.1f} % of" in page, f"the efficiency is {efficiency}, and not in\n{page}")
            useful = sum(row["time_s"] for row in self.data["tiles"] if row["tile"] == "useful")
            threads = sum(row["time_s"] for row in self.data["tiles"])
            check(efficiency >= useful / threads - ROUNDING, f"{useful} of {threads} s are useful, and {efficiency} efficient")
        for saving in verdict["savings"][:1]:
            check(f"{saving['what']}, {saving['change']}" in page, f"{saving} is not in\n{page}")

    def check_identities(self):
        found = self.data["identities"]
        costs = found["delay_costs_s"] + found["unattributed_s"] - found["waiting_s"]
        check(abs(costs) <= IDENTITY_S, f"delay costs differ from the waiting time by {costs} s")
        length = found["critical_path_s"] - found["wall_s"]
        check(abs(length) <= IDENTITY_S, f"the critical path differs from the run by {length} s")

    def check_nothing_lost(self):
        lost = [l for l in self.data["losses"]
                if l["severity"] == "data loss" or "unmatched" in l["name"]]
        check(not lost, f"losses in a sound run: {lost}")

    def losses(self):
        return {loss["name"]: loss for loss in self.data["losses"]}

    def waits(self, pattern, location=None, callpath=""):
        return [w for w in self.data["waits"]
                if w["pattern"] == pattern and location in (None, w["location"])
                and callpath in w["callpath"]]

    def delays(self, callpath, location=None, pattern=None):
        return [d for d in self.data["delays"]
                if callpath in d["callpath"] and location in (None, d["location"])
                and pattern in (None, d["pattern"])]

    def largest_delay(self, pattern=None):
        """(call path, location) that costs most, over all patterns or one, and its cost."""
        costs = {}
        for delay in self.data["delays"]:
            if pattern in (None, delay["pattern"]):
                key = delay["callpath"], delay["location"]
                costs[key] = costs.get(key, 0.0) + delay["short_s"] + delay["long_s"]
        check(costs, "the report names no delay")
        return max(costs.items(), key=lambda item: item[1])

    def summary(self):
        def row(entry):
            return "  " + ", ".join(f"{k} {v}" for k, v in entry.items())
        return "\n".join([f"{key}:\n" + "\n".join(map(row, self.data[key][:8]))
                          for key in ("waits", "delays", "losses")])


def check_time(what, seconds, expected, count=1, slack=SLACK_PER_WAIT_S):
    allowed = RELATIVE * expected + slack * count
    if abs(seconds - expected) > allowed:
        raise Off(f"{what}: {seconds:.4f} s, expected {expected} s within {allowed:.3f} s")


class Machine:
    """How much of the processors' time went to others since this was made."""

    def __init__(self):
        self.begin = self.read()

    @staticmethod
    def read():
        with open("/proc/stat", encoding="ascii") as stat:
            user, nice, system, idle, wait, irq, softirq, stolen, *_ = (
                int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in stat.readline().split()[1:])
        used_s = user + nice + system + irq + softirq + stolen
        own = os.times()
        own_s = own.children_user + own.children_system + own.user + own.system
        return used_s + idle + wait, used_s - own_s

    def share_of_others(self):
        all_s, others_s = (now - then for now, then in zip(self.read(), self.begin))
        return others_s / all_s if all_s > 0 else 0.0


def attempt(test, build):
    with tempfile.TemporaryDirectory(prefix="culprit-test-") as scratch:
        test(Place(build, scratch))


def main(tests):
    """Runs the one test that the command line names; `tests` maps names to functions."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("test", choices=sorted(tests))
    options = parser.parse_args()
    busy = True
    for _ in range(ATTEMPTS):
        machine = Machine()
        try:
            attempt(tests[options.test], options.build)
            return 0
        except Skip as reason:
            print(f"skipped: {reason}")
            return SKIP
        except Off as sentence:
            others = machine.share_of_others()
            busy = busy and others > QUIET
            print(f"off, while others had {others:.0%} of the machine: {sentence}", file=sys.stderr)
        except Wrong as sentence:
            print(f"wrong: {sentence}", file=sys.stderr)
            return 1
    if busy:
        print("skipped: the machine is too busy for times to be judged")
        return SKIP
    return 1
