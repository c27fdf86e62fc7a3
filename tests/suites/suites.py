#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of public suites with and without culprit, and compares how they end.

    suites.py --build build [options] KIND=FOLDER...

Nothing is fetched: a suite has been built before, wherever and however its own documentation says; of a kind that is
sources, each is built here. The kinds are in kinds.py, and in the help.

A program passes, fails, or takes too long, by its status alone; one that prints "No Errors" must print it under culprit,
too. Where the two differ, both are repeated until they have run three times, and what they did most often counts.
Under culprit the program is recorded, then analysed: each has a limit of its own, the analysis also a share of what the
program took. A result must have no loss of data, sums that agree, and no claim that a run which ended by itself was
stuck. Of a program that hangs, `culprit stuck` is asked.

The exit status is 1 if a program differed or an analysis did not end well.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import kinds

REPEATS = 3
# Oversubscribed ranks and threads must not spin, and root may run what it likes here.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMP_WAIT_POLICY": "passive",
}

Outcome = collections.namedtuple("Outcome", "verdict says_so text seconds")
Analysis = collections.namedtuple("Analysis", "problems seconds stuck")


def ended(command, folder, environment, limit):
    """(exit status or None if it took too long, what it printed, seconds). Nothing of it is left running."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    status = None
    try:
        output, _ = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            output, _ = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
    return status, output.decode(errors="replace"), time.monotonic() - began


def outcome(status, text, seconds):
    verdict = "takes too long" if status is None else "passes" if status == 0 else "fails"
    return Outcome(verdict, "No Errors" in text, text, seconds)


class Runner:
    def __init__(self, options):
        self.options = options
        self.culprit = str(pathlib.Path(options.build).resolve() / "bin" / "culprit")

    def started(self, test, program):
        command = [str(program), *test.arguments]
        if test.ranks is None:
            return command
        return [*shlex.split(self.options.launcher), "-n", str(test.ranks), *test.launching, *command]

    def built(self, kind, test, scratch):
        """The program of a test, or None."""
        if not kinds.KINDS[kind].builds:
            return test.program if test.program.exists() else None
        compiler = self.options.mpicc if kinds.KINDS[kind].builds == "mpi" else self.options.compiler
        program = pathlib.Path(scratch) / "program"
        status, _, _ = ended([*shlex.split(compiler), str(test.program), "-o", str(program), "-lm"],
                             test.program.parent, dict(os.environ), 120)
        return program if status == 0 else None

    def limit_of(self, test):
        return min(test.limit, self.options.limit) if test.limit else self.options.limit

    def pair(self, kind, test, program, scratch):
        """Once without culprit, once with it: two outcomes, and where the records are."""
        environment = {**os.environ, **ENVIRONMENT, **test.environment}
        folder = scratch if kinds.KINDS[kind].builds else test.program.parent
        command, limit = self.started(test, program), self.limit_of(test)
        plain = outcome(*ended(command, folder, environment, limit))
        experiment = tempfile.mkdtemp(dir=scratch) + "/experiment"
        observed = outcome(*ended([self.culprit, "record", "-q", "-o", experiment, "--", *command], folder, environment,
                                  limit + self.options.more))
        return plain, observed, experiment

    def analysis(self, experiment, took):
        """What is wrong with the analysis, how long it took, and for a program that hung whether a reason is known."""
        if not os.path.isdir(os.path.join(experiment, "raw")):
            return Analysis([], 0, None)
        limit = max(self.options.analysis_limit, took * self.options.analysis_share)
        status, text, seconds = ended([self.culprit, "analyze", "-q", experiment], "/", dict(os.environ), limit)
        if status is None:
            return Analysis([f"the analysis takes more than {limit:.0f} s"], seconds, None)
        last = (text.strip().splitlines() or ["?"])[-1]
        if status not in (0, 3):
            return Analysis([f"the analysis ends with {status}: {last}"], seconds, None)
        _, text, _ = ended([self.culprit, "report", "--format", "json", experiment], "/", dict(os.environ), limit)
        try:
            report = json.loads(text)
        except ValueError:
            return Analysis([f"no report: {last}"], seconds, None)
        return Analysis(list(wrong_in(report)), seconds, [group["kind"] for group in report["stuck"]])

    def compare(self, kind, test):
        """What there is to say of one test, as a dictionary."""
        name = f"{kind}: {test.name}"
        with tempfile.TemporaryDirectory(prefix="culprit-suite-") as scratch:
            program = self.built(kind, test, scratch)
            if not program:
                return {"test": name, "result": "not built"}
            pairs = [self.pair(kind, test, program, scratch)]
            if not same(pairs):
                pairs += [self.pair(kind, test, program, scratch) for _ in range(REPEATS - 1)]
            plain, observed, experiment = pairs[-1]
            found = self.analysis(experiment, observed.seconds)
        answer = {"test": name, "without": commonest(p[0] for p in pairs), "with": commonest(p[1] for p in pairs),
                  "seconds": observed.seconds, "analysis_seconds": found.seconds, "problems": found.problems,
                  "result": "same" if same(pairs) else "different"}
        if found.stuck is not None and observed.verdict == "takes too long":
            answer["named"] = bool(found.stuck)
        elif found.stuck:
            answer["problems"].append("said to be stuck: " + ", ".join(found.stuck))
        if answer["result"] == "different":
            answer["output"] = observed.text[-3000:]
        return answer


def wrong_in(report):
    for loss in report["losses"]:
        if loss["severity"] == "data loss" or "unmatched" in loss["name"]:
            yield f"{loss['name']} {loss['count']}"
    sums = report["identities"]
    if abs(sums["delay_costs_s"] + sums["unattributed_s"] - sums["waiting_s"]) > 1e-6:
        yield "delay costs are not the waiting time"
    if abs(sums["critical_path_s"] - sums["wall_s"]) > 1e-6:
        yield "the critical path is not the run"


def commonest(outcomes):
    words = [o.verdict + (", No Errors" if o.says_so else "") for o in outcomes]
    return collections.Counter(words).most_common(1)[0][0]


def same(pairs):
    return commonest(p[0] for p in pairs) == commonest(p[1] for p in pairs)


def summarise(kind, answers):
    counts = collections.Counter()
    for answer in answers:
        counts[answer["result"] if answer["result"] != "same"
               else "same: " + answer["with"].split(",")[0]] += 1
        counts["with problems"] += bool(answer.get("problems"))
        if "named" in answer:
            counts["hang, and named" if answer["named"] else "hang, not named"] += 1
    print(f"{kind}: {len(answers)} tests")
    for name, count in sorted(counts.items()):
        print(f"  {count:5} {name}")
    slow = [a for a in answers if a.get("analysis_seconds", 0) > 1]
    for answer in sorted(slow, key=lambda a: -a["analysis_seconds"] / max(a["seconds"], 0.1))[:3]:
        print(f"  analysed in {answer['analysis_seconds']:.1f} s, recorded in {answer['seconds']:.1f} s: {answer['test']}")


def kept(options):
    if not options.answers or not options.answers.exists():
        return {}
    return {answer["test"]: answer for answer in map(json.loads, options.answers.read_text().splitlines())}


def show(answer):
    if answer["result"] == "different" or answer.get("problems"):
        print(f"{answer['result']}: {answer['test']}: without: {answer['without']}; with: {answer['with']}; "
              f"{'; '.join(answer['problems'])}", flush=True)


def suite(runner, options, kind, folder):
    """The answers of one suite; those that are kept are not asked for again."""
    known = kept(options)
    tests = [t for t in kinds.tests_of(kind, folder) if (t.ranks or 1) <= options.ranks]
    tests = [t for t in tests if not options.only or any(word in t.name for word in options.only)]
    tests = tests[:: max(1, len(tests) // options.most)] if options.most else tests
    answers = [known[name] for name in (f"{kind}: {t.name}" for t in tests) if name in known]
    tests = [t for t in tests if f"{kind}: {t.name}" not in known]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for answer in pool.map(lambda t: runner.compare(kind, t), tests):
            answers.append(answer)
            show(answer)
            if options.answers:
                with options.answers.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(answer) + "\n")
    return answers


def parsed():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="kinds:\n" + "\n".join(f"  {name:10} {kind.what}" for name, kind in kinds.KINDS.items()))
    parser.add_argument("suites", nargs="+", metavar="KIND=FOLDER")
    parser.add_argument("--build", required=True, help="where culprit was built")
    parser.add_argument("--launcher", default="mpirun --bind-to none", help="what starts ranks, up to its -n")
    parser.add_argument("--mpicc", default="mpicc -g -O1 -w", help="what builds a source that uses MPI")
    parser.add_argument("--compiler", default="gcc -g -O1 -fopenmp -w", help="what builds other sources")
    parser.add_argument("--ranks", type=int, default=4, help="leave out tests that want more")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run of a program")
    parser.add_argument("--more", type=float, default=5, help="seconds that a run under culprit may take longer")
    parser.add_argument("--analysis-limit", type=float, default=20, help="seconds for an analysis")
    parser.add_argument("--analysis-share", type=float, default=5, help="or so many times what the program took")
    parser.add_argument("--jobs", type=int, default=1, help="how many tests run at once")
    parser.add_argument("--most", type=int, default=0, help="at most about so many tests of each suite, evenly chosen")
    parser.add_argument("--only", nargs="*", help="tests whose name contains one of these")
    parser.add_argument("--answers", type=pathlib.Path,
                        help="keep each answer here, a JSON object a line, and do not ask again")
    options = parser.parse_args()
    for pair in options.suites:
        kind, _, folder = pair.partition("=")
        if kind not in kinds.KINDS or not pathlib.Path(folder).exists():
            parser.error(f"{pair}: expected KIND=FOLDER, with a kind of {', '.join(kinds.KINDS)} and a folder that exists")
    for what in (shlex.split(options.launcher)[0], os.path.join(options.build, "bin", "culprit")):
        if not shutil.which(what):
            parser.error(f"there is no {what}")
    return options


def main():
    options = parsed()
    runner = Runner(options)
    bad = 0
    for pair in options.suites:
        kind, _, folder = pair.partition("=")
        answers = suite(runner, options, kind, folder)
        summarise(kind, answers)
        bad += sum(answer["result"] == "different" or bool(answer.get("problems")) for answer in answers)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
