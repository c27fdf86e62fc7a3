#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The bench of truth: runs programs whose answer is known under culprit, and judges what it says.

    truth.py --build DIR [--only PATTERN] [--modes FP] [--repeat N] [--json FILE] [--keep DIR] [--quick]

cases.py has the answers, docs/evidence/truth.md how to read the table. Builds nothing. With --quick, as in ctest,
only a few cases run, and only names and coarse shares are judged, each case up to three times.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "programs"))
import harness
from apps import App, read_apps
from cases import CASES, NOBODY
from families.gains import faults_of_gains
from judging import HARDLY, faults_of, read_account, shares

CALM, NOISY = 0.01, 0.10  # disturbed by others by so much: not at all; too much for any judgement
QUICK_SHARE = 0.5         # of all waiting: what --quick wants the culprit to be charged
SUFFIX = {"F": ".functions", "P": "", "W": "", "C": ".clang", "M": ".mpich"}
TIMEOUT_S = 150
ORACLE_EVENTS = 5000  # an oracle may be quadratic


def command_of(case, mode, build):
    """The launcher, the program, and what it is to do."""
    name = case.program + ("_f" if case.program == "ring" else "") + SUFFIX[mode]
    program = build / "tests" / "truth" / name
    if not program.exists():
        raise harness.Skip(f"{name} was not built")
    launcher = []
    if case.ranks and mode == "M":
        launcher = ["mpirun.mpich", "-n", case.ranks]
    elif case.ranks:
        launcher = harness.mpirun(case.ranks)
    return [*launcher, program, case.name, case.ms, case.rounds]


def measure(command, build, folder, environment):
    """Runs a program under culprit; its account, verdict and JSON report."""
    prefix, experiment = folder / "account", folder / "experiment"
    environment = {**os.environ, **harness.ENVIRONMENT, "TRUTH_ACCOUNT": str(prefix), **environment}
    culprit = build / "bin" / "culprit"
    command = [culprit, "run", "-o", experiment, "--", *command]
    done = subprocess.run(list(map(str, command)), env=environment, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIMEOUT_S)
    harness.check(done.returncode == 0, f"status {done.returncode}: {done.stdout[-1500:]}")
    report = subprocess.run([culprit, "report", "--format", "json", experiment], stdout=subprocess.PIPE,
                            text=True, check=True, timeout=TIMEOUT_S)
    data = json.loads(report.stdout)
    return read_account(prefix), data["verdict"]["text"], data


def ask_oracle(script, run, experiment):
    """What share of the waiting another analysis of the same archive charges the culprits, or None:
    SCRIPT <archive> <function>@<rank>... prints a line `<function>@<rank>: <percent>%` for each."""
    archives = sorted(experiment.rglob("*.otf2"))
    asked = [f"{function}@{rank}" for function, rank in zip(run["functions"], run["ranks"]) if rank is not None]
    if not archives or not asked:
        return None
    done = subprocess.run([script, archives[0], *asked], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, timeout=TIMEOUT_S)
    found = re.findall(r"^\S+@\d+: ([\d.]+)%", done.stdout, re.MULTILINE)
    return sum(map(float, found)) / 100 if done.returncode == 0 and found else None


def median_of(runs):
    """One run of the median figures; what is not a figure is that of the run in the middle."""
    middle = sorted(runs, key=lambda r: (r["charged_share"], -r["innocent_share"]))[len(runs) // 2]
    result = dict(middle)
    for name, value in middle.items():
        if isinstance(value, float):
            result[name] = statistics.median(r[name] for r in runs)
    return result


def run_once(case, mode, build, folder):
    if isinstance(case, App):
        command, environment = case.command(build.parent, folder), case.environment(mode)
    else:
        command, environment = command_of(case, mode, build), {"TRUTH_WORK": "1"} if mode == "W" else {}
    account, verdict, data = measure(command, build, folder, environment)
    run = shares(case, account, verdict, data)
    if not isinstance(case, App) and case.gain:
        run["gain_faults"], run["gain"] = faults_of_gains(case, command, data, folder)
    return run


def calmest(case, mode, options, folder, name):
    """The run of a few that others on the machine disturbed least, going by how long its sleeps took."""
    runs = []
    for attempt in range(options.tries):
        with tempfile.TemporaryDirectory(prefix="truth-", dir=folder) as scratch:
            where = pathlib.Path(scratch)
            if options.keep:
                where = pathlib.Path(options.keep).absolute() / f"{name}.{attempt}"
                where.mkdir(parents=True)
            run = run_once(case, mode, options.build, where)
            if options.oracle and case.who and run["events"] < ORACLE_EVENTS:
                run["oracle"] = ask_oracle(options.oracle, run, where / "experiment")
        runs.append(run)
        if run["disturbance"] <= CALM or case.ratio:
            break
    run = min(runs, key=lambda r: r["disturbance"])
    run["noisy"] = run["disturbance"] > NOISY and not case.ratio or case.who == NOBODY and run["known_waiting_share"] > HARDLY
    return run


def judge(case, mode, options, folder):
    label = case.key + (f".{case.ms:g}ms" if case.program == "phases" else "")
    row = {"case": label, "mode": mode}
    try:
        runs = [calmest(case, mode, options, folder, f"{label}.{mode}.{n}") for n in range(options.repeat)]
        row.update(median_of(runs))
        row["faults"] = faults_of(case, mode, row)
        if not isinstance(case, App) and case.gain:
            row["faults"] += [fault for run in runs[:1] for fault in run["gain_faults"]]
        row["noisy"] = any(r["noisy"] for r in runs)
        row["repeats"] = [r["charged_share"] for r in runs]
    except harness.Skip as reason:
        row.update(skipped=str(reason), faults=[])
    except (harness.Wrong, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        row["faults"] = [f"could not be judged: {type(error).__name__}: {error}"]
    row["right"] = not row["faults"] and "skipped" not in row and not row.get("noisy")
    return row


def line_of(row):
    if "skipped" in row:
        return f"  skipped  {row['case']}.{row['mode']}: {row['skipped']}"
    if "charged_share" not in row:
        return f"  WRONG    {row['case']}.{row['mode']}: {row['faults'][0]}"
    figures = (f"{row['charged_share']:7.1%} {row['innocent_share']:7.1%} {row['unattributed_share']:7.1%}"
               f"{row['disturbance']:7.1%}" if row["culprits"] else f"{'':>23}{row['disturbance']:7.1%}")
    return (f"  {'noisy' if row['noisy'] else 'right' if row['right'] else 'WRONG':<6} {row['case'] + '.' + row['mode']:<36}{figures}  "
            + "; ".join(row["faults"]))


def bench(options):
    rows = []
    print(f"         {'case.mode':<36}{'culprit':>7} {'others':>7} {'nobody':>7} {'noise':>6}  (shares of waiting; how much longer sleeps took)")
    with tempfile.TemporaryDirectory(prefix="truth-") as folder:
        for case in read_apps(options.apps) if options.apps else CASES:
            for mode in case.modes:
                if mode not in options.modes or not any(
                        fnmatch.fnmatch(f"{case.key}.{mode}", f"*{p}*") for p in options.only):
                    continue
                rows.append(judge(case, mode, options, folder))
                print(line_of(rows[-1]), flush=True)
                if options.json:  # each time: a bench that is ended has its rows
                    pathlib.Path(options.json).write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    judged = [r for r in rows if "skipped" not in r and not r.get("noisy")]
    right = sum(r["right"] for r in judged)
    print(f"{right} of {len(judged)} right; {sum('skipped' in r for r in rows)} skipped, "
          f"{sum(r.get('noisy', False) for r in rows)} not judged, the machine being too busy")
    return 0 if judged and right == len(judged) else 1


def quick_faults(case, run):
    if run["first"][0] not in run["functions"]:
        return f"first is {run['first'][0]} on {run['first'][1]}"
    if run["ranks"][0] is not None and run["first"][1].split(".")[0] != str(run["ranks"][0]):
        return f"first is {run['first'][0]} on {run['first'][1]}"
    if run["charged_share"] < QUICK_SHARE:
        return f"{run['culprits'][0]} is charged {run['charged_share']:.0%} of the waiting"
    return ""


def try_quickly(case, options, folder):
    """What is wrong with a case whichever way the machine is disturbed, or ''."""
    fault = ""
    for attempt in range(harness.ATTEMPTS):
        where = folder / f"{case.key}.{attempt}"
        where.mkdir()
        try:
            fault = quick_faults(case, run_once(case, "F", options.build, where))
        except (harness.Wrong, subprocess.SubprocessError, OSError, ValueError) as error:
            fault = str(error)
        if not fault:
            break
        print(f"{case.key}: {fault}", file=sys.stderr)
    return fault


def quick(options):
    """Names, ranks and coarse shares, as ctest wants them: what a busy machine cannot spoil."""
    failed, ran = [], 0
    with tempfile.TemporaryDirectory(prefix="truth-") as folder:
        for case in read_apps(options.apps) if options.apps else [c for c in CASES if c.quick]:
            try:
                if try_quickly(case, options, pathlib.Path(folder)):
                    failed.append(case.key)
                else:
                    ran += 1
            except harness.Skip as reason:
                print(f"skipped {case.key}: {reason}")
    print(f"{ran} right, {len(failed)} wrong: {', '.join(failed)}" if failed else f"{ran} right")
    return 1 if failed else 0 if ran else harness.SKIP


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="of <program>.<case>.<mode>")
    parser.add_argument("--modes", default="FPWCM", help="of these modes (default: all)")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each case; the median counts")
    parser.add_argument("--tries", type=int, default=2, help="for each of them, if the machine is busy (default: 2)")
    parser.add_argument("--json", help="write what was found to this file")
    parser.add_argument("--keep", help="keep experiments in this folder")
    parser.add_argument("--apps", metavar="FILE", help="judge the programs that this file describes (docs/evidence/truth.md)")
    parser.add_argument("--oracle", metavar="SCRIPT", help="another analysis to ask about the same archives")
    parser.add_argument("--quick", action="store_true", help="the few cases and coarse judgement of ctest")
    parser.add_argument("--list", action="store_true", help="list the cases")
    options = parser.parse_args()
    options.build = options.build.absolute()
    if options.list:
        for case in CASES:
            print(f"{case.key} {case.modes}: {case.ranks or 1} ranks: {case.who if case.who else 'nobody'}")
        return 0
    return quick(options) if options.quick else bench(options)


if __name__ == "__main__":
    sys.exit(main())
