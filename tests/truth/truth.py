#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The bench of truth: runs programs whose answer is known under culprit, and judges what it says.

    truth.py --build DIR [--only PATTERN] [--modes FP] [--repeat N] [--json FILE] [--keep DIR] [--quick]

cases.py has the answers, docs/truth.md how to read the table. Builds nothing. With --quick, as in ctest,
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
from cases import CASES, NOBODY

EXACT, SAMPLED = 0.05, 0.10  # how far a cost may be off
INNOCENT = 0.02              # of all waiting: the most that anybody innocent may be charged
HARDLY = 0.03                # of allocation time: less waiting than this is hardly any, more a busy machine
CALM = 0.02                  # of the known cost: a run whose waiting is off by less was not disturbed
ON_PATH = 0.85               # of its time: how much of a cause must be on the critical path
QUICK_SHARE = 0.5            # of all waiting: what --quick wants the culprit to be charged
START_UP = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Session_init", "MPI_Session_finalize"}
SUFFIX = {"F": ".functions", "P": "", "W": "", "C": ".clang", "M": ".mpich"}
TIMEOUT_S = 150


def functions_of(callpath):
    """The names in a call path, without C++ scopes and arguments, and Fortran's modules and underscores."""
    names = []
    for part in callpath.split("/"):
        part = re.sub(r"\(.*", "", part) or part
        part = part.split("::")[-1].split("_MOD_")[-1]
        names.append(part.rstrip("_") or part)
    return names


class Culprit:
    """One of a case's answers: rank and thread (None: any), function, and bounds of its cost."""

    def __init__(self, text, account, case):
        where, rest = text.strip().split(":")
        self.function, cost = rest.split("=")
        rank, _, thread = where.partition(".")
        self.rank = None if rank == "*" else int(rank)
        self.thread = int(thread) if thread else None
        known = {**account["spent"], "waits": account["waited"], "rounds": case.rounds,
                 "ranks": case.ranks}
        bounds = [eval(e, {"__builtins__": {}}, known) for e in cost.split("..")]  # the table's own text
        self.low, self.high = bounds[0], bounds[-1]

    def is_meant(self, callpath, location):
        rank, _, thread = location.partition(".")
        return (self.function in functions_of(callpath) and self.rank in (None, int(rank))
                and self.thread in (None, int(thread or 0)))

    def off(self, cost):
        """How far a cost is from the known one, as a share of that."""
        if cost < self.low:
            return cost / self.low - 1
        return max(0.0, cost / self.high - 1)

    def __str__(self):
        rank = "any rank" if self.rank is None else f"rank {self.rank}"
        return f"{self.function} on {rank}" + ("" if self.thread is None else f" thread {self.thread}")


def read_account(prefix):
    account = {"waited": 0.0, "spent": {}}
    found = sorted(prefix.parent.glob(prefix.name + ".*"))
    for path in found:
        one = json.loads(path.read_text())
        account["waited"] += one["waited_s"]
        for name, seconds in one["spent_s"].items():
            account["spent"][name] = account["spent"].get(name, 0.0) + seconds
            account["spent"][f"{name}_{one['rank']}"] = seconds
    harness.check(found, "the program wrote no account")
    return account


def verdict_of(text):
    found = re.search(r"^Verdict:.*?(?=\n\s*\n)", text, re.MULTILINE | re.DOTALL)
    return re.sub(r"\s+", " ", found.group()) if found else ""


def measure(case, mode, build, folder):
    """Runs a case under culprit; its account, verdict and JSON report."""
    name = case.program + ("_f" if case.program == "ring" else "") + SUFFIX[mode]
    program = build / "tests" / "truth" / name
    if not program.exists():
        raise harness.Skip(f"{name} was not built")
    launcher = []
    if case.ranks and mode == "M":
        launcher = ["mpirun.mpich", "-n", case.ranks]
    elif case.ranks:
        launcher = harness.mpirun(case.ranks)
    prefix = folder / "account"
    for old in folder.glob("account.*"):
        old.unlink()
    experiment = folder / "experiment"
    environment = {**os.environ, **harness.ENVIRONMENT, "TRUTH_ACCOUNT": str(prefix)}
    if mode == "W":
        environment["TRUTH_WORK"] = "1"
    culprit = build / "bin" / "culprit"
    command = [culprit, "run", "-o", experiment, "--", *launcher, program, case.name, case.ms, case.rounds]
    done = subprocess.run(list(map(str, command)), env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIMEOUT_S)
    harness.check(done.returncode == 0, f"status {done.returncode}: {done.stdout[-1500:]}")
    report = subprocess.run([culprit, "report", "--format", "json", experiment], stdout=subprocess.PIPE,
                            text=True, check=True, timeout=TIMEOUT_S)
    return read_account(prefix), verdict_of(done.stdout), json.loads(report.stdout)


def cost_at_ends(data):
    """By (call path, location): what it made others wait in MPI_Init and MPI_Finalize, after their end, and
    before they were there: start-up and shutdown, which are nobody's fault."""
    found = {}
    for wait in data["worst_waits"]:
        if wait["pattern"] == "omp.idle_threads" and wait["begin_s"] == 0:
            key = wait["cause_callpath"], wait["cause_location"]
            found[key] = found.get(key, 0.0) + wait["time_s"]
    for victim in data["victims"]:
        if (START_UP | {"(ended)"}) & set(functions_of(victim["wait_callpath"])):
            key = victim["delay_callpath"], victim["delay_location"]
            found[key] = found.get(key, 0.0) + victim["time_s"]
    return found


def disturbance_of(culprits, account, data):
    """How far the waiting in a program's account is from what its cause explains, as a share of that; of a
    balanced program: its waiting, as a share of all its time."""
    if not culprits:
        return account["waited"] / max(data["run"]["allocation_s"], 1e-9)
    low, high = sum(c.low for c in culprits), sum(c.high for c in culprits)
    return max(low - account["waited"], account["waited"] - high, 0.0) / high


def shares(case, account, verdict, data):
    """The figures of one run that are judged, as plain data."""
    culprits = [Culprit(text, account, case) for text in (case.who or "").split(";") if text.strip()]
    costs, others, totals = [0.0] * len(culprits), {}, {}
    at_ends = cost_at_ends(data)
    start_up = 0.0
    for delay in data["delays"]:
        cost = delay["short_s"] + delay["long_s"]
        names, location = functions_of(delay["callpath"]), delay["location"]
        if START_UP & set(names):
            start_up += cost
            continue
        meant = [i for i, c in enumerate(culprits) if c.is_meant(delay["callpath"], location)]
        if meant:
            costs[meant[0]] += cost
            c = culprits[meant[0]]
            key = c.function, None if c.rank is None else location
        else:
            key = names[-1], location
            own = min(cost, at_ends.pop((delay["callpath"], location), 0.0))
            start_up += own
            cost -= own
            others[key] = others.get(key, 0.0) + cost
        totals[key] = totals.get(key, 0.0) + cost
    waiting = data["identities"]["waiting_s"] - start_up
    known = sum(c.high for c in culprits)
    whole = max(waiting, known, 1e-9)
    worst = max(others.items(), key=lambda item: item[1], default=(("nobody", ""), 0.0))
    first = max(totals.items(), key=lambda item: item[1], default=(("nobody", ""), 0.0))
    on_path = 0.0
    if case.path:
        spent = account["spent"][case.path]
        on_path = sum(entry["time_s"] for entry in data["critical_path"]
                      if case.path in functions_of(entry["callpath"])) / spent
    names = {n for d in data["delays"] + data["waits"] + data["critical_path"] for n in functions_of(d["callpath"])}
    return {
        "culprits": [str(c) for c in culprits],
        "functions": [c.function for c in culprits],
        "ranks": [c.rank for c in culprits],
        "cost_s": costs,
        "known_s": [[c.low, c.high] for c in culprits],
        "off": [c.off(cost) for c, cost in zip(culprits, costs)],
        "first": [first[0][0], first[0][1] or ""],
        "innocent": [worst[0][0], worst[0][1]],
        "innocent_share": worst[1] / whole,
        "charged": [[f"{name} on {location}", seconds] for (name, location), seconds in
                    sorted(totals.items(), key=lambda item: -item[1])[:8]],
        "unattributed_share": data["identities"]["unattributed_s"] / whole,
        "waiting_share": waiting / max(data["run"]["allocation_s"], 1e-9),
        "disturbance": disturbance_of(culprits, account, data),
        "known_waiting_share": account["waited"] / max(data["run"]["allocation_s"], 1e-9),
        "waiting_s": waiting,
        "charged_share": sum(costs) / whole,
        "start_up_s": start_up,
        "on_path": on_path,
        "verdict": verdict,
        "named": named_first(verdict, names, case.name),
        "violations": len(data["identities"]["violations"]),
    }


def named_first(verdict, names, case_name):
    """Which of the program's and libraries' functions the verdict names first, or ''. Cases are named by
    words of English, too: they count where their source follows."""
    found = [(match.start(), -len(name), name) for name in names if len(name) > 3
             for match in [re.search(r"(?<![\w./])" + re.escape(name) + r"(?!\w)"
                                     + (r" \(" if name == case_name else ""), verdict)] if match]
    return min(found)[2] if found else ""


def verdict_fault(case, run):
    if case.who is None:
        return ""
    if not run["functions"]:
        return f"the verdict blames {run['named']} where nobody waits" if run["named"] else ""
    largest = max(range(len(run["functions"])), key=lambda i: run["known_s"][i][1])
    if run["named"] != run["functions"][largest]:
        return f"the verdict names {run['named'] or 'nobody'}"
    rank = run["ranks"][largest]
    if rank is not None and case.ranks > 1 and f"rank {rank}" not in run["verdict"]:
        return f"the verdict does not name rank {rank}"
    return ""


def faults_of(case, mode, run):
    """What is wrong with a run, each a phrase."""
    faults = []
    tolerance = EXACT if mode == "F" else SAMPLED
    if case.path and run["on_path"] < ON_PATH:
        faults.append(f"{run['on_path']:.0%} of {case.path} is on the critical path")
    if case.who == NOBODY and run["waiting_share"] > run["known_waiting_share"] + HARDLY:
        faults.append(f"{run['waiting_share']:.1%} of the time is said to be waiting, "
                      f"{run['known_waiting_share']:.1%} was")
    if run["functions"]:
        if run["first"][0] not in run["functions"] or not any(
                rank is None or run["first"][1].split(".")[0] == str(rank)
                for function, rank in zip(run["functions"], run["ranks"]) if function == run["first"][0]):
            faults.append(f"first is {run['first'][0]} on {run['first'][1]}")
        for who, off, cost, known in zip(run["culprits"], run["off"], run["cost_s"], run["known_s"]):
            if abs(off) > tolerance:
                faults.append(f"{who} costs {cost:.3f} s, known {known[1]:.3f} s ({off:+.0%})")
        if run["innocent_share"] > INNOCENT:
            faults.append(f"{run['innocent'][0]} on {run['innocent'][1]} is charged {run['innocent_share']:.1%}")
    if run["violations"]:
        faults.append("sums contradict each other")
    fault = verdict_fault(case, run)
    return faults + ([fault] if fault else [])


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


def calmest(case, mode, options, folder, name):
    """The run of a few that others on the machine disturbed least, going by the program's own account."""
    runs = []
    for attempt in range(options.tries):
        with tempfile.TemporaryDirectory(prefix="truth-", dir=folder) as scratch:
            where = pathlib.Path(scratch)
            if options.keep:
                where = pathlib.Path(options.keep).absolute() / f"{name}.{attempt}"
                where.mkdir(parents=True)
            run = shares(case, *measure(case, mode, options.build, where))
            if options.oracle and case.who:
                run["oracle"] = ask_oracle(options.oracle, run, where / "experiment")
        runs.append(run)
        if run["disturbance"] <= CALM:
            break
    run = min(runs, key=lambda r: r["disturbance"])
    if case.who == NOBODY and run["disturbance"] > HARDLY:
        raise harness.Skip("the machine is too busy for a balanced program")
    return run


def judge(case, mode, options, folder):
    label = case.key + (f".{case.ms:g}ms" if case.program == "phases" else "")
    row = {"case": label, "mode": mode}
    try:
        runs = [calmest(case, mode, options, folder, f"{label}.{mode}.{n}") for n in range(options.repeat)]
        row.update(median_of(runs))
        row["faults"] = faults_of(case, mode, row)
        row["repeats"] = [r["charged_share"] for r in runs]
    except harness.Skip as reason:
        row.update(skipped=str(reason), faults=[])
    except (harness.Wrong, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        row["faults"] = [f"could not be judged: {type(error).__name__}: {error}"]
    row["right"] = not row["faults"] and "skipped" not in row
    return row


def line_of(row):
    if "skipped" in row:
        return f"  skipped  {row['case']}.{row['mode']}: {row['skipped']}"
    if "charged_share" not in row:
        return f"  WRONG    {row['case']}.{row['mode']}: {row['faults'][0]}"
    figures = (f"{row['charged_share']:7.1%} {row['innocent_share']:7.1%} {row['unattributed_share']:7.1%}"
               if row["culprits"] else f"{'':>7} {'':>7} {'':>7}")
    return (f"  {'right' if row['right'] else 'WRONG':<6} {row['case'] + '.' + row['mode']:<36}{figures}  "
            + "; ".join(row["faults"]))


def bench(options):
    rows = []
    print(f"         {'case.mode':<36}{'culprit':>7} {'others':>7} {'nobody':>7}  (shares of waiting)")
    with tempfile.TemporaryDirectory(prefix="truth-") as folder:
        for case in CASES:
            for mode in case.modes:
                if mode not in options.modes or not any(
                        fnmatch.fnmatch(f"{case.key}.{mode}", f"*{p}*") for p in options.only):
                    continue
                rows.append(judge(case, mode, options, folder))
                print(line_of(rows[-1]), flush=True)
    judged = [r for r in rows if "skipped" not in r]
    right = sum(r["right"] for r in judged)
    print(f"{right} of {len(judged)} right; {len(rows) - len(judged)} skipped")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    return 0 if judged and right == len(judged) else 1


def quick_faults(case, run):
    if run["first"][0] not in run["functions"]:
        return f"first is {run['first'][0]} on {run['first'][1]}"
    if run["ranks"][0] is not None and run["first"][1].split(".")[0] != str(run["ranks"][0]):
        return f"first is {run['first'][0]} on {run['first'][1]}"
    if run["charged_share"] < QUICK_SHARE:
        return f"{run['culprits'][0]} is charged {run['charged_share']:.0%} of the waiting"
    return ""


def quick(options):
    """Names, ranks and coarse shares, as ctest wants them: what a busy machine cannot spoil."""
    failed, ran = [], 0
    for case in (c for c in CASES if c.quick):
        fault = ""
        for _ in range(harness.ATTEMPTS):
            try:
                with tempfile.TemporaryDirectory(prefix="truth-") as folder:
                    run = shares(case, *measure(case, "F", options.build, pathlib.Path(folder)))
                fault = quick_faults(case, run)
            except harness.Skip as reason:
                print(f"skipped {case.key}: {reason}")
                break
            except (harness.Wrong, subprocess.SubprocessError, OSError, ValueError) as error:
                fault = str(error)
            if not fault:
                ran += 1
                break
            print(f"{case.key}: {fault}", file=sys.stderr)
        if fault:
            failed.append(case.key)
    print(f"{ran} right, {len(failed)} wrong: {', '.join(failed)}" if failed else f"{ran} right")
    return 1 if failed else 0 if ran else harness.SKIP


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="of <program>.<case>.<mode>")
    parser.add_argument("--modes", default="FPWCM", help="of these modes (default: all)")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each case; the median counts")
    parser.add_argument("--tries", type=int, default=3, help="for each of them, if the machine is busy (default: 3)")
    parser.add_argument("--json", help="write what was found to this file")
    parser.add_argument("--keep", help="keep experiments in this folder")
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
