# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks and threads that share a core are what a report says first, if it is their work that lacked it; and
before that, who else took their core. Others on the machine may take it in any test: then that comes first."""

import os
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import Report, check, execute, mpirun, succeed


def on_one_core(place, command):
    """The report of a run in which all may use one core of this machine."""
    core = min(os.sched_getaffinity(0))
    experiment = place.experiment()
    succeed(["taskset", "-c", str(core), place.culprit, "run", "-o", experiment, "--", *command])
    report = Report(place, experiment)
    report.check_identities()
    return report


def judge(report, who, at_work):
    verdict, shortage = report.data["verdict"], report.data["verdict"]["core_shortage"]
    check(shortage and shortage["cores"] == 1, f"the cores are {shortage}: {report.data['processes']}")
    check(0 < shortage["share"] < 1, f"the threads lacked a core for {shortage['share']} of their time")
    check(any(f"{who} shared 1 core: threads were runnable but had no core " in sentence for sentence in verdict["more"]), f"it adds {verdict['more']}")
    if verdict["kind"] == "disturbed":
        check(verdict["text"].startswith("Disturbed: "), f"the verdict is {verdict['text']}")
        return
    check((verdict["kind"] == "oversubscribed") == at_work, f"the verdict is {verdict}")
    first = f"Disturbed: {who} on 1 core had no core for "
    check(verdict["text"].startswith(first) == at_work, f"the verdict is {verdict['text']}")


def ranks(place):
    """All compute at once."""
    judge(on_one_core(place, mpirun(4, place.program("crowded"))), "4 ranks", at_work=True)


def threads(place):
    judge(on_one_core(place, mpirun(1, place.program("crowded"), "4")), "4 threads", at_work=True)


def waiting(place):
    """One at a time works, for so long by the clock; the others poll, and compete for the core with each other."""
    report = on_one_core(place, mpirun(4, place.program("collective_imbalance")))
    judge(report, "4 ranks", at_work=False)


def on_core(core, *command):
    return ["taskset", "-c", str(core), *command]


def disturbed(place):
    """A program that has nothing to do with the run shares its core: it is named, and so is the cause."""
    core = min(os.sched_getaffinity(0))
    hog = place.scratch / "hogging"
    shutil.copy(shutil.which("sh"), hog)
    other = subprocess.Popen(on_core(core, hog, "-c", "while :; do :; done"))
    try:
        report = on_one_core(place, mpirun(2, place.program("collective_imbalance")))
    finally:
        other.kill()
        other.wait()
    verdict, takers = report.data["verdict"], report.data["core_takers"]
    named = [t for t in takers if t["name"] == "hogging" and t["process"] == other.pid]
    check(named, f"it took a core, and those said to are {takers}")
    if verdict["kind"] == "disturbed":
        check(verdict["text"].startswith("Disturbed: "), f"the verdict is {verdict['text']}")
        check("hogging" in verdict["text"].split(";")[0], f"the verdict is {verdict['text']}")
    else:  # the ranks hardly computed
        share = report.data["verdict"]["core_shortage"]["share"]
        check(share < 0.5, f"for {share} of the time there was no core, and the verdict is {verdict['text']}")
    check(report.data["delays"], "no cause is named")


def cut(how):
    """Ended from outside, a run says of cores what one says that came to its end."""
    def test(place):
        core = min(os.sched_getaffinity(0))
        experiment = place.experiment()
        command = on_core(core, place.culprit, "run", "-o", experiment, "--",
                          *mpirun(4, place.program("crowded"), "1", "1000"))
        running = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, **harness.ENVIRONMENT},
                                   start_new_session=True)
        time.sleep(6)
        os.killpg(running.pid, how)
        running.wait(timeout=harness.TIMEOUT_S)
        execute([place.culprit, "analyze", experiment])
        report = Report(place, experiment)
        shortage = report.data["verdict"]["core_shortage"]
        check(shortage and shortage["share"] > 0.5, f"the cores are {shortage}")
        text = report.data["verdict"]["text"]
        check(text.startswith("Disturbed: "), f"the verdict is {text}")
    return test


TESTS = {"disturbed": disturbed, "term": cut(signal.SIGTERM), "kill": cut(signal.SIGKILL), "ranks": ranks, "threads": threads, "waiting": waiting}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
