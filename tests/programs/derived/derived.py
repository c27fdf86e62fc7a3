# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What is made of experiments: differences, means, parts, data in Python, patterns of one's own. The answers are known
from how the runs were made: the same program twice, and one in which another function is late."""

import collections
import json
import os
import pathlib
import shutil
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python"))

import harness
from harness import Skip, check, execute, mpirun, succeed

import culprit


def measured(place, program, name):
    experiment = place.experiment(name)
    succeed([place.culprit, "run", "-q", "-o", experiment, "--", *mpirun(2, place.program(program))])
    return experiment


def report(place, experiment):
    return json.loads(succeed([place.culprit, "report", experiment, "--format", "json"]).stdout)


def waiting(data):
    return data["identities"]["waiting_s"]


def check_named(words, text):
    """Who is late is what the program's text says, unless threads lack a core: then it is off, not wrong."""
    if any(word not in text for word in words):
        raise harness.Off(f"not named are {words}: {text}")


def near(a, b):
    return abs(a - b) <= 1e-9 + 1e-6 * max(abs(a), abs(b))


def difference(place):
    """late_sender's refine_mesh is late; hybrid_chain's resolve_contacts is."""
    one, other = measured(place, "hybrid_chain", "one"), measured(place, "late_sender", "other")
    said = succeed([place.culprit, "diff", one, other, "-o", place.experiment("change")]).stdout
    check_named(["resolve_contacts", "refine_mesh"], said)
    check("give repeats of both" in said, f"diff of two runs claims to know the noise: {said}")
    a, b, change = report(place, one), report(place, other), report(place, place.experiment("change"))
    check(near(waiting(change), waiting(b) - waiting(a)), "the difference of waiting is not that of the runs")
    check(change["run"]["operation"] == "diff" and len(change["inputs"]) == 2, "the inputs are not told")
    total = sum(row["short_s"] + row["long_s"] for row in change["delays"])
    expected = sum(d["short_s"] + d["long_s"] for d in b["delays"]) - sum(d["short_s"] + d["long_s"] for d in a["delays"])
    check(near(total, expected), f"the delay costs differ by {total}, not {expected}")
    page = succeed([place.culprit, "report", "--full", place.experiment("change")]).stdout
    check("THE WHOLE RUN" in page, page)
    for condition, failures in (("waiting > -1000%", 1), ("waiting > 1000s", 0)):
        given = [place.culprit, "diff", one, other, "--fail-if", condition, "--format"]
        marked = execute([*given, "markdown", "-o", place.experiment(f"markdown{failures}")])
        check(("**Regression:**" in marked.stdout) == bool(failures) and "| run time |" in marked.stdout, marked.stdout)
        tested = execute([*given, "junit", "-o", place.experiment(f"junit{failures}")])
        suite = xml.etree.ElementTree.fromstring(tested.stdout)
        check(suite.get("failures") == str(failures) and len(suite.findall("testcase/failure")) == failures, tested.stdout)
        check((marked.returncode == 6) == bool(failures) and tested.returncode == marked.returncode, marked.stderr)
    itself = succeed([place.culprit, "diff", one, one, "-o", place.experiment("same")]).stdout
    check("takes as long as before" in itself and "worse" not in itself and "better" not in itself, itself)
    check("give repeats of both" not in itself and "hardly comparable" not in itself, itself)
    check("hardly comparable" in " ".join(said.split()), f"two programs are compared as if they were one: {said}")
    done = execute([place.culprit, "diff", one, other, "-o", place.experiment("same")])
    check(done.returncode == 1 and "already exists" in done.stderr and not done.stdout, done.stdout + done.stderr)
    for export in ("folded", "speedscope"):
        done = execute([place.culprit, "export", place.experiment("change"), "--format", export, "-o", place.experiment("x")])
        check(done.returncode == 1 and "below zero" in done.stderr, f"{export} drops what is negative: {done.stderr}")
    done = execute([place.culprit, "export", place.experiment("change"), "--format", "extrap", "-o", place.experiment("x")])
    check(done.returncode == 1 and "no measurement" in done.stderr, f"extrap drops what is negative: {done.stderr}")
    said = succeed([place.culprit, "info", place.experiment("change")]).stdout
    check("difference" in said and " long" not in said, said)
    check(not report(place, place.experiment("same"))["changes"][3:], "a run differs from itself")
    change = place.experiment("change")
    for command in (["mean", one, change], ["merge", change, one], ["cut", change, "--root", "*"], ["diff", one, change],
                    ["diff", "--before", change, "--after", one]):
        done = execute([place.culprit, *command, "-o", place.experiment("never")])
        check(done.returncode == 1 and "is a difference of runs" in done.stderr, f"{command}: {done.stderr}")
        check(not os.path.exists(place.experiment("never")), f"{command} made something")


def noise(place):
    """Repeats of one program differ by noise, and no condition on them holds; another program does not."""
    runs = [measured(place, "hybrid_chain", f"run{i}") for i in range(6)]
    said = succeed([place.culprit, "diff", "--before", *runs[:3], "--after", *runs[3:], "-o", place.experiment("repeats")]).stdout
    check("noise between runs" in " ".join(said.split()) and "3 runs" in said, said)
    other = measured(place, "late_sender", "late")
    for given, status in ((["delay(resolve_contacts) > 10%", other, runs[0]], 6),
                          (["delay(resolve_contacts) > 10%", runs[0], other], 0),
                          (["waiting < -10%", runs[0], other], 6)):
        done = execute([place.culprit, "diff", *given[1:], "--fail-if", given[0], "-o", place.experiment(f"c{status}{given[0][:5]}{given[1][-4:]}")])
        if done.returncode != status:  # a delay that is known from samples
            check(done.returncode in (0, 6), done.stderr)
            raise harness.Off(f"{given}: status {done.returncode}, not {status}: {done.stderr}")
    for condition, words in (("speed > 3", "is no condition"), ("wall > nan%", "is no condition"), ("wall < inf s", "is no condition"),
                             ("delay(nofunction) > 1%", "no run has a function like 'nofunction'"), ("", "empty")):
        done = execute([place.culprit, "diff", other, runs[0], "--fail-if", condition, "-o", place.experiment("never")])
        check(done.returncode == 2 and words in done.stderr and not os.path.exists(place.experiment("never")), done.stderr)
    done = execute([place.culprit, "diff", "--before", runs[0], runs[0], "--after", runs[1], runs[2], "-o", place.experiment("never")])
    check(done.returncode == 1 and "given twice" in done.stderr, f"one run is taken for two: {done.stderr}")


def check_equal_rows(run, other):
    """Each table that the other has any row of has the same rows, in whatever order."""
    def figures(experiment, table):
        def plain(value):
            return round(value, 9) if isinstance(value, float) else str(value)
        return sorted(tuple(plain(value) for name, value in row.items() if name != "id") for row in experiment.rows(table))
    for table in ("profile", "waits", "delays", "critical_path", "victims", "locations", "callpaths", "efficiencies"):
        check(figures(run, table) == figures(other, table), f"{other.path}: {table} differs from {run.path}'s")


def mean(place):
    runs = [measured(place, "hybrid_chain", f"run{i}") for i in range(2)]
    succeed([place.culprit, "mean", *runs, "-o", place.experiment("mean")])
    all_of, one = [report(place, run) for run in runs], report(place, place.experiment("mean"))
    check(near(waiting(one), sum(map(waiting, all_of)) / 2), "the mean's waiting is not the mean")
    check(near(one["run"]["wall_s"], sum(r["run"]["wall_s"] for r in all_of) / 2), "nor its length")
    check(not one["identities"]["violations"], "the mean's sums do not add up")
    check_named(["resolve_contacts"], one["verdict"]["text"])
    for count in (2, 3):
        same = place.experiment(f"same{count}")
        succeed([place.culprit, "mean", *[runs[0]] * count, "-o", same])
        check_equal_rows(culprit.Experiment(runs[0]), culprit.Experiment(same))
    succeed([place.culprit, "merge", *runs, "-o", place.experiment("merged")])
    check_equal_rows(culprit.Experiment(runs[0]), culprit.Experiment(place.experiment("merged")))
    for command in (["view", place.experiment("merged")], ["view", place.experiment("mean")], ["export", place.experiment("mean"), "--format", "cube", "-o", place.experiment("mean.cubex")]):
        succeed([place.culprit, *command])


def cut(place):
    run = measured(place, "hybrid_chain", "run")
    succeed([place.culprit, "cut", run, "--root", "*/advance", "-o", place.experiment("part")])
    whole, part = report(place, run), report(place, place.experiment("part"))
    expected = sum(w["time_s"] for w in whole["waits"] if "/advance/" in w["callpath"] + "/")
    check(near(waiting(part), expected), f"{waiting(part)} s are left, not {expected}")
    check(all(w["callpath"].startswith("advance") for w in part["waits"]), "a root was not cut")
    succeed([place.culprit, "cut", run, "--drop", "*/advance", "-o", place.experiment("rest")])
    check(near(waiting(report(place, place.experiment("rest"))), waiting(whole) - expected), "the rest is not the rest")
    succeed([place.culprit, "view", place.experiment("part")])
    said = " ".join(succeed([place.culprit, "report", "--full", place.experiment("part")]).stdout.split())
    check("Of the whole run are its length, phases and iterations" in said, said)
    done = execute([place.culprit, "cut", run, "--root", "nothing", "-o", place.experiment("never")])
    check(done.returncode == 1 and "no call path is like 'nothing'" in done.stderr, done.stderr)
    for cuts in (["--drop", "*"], ["--root", "main", "--drop", "main"]):
        done = execute([place.culprit, "cut", run, *cuts, "-o", place.experiment("never")])
        check(done.returncode == 1 and "nothing would be left" in done.stderr, f"{cuts}: {done.stderr}")


def python(place):
    os.environ["CULPRIT"] = str(place.culprit)
    run = culprit.Experiment(measured(place, "late_sender", "run"))
    data = report(place, run.path)
    check(run.verdict == data["verdict"]["text"], "the verdict is another one")
    check(near(sum(row["time_s"] for row in run.rows("waits")), waiting(data)), "rows do not have the waiting time")
    check({row["callpath"] for row in run.rows("waits")} == {w["callpath"] for w in data["waits"]}, "nor the names")
    events = run.events()
    times, depth = [], {}
    for event in events:
        times.append(event.time)
        if event.kind == "enter":
            depth[event.location] = depth.get(event.location, 0) + 1
            check(events[event.match].kind == "leave" and events[event.match].region == event.region, event)
        if event.kind == "leave":
            depth[event.location] -= 1
            check(event.match < event.index, event)
        if event.kind == "receive":
            check(events[event.match].kind == "send" and events[event.match].time <= event.time, event)
            check(event.region == "MPI_Recv" and events[event.enter].region == "MPI_Recv", event)
    causes = run.causes()
    check(causes and causes == sorted(causes, key=lambda row: -row["cost_s"]), "causes are not sorted by cost")
    check(all(0 < row["share"] <= 1.0001 for row in causes), "shares of causes are none")
    wide = run.frame("victims", joined=True)
    wide = wide if isinstance(wide, list) else wide.to_dict("records")
    check(all(str(row["delay_rank"]) == row["delay_location"].split(".")[0] and row["wait_callpath"].endswith(row["wait_region"])
              for row in wide) and wide, "a joined frame has other ranks or regions")
    both = culprit.compare([run, run.path])
    both = both if isinstance(both, list) else both.to_dict("records")
    check(len(both) == 2 and both[0]["wall_s"] == data["run"]["wall_s"] and both[0]["first_cause"] == causes[0]["callpath"], both)
    check(data["verdict"]["text"].split(";")[0].replace("'", "&#x27;") in run._repr_html_() or "&" in run._repr_html_(), "a notebook shows another verdict")
    history = pathlib.Path(place.experiment("public"))
    for name in ("one", "two"):  # what was there before stays
        succeed([sys.executable, "-m", "culprit.history", f"{name}:{run.path}", "-o", str(history)],
                environment={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(culprit.__file__))})
    check([each["name"] for each in json.loads((history / "history.json").read_text())] == ["one", "two"], "the history has other runs")
    check((history / "index.html").read_text().count("<circle") == 6 and "svg" in (history / "badge.svg").read_text(), "no page or badge")
    check(times == sorted(times) and set(depth.values()) == {0}, "events are not in order, or not balanced")
    check(all(event == events[event.index] for event in events), "events one by one are others than in order")
    messages = [(e.index, e.match) for e in events.of_kind("send")]
    for index in (*range(0, len(events), 7), 0):  # back again in the end
        flying = [send for send, receipt in messages if send < index < receipt]
        check([e.index for e in events.in_flight(index)] == flying, f"at {index} others than {flying} are on their way")
    check([e.region for e in events.stack(messages[0][0])][-1] == "MPI_Send", "a send is not in MPI_Send")
    some = run.events(from_s=0, to_s=events.wall_ns * 0.5e-9, ranks=[0])
    check({e.location for e in some if e.kind != "receive"} <= {"0.0", "1.0"} and len(some) < len(events), "no part")
    example = os.path.join(os.path.dirname(culprit.__file__), "..", "..", "examples", "late_sender.py")
    done = succeed([sys.executable, example, run.path],
                   environment={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(culprit.__file__))})
    known = sum(w["time_s"] for w in data["waits"] if w["pattern"] == "mpi.late_sender")
    mine = sum(row["time_s"] for row in run.rows("user_waits"))
    check(abs(mine - known) <= 1e-6 + 0.001 * known, f"the pattern by hand found {mine} s, culprit {known} s: {done.stdout}")
    page = succeed([place.culprit, "report", "--full", run.path]).stdout
    check("PATTERNS OF YOUR OWN" in page and "Late sender, by hand" in page, page)
    name = run.rows("user_patterns")[0]["name"]
    check(name in succeed([place.culprit, "report", run.path, "--by", "pattern"]).stdout, "report --by pattern has it not")
    table = succeed([place.culprit, "report", run.path, "--pattern", name, "--format", "json"]).stdout
    check(near(sum(row["waiting_s"] for row in json.loads(table)), mine), table)
    where = run.rows("callpaths")[0]["name"]
    for given, words in ((("x", "", [(where, "9.9", 1)]), "no location '9.9'"), (("x", "", [(where, "0.0", -1)]), "is no time"),
                         (("x", "", [("nowhere", "0.0", 1)]), "no call path"), ((" ", "", []), "needs a name")):
        try:
            run.add_pattern(*given)
            check(False, f"a pattern of one's own may be {given}")
        except culprit.Error as error:
            check(words in str(error), error)
    try:
        culprit.Experiment(__file__)
        check(False, "any file is an experiment")
    except culprit.Error as error:
        check("no experiment" in str(error), error)
    check(near(waiting(report(place, run.path)), waiting(data)), "a pattern of one's own changed the waiting time")


def info(place):
    run = measured(place, "late_sender", "run")
    said = succeed([place.culprit, "info", run]).stdout
    for words in ("late_sender", "complete: no data loss is known", "findings.db", "records of 2 processes"):
        check(words in said, f"info does not say '{words}': {said}")
    check(succeed([place.culprit, "info", os.path.join(run, "findings.db")]).stdout == said, "its findings.db is another one")
    for wrong in (["--top", "-1"], ["--rank", ""], ["--pattern", ""], ["--callpath", ""]):
        done = execute([place.culprit, "report", run, *wrong])
        check(done.returncode == 2 and wrong[0] in done.stderr, f"report takes {wrong}: {done.stderr}")
    for wrong, words in ((["--callpath", "typo*"], "no call path is like"), (["--series", "device-idle"], "nothing in the series")):
        done = execute([place.culprit, "periods", run, *wrong])
        check(done.returncode == 1 and words in done.stderr and not done.stdout, f"periods {wrong}: {done.stdout}{done.stderr}")
    done = execute([place.culprit, "export", run, "--format", "events", "-o", place.experiment("x"), "--rank", "0,99"])
    check(done.returncode == 1 and "no rank 99" in done.stderr, f"export takes a rank that is not there: {done.stderr}")
    for wrong in (["--from", "nan"], ["--from", "-1"], ["--shortest", "-1"], ["--to", "inf"]):
        done = execute([place.culprit, "export", run, "--format", "events", "-o", place.experiment("x"), *wrong])
        check(done.returncode == 2 and wrong[0] in done.stderr, f"export takes {wrong}: {done.stderr}")
    os.remove(os.path.join(run, "findings.db"))
    said = succeed([place.culprit, "info", run]).stdout
    check("not analyzed yet" in said, said)


def exports(place):
    """Each format writes something, and says so of a run that is not there."""
    run = measured(place, "hybrid_chain", "run")
    for name in ("perfetto", "pipit", "events", "otf2", "cube", "speedscope", "folded", "hatchet", "extrap", "csv"):
        target = place.experiment(f"out.{name}")
        succeed([place.culprit, "export", run, "--format", name, "-o", target])
        check(os.path.exists(target), f"{name} wrote nothing")
        done = execute([place.culprit, "export", run, "--format", name, "-o", target])
        check(done.returncode == 1 and "exists" in done.stderr, f"{name} overwrites: {done.stderr}")
    done = execute([place.culprit, "export", run, "--format", "cube", "--from", "1", "-o", place.experiment("x")])
    check(done.returncode == 1 and "whole run" in done.stderr, done.stderr)
    points = place.experiment("points.jsonl")
    succeed([place.culprit, "export", run, run, "--format", "extrap", "-o", points])
    values = collections.Counter((p["callpath"], p["metric"]) for p in map(json.loads, open(points, encoding="utf-8")))
    check(set(values.values()) == {2}, f"not each of two runs has a value: {values}")
    done = execute([place.culprit, "export", run, run, "--format", "cube", "-o", place.experiment("two.cubex")])
    check(done.returncode == 1 and "extrap alone" in done.stderr, done.stderr)
    data = report(place, run)
    stacks = open(place.experiment("out.folded"), encoding="utf-8").read().splitlines()
    total = sum(int(line.rsplit(" ", 1)[1]) for line in stacks) * 1e-6
    check(abs(total - data["run"]["allocation_s"]) < 1e-3, f"folded stacks have {total} s")
    page = succeed([place.culprit, "view", run, "-o", place.experiment("page.html")]).stdout
    done = execute([place.culprit, "view", run, "-o", place.experiment("page.html")])
    check(done.returncode == 1 and "already exists" in done.stderr, f"view overwrites: {done.stderr}")
    named = [os.path.basename(succeed([place.culprit, "view", run]).stdout.strip()) for _ in range(2)]
    check(named == ["view.html", "view-2.html"], f"pages without a name of their own: {named}")
    check(page.strip().endswith("page.html") and os.path.getsize(place.experiment("page.html")) > 100_000, page)


def topologies(mpi):
    """arranged.c says how its ranks are arranged. OTF2 has grids and no graphs."""
    def test(place):
        launcher = shutil.which(f"mpirun.{mpi}")
        if not launcher:
            raise Skip(f"there is no {mpi} here")
        run, archive = place.experiment("run"), place.experiment("archive")
        launch = [launcher, "-n", 6, *(["--bind-to", "none"] if mpi == "openmpi" else [])]
        succeed([place.culprit, "run", "-q", "--otf2", "-o", run, "--", *launch, place.program(f"arranged.{mpi}")])
        succeed([place.culprit, "analyze", f"{run}/trace/traces.otf2", "-o", archive])
        nobody = {rank: None for rank in range(6)}
        expected = {"grid 0": {rank: f"{rank // 3},{rank % 3}" for rank in range(6)},
                    "graph 0": {rank: str((rank - 1) % 6) for rank in range(6)},
                    "graph 1": {**nobody, 5: "0,1,2,3,4"},
                    "graph 2": {**nobody, 0: "1", 2: "3", 4: "5"}}
        for experiment, names in ((run, sorted(expected)), (archive, ["grid 0"])):
            data = report(place, experiment)
            found = {t["name"]: t for t in data["topologies"]}
            check(sorted(found) == names, f"{experiment}: {data['topologies']}")
            check(found["grid 0"] == {"name": "grid 0", "kind": "grid", "sizes": "2,3", "periodic": "0,1"}, found["grid 0"])
            for name in names:
                column = "coordinates" if found[name]["kind"] == "grid" else "neighbors"
                places = {p["rank"]: p[column] for p in data["topology_places"] if p["topology"] == name}
                check(places == expected[name], f"{experiment}: {name} has {places}")
            check(all(p["all_neighbors"] == len((p["neighbors"] or "").replace(",", "")) for p in data["topology_places"]),
                  f"{experiment}: wrong numbers of neighbours: {data['topology_places']}")
    return test


TESTS = {"difference": difference, "noise": noise, "mean": mean, "cut": cut, "python": python, "info": info,
         "exports": exports, **{f"topologies.{mpi}": topologies(mpi) for mpi in ("openmpi", "mpich")}}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
