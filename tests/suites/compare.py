#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of a public test suite with and without culprit and compares their verdicts.

The suite has been built before, wherever and however its own documentation says. A folder of it has a
list of its programs, `testlist`, one a line: name, number of ranks, and maybe `arg=...`, `env=NAME=VALUE`,
`timeLimit=...`, as MPICH's suite writes them; in a folder without one every program is run on two ranks.

A verdict is what the program and its launcher said: `pass`, `fail`, `timeout`. A program that prints
"No Errors" means pass by it, and fails if it leaves it out where it was there without culprit. Where the verdicts
differ, both are repeated until they have run three times; what they did most often counts.
Under culprit also the analysis must end well: `losses` are those that a sound run must not have, and a run
that ended by itself must not be said to be stuck.
"""

import argparse
import collections
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

REPEATS = 3
# Oversubscribed ranks must not spin, and root may run what it likes here.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}

Test = collections.namedtuple("Test", "name program ranks arguments environment")
Outcome = collections.namedtuple("Outcome", "verdict says_so text losses")


def parse_line(line, folder):
    words = shlex.split(line.split("#")[0])
    if len(words) < 2 or not words[1].isdigit():
        return None
    program = folder / words[0]
    arguments, environment = [], {}
    for word in words[2:]:
        key, _, value = word.partition("=")
        if key == "arg":
            arguments.append(value)
        elif key == "env":
            name, _, content = value.partition("=")
            environment[name] = content
    return Test(" ".join([f"{folder.name}/{words[0]}", words[1], *arguments]), program,
                int(words[1]), arguments, environment)


def programs_of(folder):
    for path in sorted(folder.iterdir()):
        with open(path, "rb") if path.is_file() else open(os.devnull, "rb") as file:
            if os.access(path, os.X_OK) and file.read(4) == b"\x7fELF":
                yield Test(f"{folder.name}/{path.name} 2", path, 2, [], {})


def tests_of(folder, most_ranks):
    """The tests of one folder; each program and its arguments once."""
    lists = [folder / "testlist"]
    lines = [line for file in lists if file.exists() for line in file.read_text().splitlines()]
    found = [parse_line(line, folder) for line in lines] if lines else programs_of(folder)
    known = {test.name: test for test in found if test and test.ranks <= most_ranks}
    return list(known.values())


class Runner:
    def __init__(self, options):
        self.options = options

    def launch(self, test):
        return [*shlex.split(self.options.launcher), "-n", str(test.ranks), str(test.program),
                *test.arguments]

    def execute(self, command, test):
        """(exit status or None if it took too long, output)."""
        environment = dict(os.environ, **ENVIRONMENT, **test.environment)
        process = subprocess.Popen(command, cwd=test.program.parent, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=self.options.timeout)
            return process.returncode, output.decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                output, _ = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
            return None, output.decode(errors="replace")

    @staticmethod
    def judge(status, text):
        if status is None:
            return "timeout"
        return "pass" if status == 0 else "fail"

    def plain(self, test):
        status, text = self.execute(self.launch(test), test)
        return Outcome(self.judge(status, text), "No Errors" in text, text, [])

    def observed(self, test):
        with tempfile.TemporaryDirectory(prefix="culprit-suite-") as scratch:
            experiment = os.path.join(scratch, "experiment")
            command = [self.options.culprit, "run", "-o", experiment, "--", *self.launch(test)]
            status, text = self.execute(command, test)
            losses = self.losses(experiment) if status == 0 else []
        return Outcome(self.judge(status, text), "No Errors" in text, text, losses)

    def losses(self, experiment):
        done = subprocess.run([self.options.culprit, "report", "--format", "json", experiment],
                              capture_output=True, text=True, check=False)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            return ["no report: " + (done.stderr.strip().splitlines() or ["?"])[-1]]
        found = report["identities"]
        lost = [f"{loss['name']} {loss['count']}" for loss in report["losses"]
                if loss["severity"] == "data loss" or "unmatched" in loss["name"]]
        lost += [f"said to be stuck: {group['kind']}" for group in report["stuck"]]
        if abs(found["delay_costs_s"] + found["unattributed_s"] - found["waiting_s"]) > 1e-6:
            lost.append("delay costs are not the waiting time")
        if abs(found["critical_path_s"] - found["wall_s"]) > 1e-6:
            lost.append("the critical path is not the run")
        return lost

    def compare(self, test):
        """What to say of one test, as a dictionary."""
        if not test.program.exists():
            return {"test": test.name, "result": "not built"}
        plain, observed = [self.plain(test)], [self.observed(test)]
        if not self.same(plain, observed):
            for _ in range(REPEATS - 1):
                plain.append(self.plain(test))
                observed.append(self.observed(test))
        answer = {"test": test.name, "without": self.commonest(plain), "with": self.commonest(observed),
                  "losses": sorted({loss for outcome in observed for loss in outcome.losses})}
        answer["result"] = "same" if self.same(plain, observed) else "different"
        if answer["result"] == "different":
            answer["output"] = observed[-1].text[-3000:]
        return answer

    @staticmethod
    def commonest(outcomes):
        words = [o.verdict + (", No Errors" if o.says_so else "") for o in outcomes]
        return collections.Counter(words).most_common(1)[0][0]

    def same(self, plain, observed):
        return self.commonest(plain) == self.commonest(observed)


def summarise(answers):
    counts = collections.Counter()
    for answer in answers:
        if answer["result"] != "same":
            counts[answer["result"]] += 1
        else:
            verdict = answer["with"].split(",")[0]
            counts["same: " + {"pass": "passes", "fail": "fails", "timeout": "takes too long"}[verdict]] += 1
        counts["with losses"] += bool(answer.get("losses"))
    print(f"{len(answers)} tests")
    for name, count in sorted(counts.items()):
        print(f"  {count:5} {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--culprit", required=True)
    parser.add_argument("--launcher", default="mpirun --bind-to none",
                        help="what starts ranks, up to its -n")
    parser.add_argument("--ranks", type=int, default=4, help="leave out tests that want more")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one run")
    parser.add_argument("--answers", type=pathlib.Path,
                        help="keep each answer here, a JSON object a line, and do not ask again")
    options = parser.parse_args()
    options.culprit = shutil.which(options.culprit) or sys.exit(f"there is no {options.culprit}")
    answers = []
    if options.answers and options.answers.exists():
        answers = [json.loads(line) for line in options.answers.read_text().splitlines()]
    known = {answer["test"] for answer in answers}
    runner = Runner(options)
    for folder in options.folders:
        for test in tests_of(folder.resolve(), options.ranks):
            if test.name in known:
                continue
            answer = runner.compare(test)
            answers.append(answer)
            if options.answers:
                with options.answers.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(answer) + "\n")
            if answer["result"] != "same" or answer.get("losses"):
                print(f"{answer['result']}: {test.name}: without: {answer.get('without')}; "
                      f"with: {answer.get('with')}; {'; '.join(answer.get('losses', []))}", flush=True)
    summarise(answers)
    return 1 if any(answer["result"] == "different" for answer in answers) else 0


if __name__ == "__main__":
    sys.exit(main())
