# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Compares what culprit says of one run with the answer of its case: figures, and what is wrong with them."""

import json
import re

import harness
from cases import NOBODY

EXACT, SAMPLED = 0.05, 0.10  # how far a cost may be off
INNOCENT = 0.02              # of all waiting: the most that anybody innocent may be charged
SAMPLED_INNOCENT = 0.05      # the same where samples tell apart who computes
RATIO_INNOCENT = 0.10        # the same where waits are so short that the machine matters
SEEN = 0.02                  # of allocation time: what is called hardly any waiting
HARDLY = 0.03                # of allocation time: less waiting than this is hardly any, more a busy machine
ON_PATH = 0.85               # of its time: how much of a cause must be on the critical path
START_UP = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Session_init", "MPI_Session_finalize"}


def functions_of(callpath):
    """The names in a call path, without C++ scopes and arguments, and Fortran's modules and underscores."""
    names = []
    for part in callpath.split("/"):
        if part.startswith("lambda at "):
            names.append(part)
            continue
        part = re.sub(r"\(.*", "", part) or part
        part = part.split("::")[-1].split("_MOD_")[-1]
        names.append(part.rstrip("_") or part)
    return names


class Culprit:
    """One of a case's answers: rank and thread (None: any), function, and bounds of its cost."""

    def __init__(self, text, account, case):
        where, rest = text.strip().split(":", 1)
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
    account = {"waited": 0.0, "asked": 0.0, "spent": {}}
    found = sorted(prefix.parent.glob(prefix.name + ".*"))
    for path in found:
        one = json.loads(path.read_text())
        account["waited"] += one["waited_s"]
        account["asked"] += one["asked_s"]
        for name, seconds in one["spent_s"].items():
            account["spent"][name] = account["spent"].get(name, 0.0) + seconds
            account["spent"][f"{name}_{one['rank']}"] = seconds
    harness.check(found, "the program wrote no account")
    return account


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


def disturbance_of(case, culprits, account):
    """What others on the machine did to the run, as a share: how much longer the injected sleeps took than they
    were asked to, or how far the waiting that the program saw is from what its cause explains."""
    spent = sum(seconds for name, seconds in account["spent"].items() if not re.search(r"_\d+$", name))
    overrun = max(0.0, spent / max(account["asked"], 1e-9) - 1)
    low, high = sum(c.low for c in culprits), sum(c.high for c in culprits)
    waited = account["waited"]
    if not culprits or waited == 0 or not case.timed:
        return overrun
    return max(overrun, (low - waited) / low, (waited - high) / high)


def charged_to(data, polls):
    """(call path, location, seconds): what each made others wait. Where `polls`, what tests for its messages cost
    as well: culprit tells that apart from waiting."""
    delays = [(d["callpath"], d["location"], d["short_s"] + d["long_s"]) for d in data["delays"]]
    return delays + [(c["callpath"], c["location"], c["time_s"]) for c in data["polling_causes"] if polls]


def right_first(culprits, first):
    """Whether what is charged most is a guilty function, on the guilty rank and thread."""
    function, location = first
    rank, _, thread = location.partition(".")
    return any(c.function == function and (c.rank is None or rank == str(c.rank))
               and (c.thread is None or (thread or "0") == str(c.thread)) for c in culprits)


def shares(case, account, verdict, data):
    """The figures of one run that are judged, as plain data."""
    culprits = [Culprit(text, account, case) for text in (case.who or "").split(";") if text.strip()]
    costs, others, totals, leaves = [0.0] * len(culprits), {}, {}, [set() for _ in culprits]
    at_ends = cost_at_ends(data)
    start_up = 0.0
    for callpath, location, cost in charged_to(data, case.polls):
        names = functions_of(callpath)
        if START_UP & set(names):
            start_up += cost
            continue
        meant = [i for i, c in enumerate(culprits) if c.is_meant(callpath, location)]
        if meant:
            costs[meant[0]] += cost
            leaves[meant[0]].add(names[-1])
            c = culprits[meant[0]]
            key = c.function, "" if c.rank is None else location
        else:
            key = names[-1], location
            own = min(cost, at_ends.pop((callpath, location), 0.0))
            start_up += own
            cost -= own
            others[key] = others.get(key, 0.0) + cost
        totals[key] = totals.get(key, 0.0) + cost
    polling = sum(c["time_s"] for c in data["polling_causes"]) if case.polls else 0.0
    waiting = data["identities"]["waiting_s"] + polling - start_up
    known = sum(c.high for c in culprits)
    whole = waiting if case.ratio else max(waiting, known, 1e-9)
    scale = known / max(sum(costs), 1e-9) if case.ratio else 1.0
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
        "leaves": [sorted(names) for names in leaves],
        "ranks": [c.rank for c in culprits],
        "cost_s": costs,
        "known_s": [[c.low, c.high] for c in culprits],
        "off": [c.off(cost * scale) for c, cost in zip(culprits, costs)],
        "first": list(first[0]),
        "right_first": right_first(culprits, first[0]),
        "innocent": [worst[0][0], worst[0][1]],
        "innocent_share": worst[1] / whole,
        "charged": [[f"{name} on {location}", seconds] for (name, location), seconds in
                    sorted(totals.items(), key=lambda item: -item[1])[:8]],
        "unattributed_share": data["identities"]["unattributed_s"] / whole,
        "waiting_share": waiting / max(data["run"]["allocation_s"], 1e-9),
        "events": data["run"]["events"],
        "waited_s": account["waited"],
        "disturbance": disturbance_of(case, culprits, account),
        "known_waiting_share": account["waited"] / max(data["run"]["allocation_s"], 1e-9),
        "waiting_s": waiting,
        "charged_share": sum(costs) / whole,
        "start_up_s": start_up,
        "on_path": on_path,
        "verdict": verdict,
        "said": " ".join(filter(None, [data["verdict"]["text"], data["verdict"]["warning"], *data["verdict"]["more"]])),
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
        if run["known_waiting_share"] > SEEN:  # the machine made some wait, as the program saw
            return ""
        blames = run["named"] and "MPI itself" not in run["verdict"]
        return f"the verdict blames {run['named']} where nobody waits" if blames else ""
    largest = max(range(len(run["functions"])), key=lambda i: run["known_s"][i][1])
    if run["named"] not in [run["functions"][largest], *run["leaves"][largest]]:
        return f"the verdict names {run['named'] or 'nobody'}"
    rank = run["ranks"][largest]
    if rank is not None and case.ranks > 1 and not getattr(case, "says", "") and f"rank {rank}" not in run["verdict"]:
        return f"the verdict does not name rank {rank}"
    return ""


def faults_of(case, mode, run):
    """What is wrong with a run, each a phrase."""
    faults = []
    noise = 0 if case.ratio else run["disturbance"]
    tolerance = (EXACT if mode == "F" else SAMPLED) + noise
    if case.path and run["on_path"] < ON_PATH:
        faults.append(f"{run['on_path']:.0%} of {case.path} is on the critical path")
    if case.who == NOBODY and run["waiting_share"] > run["known_waiting_share"] + HARDLY + run["disturbance"]:
        faults.append(f"{run['waiting_share']:.1%} of the time is said to be waiting, "
                      f"{run['known_waiting_share']:.1%} was")
    if run["functions"]:
        if not run["right_first"]:
            faults.append(f"first is {run['first'][0]} on {run['first'][1]}")
        for who, off, cost, known in zip(run["culprits"], run["off"], run["cost_s"], run["known_s"]):
            if abs(off) > tolerance:
                faults.append(f"{who} costs {cost:.3f} s, known {known[1]:.3f} s ({off:+.0%})")
        innocent = SAMPLED_INNOCENT if mode == "W" else INNOCENT
        if run["innocent_share"] > (RATIO_INNOCENT if case.ratio else innocent + noise):
            faults.append(f"{run['innocent'][0]} on {run['innocent'][1]} is charged {run['innocent_share']:.1%}")
    if run["violations"]:
        faults.append("sums contradict each other")
    says = getattr(case, "says", "")
    if says and not re.search(says, run["said"]):  # a busy machine comes first
        faults.append(f"the verdict does not say '{says}'")
    fault = verdict_fault(case, run)
    return faults + ([fault] if fault else [])
