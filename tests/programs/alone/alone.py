# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that have threads and nothing else are analysed like any other; what only stands around a
program that has more is no part of its run."""

import pathlib
import re
import shutil
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import Off, Report, check, execute, mpirun  # noqa: E402


def run(place, *command, status=0):
    done = execute([place.culprit, "run", "-o", place.experiment(), "--", *command])
    check(done.returncode == status, f"status {done.returncode} of {command}\n{done.stdout}{done.stderr}")
    return done


def check_produced(report):
    """The first thread waited for what another made."""
    report.check_identities()
    report.check_nothing_lost()
    check(report.waits("thread.condition", callpath="produce"), f"no wait is found\n{report.summary()}")
    (callpath, _), _ = report.largest_delay("thread.condition")
    check("make_things" in callpath, f"blamed is {callpath}\n{report.summary()}")


def produced(place):
    done = run(place, place.program("alone/alone"), "produce")
    check(done.stdout.startswith("alone: done"), done.stdout)
    check_produced(Report(place, place.experiment()))


def becomes_another(place):
    """What a process was before it became another program is one process, and what it is another."""
    run(place, place.program("alone/alone"), "idle", "again", "produce")
    check_produced(Report(place, place.experiment()))


def children(place):
    """A child that is forked when threads have been recorded begins anew."""
    run(place, place.program("alone/alone"), "idle", "fork", "produce", "4", status=4)
    report = Report(place, place.experiment())
    check_produced(report)
    ranks = report.data["run"]["ranks"]
    check(ranks == 2, f"{ranks} processes instead of parent and child")


def beside_openmp(place):
    """Tools around the program, whatever threads they have, are no part of its run."""
    alone, other = place.program("alone/alone"), place.program("cli/threads")
    run(place, "sh", "-c", f"{alone} idle && {other} && {alone} idle")
    report = Report(place, place.experiment())
    check(report.data["run"]["ranks"] == 1, f"{report.data['run']['ranks']} processes instead of one")
    told = " ".join(report.data["run"]["notes"])
    check("left out" in told, f"not told: {told}")


def launcher(place):
    """Launchers have threads, too."""
    folder = place.scratch / "bin"
    folder.mkdir()
    shutil.copy(place.program("alone/alone"), folder / "srun")
    done = run(place, folder / "srun", "idle", "3", status=3)
    check("nothing was recorded" in done.stderr, f"a launcher was recorded: {done.stderr}")
    run(place, *mpirun(2, place.program("alone/alone"), "idle"))
    ranks = Report(place, place.experiment()).data["run"]["ranks"]
    check(ranks == 2, f"{ranks} processes instead of two")


def pool(place):
    """Workers that are forked, and have no threads, are processes of the run, and so is who forked them."""
    run(place, place.program("alone/alone"), "pool", "6", status=6)
    report = Report(place, place.experiment())
    report.check_identities()
    processes = report.data["processes"]
    check(len(processes) == 3, f"{len(processes)} processes instead of parent and two children: {processes}")
    check(all(p["program"] == "alone" and p["number"] for p in processes), f"the processes are {processes}")
    workers = [p for p in processes if p["on_core_s"] >= 0.1]
    check(len(workers) == 2, f"two of them computed: {processes}")


def executes(place):
    """A child that executes something else at once makes nobody worth recording."""
    done = run(place, place.program("alone/alone"), "execute", "5", status=5)
    check("nothing was recorded" in done.stderr, f"something was recorded: {done.stderr}")


def status(place):
    run(place, place.program("alone/alone"), "idle", "7", status=7)


def calls_that_sleep(place):
    """What a program sees of them is the same."""
    done = run(place, place.program("alone/sleepers"))
    check(done.stdout.startswith("sleepers: done"), done.stdout)


def check_heavy(place, case, pattern, waits):
    """One thread waited for what the other did in heavy(), in so many waits."""
    run(place, place.program("alone/sleepers"), case)
    report = Report(place, place.experiment())
    report.check_identities()
    found = report.waits(pattern)
    check(found, f"no {pattern} is found\n{report.summary()}")
    count = sum(w["count"] for w in found)
    check(count in waits, f"{count} waits\n{report.summary()}")
    (callpath, _), _ = report.largest_delay(pattern)
    check("heavy" in callpath, f"blamed is {callpath}\n{report.summary()}")


def meets(place):
    check_heavy(place, "meets", "thread.futex", range(1, 12))


def slices(place):
    check_heavy(place, "slices", "thread.condition", range(1, 6))


def futures(place):
    check_heavy(place, "futures", "thread.join", range(1, 7))


def locks(place):
    check_heavy(place, "locks", "thread.lock", range(3, 6))


def of_pools(place, case):
    run(place, place.program("alone/pools"), case)
    report = Report(place, place.experiment())
    report.check_identities()
    return report


def pools_asleep(place):
    """Threads that never have anything to do are in no figure but their own, however they sleep."""
    report = of_pools(place, "asleep")
    run_s, allocated_s = (report.data["run"][name] for name in ("wall_s", "allocation_s"))
    check(allocated_s < 1.25 * run_s, f"{allocated_s} s are allocated in {run_s} s\n{report.summary()}")
    check(not report.data["waits"], f"something is waited for\n{report.summary()}")
    database = sqlite3.connect(pathlib.Path(place.experiment()) / "findings.db")
    threads = database.execute("SELECT l.name, SUM(p.time_s) FROM critical_path p JOIN locations l "
                               "ON l.id = p.location GROUP BY l.name HAVING SUM(p.time_s) > ?",
                               (run_s / 10,)).fetchall()
    check([name for name, _ in threads] == ["0.0"], f"on the critical path are {threads}")


def pools_rare(place):
    """Nobody is waited for by a pool that has something to do now and then; it is waited for."""
    report = of_pools(place, "rare")
    check(report.data["spare_threads"], "there are no spare threads")
    waits = sum(w["time_s"] for w in report.waits("thread.condition", callpath="serve"))
    check(waits < 0.1, f"its threads wait for {waits} s\n{report.summary()}")


def pools_needed(place):
    """Who prepares the work of a pool that is needed is waited for."""
    report = of_pools(place, "needed")
    check(report.delays("needed", pattern="thread.condition"), f"nobody is blamed\n{report.summary()}")
    waits = sum(w["time_s"] for w in report.waits("thread.condition", callpath="serve"))
    check(waits > 0.3, f"its threads wait for {waits} s\n{report.summary()}")


UNSEEN = {
    "bare": ("await_bare", "(blocked in read)"),
    "thread": ("await_in_thread", "(blocked in read)"),
    "deep": ("fall", "fall", "fall", "fall", "await_deep", "(blocked in read)"),
    "scan": ("parse_input", "(blocked in fscanf)"),
    "stream": ("log_line", "(blocked in fprintf)"),
}


def unseen_sleeps(place):
    """Nobody stands in front of the calls in which threads sleep here; their call paths are found all the same."""
    for case, path in UNSEEN.items():
        run(place, place.program("alone/unseen"), case)
        report = Report(place, place.experiment())
        report.check_identities()
        report.check_nothing_lost()
        database = sqlite3.connect(pathlib.Path(place.experiment()) / "findings.db")
        known = [name for name, in database.execute(
            "SELECT DISTINCT c.name FROM callpaths c JOIN profile p ON p.callpath = c.id WHERE p.time_s > 0 "
            "UNION SELECT c.name FROM callpaths c JOIN spare_threads s ON s.callpath = c.id")]
        right = re.compile(".*/[^/]*".join(map(re.escape, path)) + "$")
        check(any(right.search(name) for name in known), f"{case}: {path} is not among {known}")
        shutil.rmtree(place.experiment())


def unseen_killed(place):
    """Where threads slept when the program was killed, they slept to the end."""
    run(place, "timeout", "-s", "KILL", "4", place.program("alone/unseen"), "forever", status=137)
    database = sqlite3.connect(pathlib.Path(place.experiment()) / "findings.db")
    times = dict(database.execute(
        "SELECT c.name, sum(t.time_s) FROM callpaths c JOIN (SELECT callpath, time_s FROM profile UNION ALL "
        "SELECT callpath, time_s FROM spare_threads) t ON t.callpath = c.id GROUP BY 1"))
    for function in ("await_forever", "rest_forever"):
        there_s = sum(time_s for name, time_s in times.items() if function in name)
        check(there_s > 1, f"{function} has {there_s} s of {times}")
    check(any(name.endswith("await_forever/(blocked in read)") for name in times), f"{times}")


def unseen_watcher(place):
    """Whoever watches is not noticed: neither by its descriptors, nor by signals, nor where threads are counted."""
    alone = execute([place.program("alone/unseen"), "watched"])
    done = run(place, place.program("alone/unseen"), "watched")
    check(alone.stdout.endswith("unseen: done\n"), alone.stdout)
    check(done.stdout.startswith(alone.stdout), f"{done.stdout} instead of {alone.stdout}")


def spins(place):
    """Who looks at memory, or gives its core away, until another thread has worked is no worker."""
    for how, function in ("flag", "look_until"), ("nap", "nap_until"), ("yield", "yield_until"), ("event", "tMPI_Event_wait"):
        experiment = place.scratch / how
        execute([place.culprit, "run", "-o", experiment, "--", place.program("alone/spins"), how])
        report = Report(place, experiment)
        found = [row for row in report.data["unexplained"] if row["kind"] == "spinning"]
        check([row["location"] for row in found] == ["0.1"], f"{how}: {found}\n{report.summary()}")
        check(function in found[0]["callpath"], f"{how}: {found}")
        check("integrate" in (found[0]["meanwhile"] or ""), f"{how}: {found}")


def unseen_ends(place):
    """Main leaves its threads behind, and they end; errno stays what it was: all as without culprit."""
    for how in "pthread_exit", "thrd_exit", "streams":
        alone = execute([place.program("alone/unseen"), how])
        check(alone.returncode == 0 and alone.stdout, f"{how}: {alone.stdout}")
        done = execute([place.culprit, "record", "-o", place.scratch / how, "--", place.program("alone/unseen"), how])
        check((done.returncode, done.stdout) == (0, alone.stdout), f"{how}: {done.stdout} instead of {alone.stdout}")


def waits_with(how, pattern, call, count, program="processes"):
    """What main waits for is what another thread or process computed, by whatever they tell each other."""
    def test(place):
        run(place, place.program(f"alone/{program}"), how)
        report = Report(place, place.experiment())
        report.check_identities()
        report.check_nothing_lost()
        found = report.waits(pattern, location="0.0", callpath=call)
        seen = sum(w["count"] for w in found)
        check(seen in count, f"{seen} waits in {call}\n{report.summary()}")
        right = [d for d in report.data["delays"] if "heavy" in d["callpath"] and d["location"] != "0.0"]
        cost_s, all_s = (sum(d["short_s"] + d["long_s"] for d in some) for some in (right, report.data["delays"]))
        if cost_s < 0.5 * all_s:
            raise Off(f"heavy() causes only {cost_s} of {all_s} s\n{report.summary()}")
        return report
    return test


def waits_outside(place):
    """Who waits for a process that is not recorded is blocked, and nobody is named."""
    report = waits_with("outside", "thread.pipe", "await_it/read", range(1, 4))(place)
    check(len(report.data["processes"]) == 1, f"the processes are {report.data['processes']}")
    outside = [w for w in report.data["waits"] if "outside/" in w["callpath"] and "await_it" not in w["callpath"]
               and w["pattern"] != "thread.join"]
    check(not outside, f"waits for whom nobody knows: {outside}")
    database = sqlite3.connect(pathlib.Path(place.experiment()) / "findings.db")
    blocked = {name.split("/")[-1] for name, in database.execute("SELECT name FROM callpaths") if "(blocked in" in name}
    check({"(blocked in fgets on a pipe)", "(blocked in system)"} <= blocked, f"blocked are {blocked}")


def commands(place):
    """A program without threads that lets commands work is recorded: it is blocked by them."""
    run(place, place.program("alone/processes"), "commands")
    report = Report(place, place.experiment())
    report.check_identities()
    report.check_nothing_lost()
    database = sqlite3.connect(pathlib.Path(place.experiment()) / "findings.db")
    blocked = dict(database.execute("SELECT c.name, sum(p.time_s) FROM callpaths c JOIN profile p ON p.callpath = c.id"
                                    " WHERE c.name LIKE '%/commands/(blocked in%' GROUP BY 1"))
    check(sum(blocked.values()) >= 0.5, f"blocked are {blocked}")


WAITS = {
    "pipe_of_threads": ("thread.pipe", "await_it/read", range(1, 5)),
    "event": ("thread.event", "await_it/read", range(1, 5)),
    "used_again": ("thread.pipe", "await_it/read", range(1, 5)),
    "pipe": ("thread.pipe", "await_it/read", range(1, 5)),
    "pair": ("thread.pipe", "await_it/read", range(1, 5)),
    "fifo": ("thread.pipe", "await_it/read", range(1, 5)),
    "children": ("thread.child", "await_children/wait", range(1, 5)),
    "poll": ("thread.pipe", "await_by_poll/poll", range(1, 5)),
    "select": ("thread.pipe", "await_by_select/select", range(1, 5)),
    "epoll": ("thread.pipe", "await_by_epoll/epoll_wait", range(1, 5)),
    "slices_of_poll": ("thread.pipe", "await_in_slices/poll", range(1, 6)),
    "slices_of_select": ("thread.pipe", "await_in_slices_of_select/select", range(1, 6)),
    "slices_of_recv": ("thread.pipe", "await_in_slices_of_recv/recv", range(1, 6)),
    "flock": ("thread.file_lock", "lock_by_flock/flock", range(1, 5)),
    "lockf": ("thread.file_lock", "lock_by_lockf/lockf", range(1, 5)),
    "fcntl": ("thread.file_lock", "lock_by_fcntl/fcntl", range(1, 5)),
    "semaphore": ("thread.semaphore", "await_semaphore/sem_wait", range(1, 5)),
    "condition": ("thread.condition", "await_condition/pthread_cond_wait", range(1, 5)),
    "workers": ("thread.pipe", "await_results/read", range(1, 5)),
}

SHARED = {
    "barrier": ("thread.barrier", "await_barrier/pthread_barrier_wait", range(1, 5)),
    "rwlock": ("thread.lock", "await_lock/pthread_rwlock_rdlock", range(1, 5)),
    "futex": ("thread.futex", "await_word/futex", range(1, 5)),
    "one_address": ("thread.semaphore", "await_semaphore/sem_wait", range(1, 5)),
    "named": ("thread.semaphore", "await_semaphore/sem_wait", range(1, 5)),
    "full_pipe": ("thread.full_pipe", "await_room/write", range(1, 5)),
    "full_pair": ("thread.full_pipe", "await_room/write", range(1, 9)),
    "tcp": ("thread.pipe", "await_answer/recv", range(1, 5)),
    "local": ("thread.pipe", "await_answer/recv", range(1, 5)),
    "polled": ("thread.full_pipe", "await_by_poll/poll", range(1, 9)),
}

SYSTEM = {
    "queue": ("thread.queue", "await_message/mq_receive", range(1, 5)),
    "full_queue": ("thread.full_pipe", "await_room/mq_send", range(1, 5)),
    "system_v_queue": ("thread.queue", "await_system_v/msgrcv", range(1, 5)),
    "raised": ("thread.semaphore", "await_raised/change/semop", range(1, 5)),
    "zero": ("thread.semaphore", "await_zero/change/semop", range(1, 5)),
    "signal": ("thread.signal", "await_signal/sigwait", range(1, 5)),
    "handler": ("thread.signal", "await_handler/sigsuspend", range(1, 5)),
    "c11": ("thread.condition", "await_made/cnd_wait", range(1, 5)),
    "c11_lock": ("thread.lock", "await_c11_lock/mtx_lock", range(1, 5)),
    "spin_lock": ("thread.lock", "await_spin/pthread_spin_lock", range(1, 5)),
}

TESTS = {test.__name__: test for test in
         (produced, becomes_another, children, beside_openmp, launcher, pool, executes, status, calls_that_sleep,
          meets, slices, futures, locks, unseen_sleeps, unseen_killed, unseen_watcher, unseen_ends, spins, waits_outside, pools_asleep, pools_rare, pools_needed,
          commands)}
TESTS.update({f"waits_{how}": waits_with(how, *what) for how, what in WAITS.items()})
TESTS.update({f"shared_{how}": waits_with(how, *what, program="shared") for how, what in SHARED.items()})
TESTS.update({f"system_{how}": waits_with(how, *what, program="system") for how, what in SYSTEM.items()})

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
