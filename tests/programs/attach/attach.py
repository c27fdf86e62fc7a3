#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Running programs, looked at from outside: what they do is known (known.c), and whoever is looked at
does not notice."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import ENVIRONMENT, TIMEOUT_S, Off, Skip, check, execute, sanitizer_environment

LOOK_S = 4
# A share that is known from some hundred looks, on a machine that may be busy.
SHARE = 0.15


class Running:
    """A program that runs while it is looked at; it says when it is ready."""

    def __init__(self, command, environment=None, **more):
        env = {**os.environ, **ENVIRONMENT, **(environment or {})}
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env=env, **more)

    def __enter__(self):
        check(self.process.stdout.readline() == "ready\n", "the program did not begin")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    @property
    def pid(self):
        return self.process.pid


def known(place, case, seconds=60, **more):
    return Running([place.program("attach/known"), case, seconds], **more)


def look(place, *arguments, seconds=LOOK_S):
    done = execute([place.culprit, "attach", "--format", "json", "--for", seconds, *arguments])
    check(done.returncode == 0, f"culprit attach failed: {done.stderr}")
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise harness.Wrong(f"no JSON: {error}: {done.stdout[:300]}") from error


def only(seen):
    check(len(seen["processes"]) == 1, f"{len(seen['processes'])} processes instead of one")
    return seen["processes"][0]


def places(thread, **wanted):
    return [p for p in thread["places"] if all(p[key] == value for key, value in wanted.items())]


def time_at(thread, **wanted):
    return sum(p["time_s"] for p in places(thread, **wanted))


def check_sums(seen):
    """A thread's times are all of the time that it was watched, and its places are all of that."""
    for process in seen["processes"]:
        for thread in process["threads"]:
            if thread["on_core_s"] is None or thread["looks"] < 2:
                continue
            parts = thread["on_core_s"] + thread["without_core_s"] + thread["asleep_s"]
            check(parts >= thread["watched_s"] - 1e-6, f"times that are less than the whole: {thread}")
            looks = sum(p["looks"] for p in thread["places"])
            check(looks == thread["looks"], f"{looks} looks at places of {thread['looks']}: {thread}")
    explained = seen["nobody_s"] + seen["somebody_s"] + sum(c["waiting_s"] for c in seen["culprits"])
    check(abs(explained - seen["waiting_s"]) < 1e-6, f"waiting {seen['waiting_s']}, explained {explained}")


def near(what, value, expected, allowed):
    if abs(value - expected) > allowed:
        raise Off(f"{what}: {value:.2f}, expected {expected:.2f} within {allowed:.2f}")


def largest_culprit(seen):
    check(seen["culprits"], f"nobody is waited for: {seen}")
    return seen["culprits"][0]


def shares(place):
    with known(place, "shares") as program:
        seen = look(place, "--rate", 100, program.pid)
    check_sums(seen)
    thread = only(seen)["threads"][0]
    three, one = (time_at(thread, function=name) for name in ("three_quarters", "one_quarter"))
    check(three > 0 and one > 0, f"functions that were executed are missing: {thread}")
    near("share of the function with three quarters", three / (three + one), 0.75, SHARE)
    check(places(thread, function="three_quarters", doing="computes"), f"it computes: {thread}")
    check(seen["waiting_s"] == 0, "nobody waits in a program of one thread")


def lock(place):
    with known(place, "lock") as program:
        seen = look(place, program.pid)
    check_sums(seen)
    threads = only(seen)["threads"]
    waiters = [t for t in threads if places(t, doing="waits for a lock", call="pthread_mutex_lock",
                                            function="wants_the_lock")]
    check(len(waiters) == 2, f"two threads wait for the lock: {threads}")
    worst = largest_culprit(seen)
    check(worst["function"] == "holds_the_lock" and worst["tid"] == program.pid,
          f"the main thread holds the lock: {worst}")
    check(worst["locks_s"] > 0.9 * worst["waiting_s"], f"they wait for the lock: {worst}")
    held = sum(c["waiting_s"] for c in seen["culprits"] if c["tid"] == program.pid)
    check(held > 0.95 * seen["waiting_s"], f"nobody else is waited for: {seen['culprits']}")
    near("waiting of both threads", seen["waiting_s"], 2 * seen["seconds"], 0.1 * seen["seconds"])


def serial(place):
    with known(place, "serial") as program:
        seen = look(place, program.pid)
    check_sums(seen)
    worst = largest_culprit(seen)
    check(worst["function"] == "serial_part" and worst["tid"] == program.pid,
          f"two workers wait for the serial part: {seen['culprits'][:3]}")
    check(worst["waiting_s"] > 0.7 * seen["waiting_s"] > 0, f"for nothing else: {seen['culprits'][:3]}")
    workers = [t for t in only(seen)["threads"] if t["tid"] != program.pid]
    check(len(workers) == 2, f"two workers: {workers}")
    for worker in workers:
        check(worker["places"][0]["doing"] == "is in OpenMP's runtime", f"workers wait there: {worker}")


def imbalance(place):
    with known(place, "imbalance") as program:
        seen = look(place, program.pid)
    check_sums(seen)
    worst = largest_culprit(seen)
    check(worst["function"] == "late_part" and worst["tid"] == program.pid,
          f"the other thread waits for the late part: {seen['culprits'][:3]}")


def blocked(place):
    with known(place, "blocked") as program:
        seen = look(place, program.pid, seconds=2)
    check_sums(seen)
    found = {p["function"]: (p["doing"], p["call"]) for t in only(seen)["threads"] for p in t["places"]}
    expected = {"reads_a_pipe": ("waits for input or output", "read"),
                "waits_for_a_child": ("waits for a process", "waitpid"),
                "sleeps_a_while": ("sleeps", "clock_nanosleep"),
                "waits_for_a_semaphore": ("waits for another thread", "sem_wait"),
                "joins": ("waits for another thread", "pthread_join")}
    for function, what in expected.items():
        check(found.get(function) == what, f"{function}: {found.get(function)} instead of {what}")
    joined = [c for c in seen["culprits"] if c["function"] == "waits_for_a_semaphore"]
    check(joined, f"one thread joins the one that waits for a semaphore: {seen['culprits']}")
    check(seen["somebody_s"] > 0, "for whom it waits at the semaphore cannot be seen")


def undisturbed(place):
    """A thousand looks a second cost the program no call and no signal."""
    with known(place, "signals", 5) as program:
        seen = look(place, "--rate", 1000, program.pid, seconds=0)
        rest = program.process.stdout.read()
        status = program.process.wait()
    check(status == 0 and rest == "failed 0, signals came\n", f"status {status}: {rest}")
    check(seen["stops"] > 100, f"it was looked at only {seen['stops']} times")
    check(only(seen)["ended"], "the program ended while it was looked at")


def ends(place):
    with known(place, "shares", 2) as program:
        begin = time.monotonic()
        seen = look(place, program.pid, seconds=100)
        took = time.monotonic() - begin
    check(took < 90, "the looks went on although the program had ended")
    process = only(seen)
    check(process["ended"] and process["threads"][0]["looks"] > 3, f"{process}")


def killed(place):
    """Programs that are killed in the middle, stopped ones, and others beside them."""
    with known(place, "shares") as first, known(place, "short_threads") as second:
        os.kill(second.pid, signal.SIGSTOP)
        command = [place.culprit, "attach", "--format", "json", "--for", 3, first.pid, second.pid]
        culprit = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        time.sleep(1)
        first.process.kill()
        os.kill(second.pid, signal.SIGCONT)
        seen = json.loads(culprit.communicate(timeout=TIMEOUT_S)[0])
        check(second.process.poll() is None, "the program that was stopped goes on")
    check_sums(seen)
    ended = {p["pid"]: p["ended"] for p in seen["processes"]}
    check(ended == {first.pid: True, second.pid: False}, f"{ended}")


def by_hand(place):
    """Ctrl-C shows what was seen until then; the program goes on."""
    with known(place, "shares") as program:
        command = [place.culprit, "attach", "--for", "0", str(program.pid)]
        culprit = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        culprit.send_signal(signal.SIGINT)
        page, _ = culprit.communicate(timeout=TIMEOUT_S)
        check(culprit.returncode == 0, f"status {culprit.returncode}")
        check(program.process.poll() is None, "the program goes on")
    for word in ("three_quarters (known.c:", "on a core", "CANNOT SAY"):
        check(word in page, f"no {word!r} in: {page}")


def short_threads(place):
    with known(place, "short_threads") as program:
        seen = look(place, "--rate", 200, program.pid)
    check_sums(seen)
    check(len(only(seen)["threads"]) > 20, "threads that come and go are seen")


def stripped(place):
    program = place.scratch / "stripped"
    shutil.copy(place.program("attach/known"), program)
    harness.succeed(["strip", program])
    with Running([program, "lock", 60]) as running:
        seen = look(place, running.pid, seconds=2)
    process = only(seen)
    check(not process["has_names"], f"functions have no names: {process}")
    waiters = [t for t in process["threads"] if places(t, doing="waits for a lock")]
    check(len(waiters) == 2, f"that they wait for a lock is seen all the same: {process}")
    check(largest_culprit(seen)["tid"] == running.pid, "and who holds it")


def container(place):
    """A process with numbers of its own, and with files that nobody else can see."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        raise Skip("only root can make a container")
    script = (f"mount -t tmpfs none {place.scratch} && cp {place.program('attach/known')} {place.scratch}/hidden && "
              f"exec {place.scratch}/hidden lock 60")
    with Running(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]) as running:
        seen = look(place, "--children", running.pid)
    check(not (place.scratch / "hidden").exists(), "the program can be seen from outside")
    worst = largest_culprit(seen)
    check(worst["function"] == "holds_the_lock", f"the thread that holds the lock has other numbers inside: {worst}")


def other_user(place):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("only root can be another user")
    with known(place, "shares") as program:
        done = execute(["setpriv", "--reuid", 65534, "--clear-groups", "--inh-caps=-all", place.culprit.resolve(), "attach",
                        "--format", "json", "--for", 1, program.pid], cwd="/")
    check(done.returncode == 0, f"{done.stderr}")
    process = only(json.loads(done.stdout))
    check("root" in process["refusal"], f"the process belongs to root: {process}")
    thread = process["threads"][0]
    check(thread["on_core_s"] is None or thread["on_core_s"] > 0, f"the scheduler's account is there: {thread}")


def refused(place):
    """What cannot be looked at is said in a sentence."""
    for arguments, word in ((["999999999"], "there is no process"), (["2"], "kernel"), (["x"], "PID")):
        done = execute([place.culprit, "attach", "--for", 1, *arguments])
        if word == "kernel" and not pathlib.Path("/proc/2/stat").exists():
            continue
        check(done.returncode != 0, f"{arguments}: status 0")
        check(word in done.stderr or word != "kernel", f"{arguments}: {done.stderr}")
    done = execute([place.culprit, "attach"])
    check(done.returncode == 2, f"no process: status {done.returncode}")


TESTS = {name: globals()[name] for name in
         ("shares", "lock", "serial", "imbalance", "blocked", "undisturbed", "ends", "killed", "by_hand",
          "short_threads", "stripped", "container", "other_user", "refused")}


if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
