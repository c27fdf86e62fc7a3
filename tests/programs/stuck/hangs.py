#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that hang for certain, asked with `culprit stuck` while they run and after they and culprit were killed by
SIGKILL. A hang is named if the status is the right one (5: somebody cannot go on; 6: nobody does), and if the answer
says the line at which the program hangs, which its source marks, and the words that tell why."""

import dataclasses
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import harness
from harness import Skip, check, execute

STUCK, NO_PROGRESS, GOES_ON = 5, 6, 0
NOBODY = 0  # MPI: started without a launcher


@dataclasses.dataclass
class Case:
    status: int = STUCK
    words: tuple = ()
    ranks: int = NOBODY
    source: str = "waits.cpp"
    without: tuple = ()  # variants of the program in which there is no such hang
    marks: tuple = ()    # of the source, beside the case's own name; () where it says where nobody hangs


def waits(*words, status=STUCK, **more):
    return Case(status=status, words=words, **more)


WAITS = {
    "mutex_self": waits("for a mutex that it holds itself"),
    "mutex_abba": waits("Deadlock", "for a mutex that thread", "for a mutex that its first thread holds"),
    "mutex_of_ended": waits("for a mutex that", "held when it ended"),
    "join_of_waiting": waits("Deadlock", "to end", "for a mutex that its first thread holds"),
    "std_mutex": waits("Deadlock", "to end", "for a mutex that its first thread holds"),
    "condition": waits("for another thread to signal a condition variable, but it is the only thread left"),
    "condition_of_all": waits("for another thread to signal a condition variable"),
    "std_condition": waits("for another thread to signal a condition variable"),
    "semaphore": waits("for another thread to post a semaphore"),
    "join_circle": waits("Deadlock", "to end"),
    "rwlock_written": waits("Deadlock", "for a read-write lock that its first thread holds"),
    "rwlock_upgrade": waits("for a read-write lock that is held for reading"),
    "barrier_of_three": waits("for other threads to reach a barrier"),
    "atomic_wait": waits("for another thread to wake it"),
    "latch": waits("for another thread to wake it"),
    "future": waits("for another thread to wake it"),
    "once_in_once": waits("for another thread to wake it"),
    "pipe_read": waits("read", "whose other end only it itself has"),
    "pipe_write": waits("write", "whose other end only it itself has"),
    "fifo_open": waits("open", "fifo", status=NO_PROGRESS),
    "flock_self": waits("flock", "that it itself holds"),
    "child": waits("waitpid", "sleep, which sleeps", status=NO_PROGRESS),
    "socket_read": waits("recv", "socket", status=NO_PROGRESS),
    "long_sleep": waits("nanosleep", status=NO_PROGRESS),
    "wait_for_usr1": waits("sigwait", status=NO_PROGRESS),
    "stdio_lock": waits("Deadlock", "to end", "for another thread to wake it"),
    "flag_spin": waits("spins", status=NO_PROGRESS),
    "flag_yield": waits("spins", status=NO_PROGRESS),
    "flag_sleep": waits("sleeps again and again", status=NO_PROGRESS),
    "critical_twice": waits("for a lock that it holds itself"),
    "detached": waits("for the event of a detached task"),
    "compute_lines": waits("computes", status=GOES_ON),
    "compute_line": waits("computes", status=GOES_ON),
    "join_of_computing": waits("computes", "join", status=GOES_ON),
}


def polls(*words, status=STUCK, **more):
    return Case(status=status, words=words, ranks=2, source="polls.c", **more)


POLLS = {
    "test_loop": polls("Deadlock", "calls MPI_Test", "again and again", "for a message from rank 1 with tag 4"),
    "testall_loop": polls("calls MPI_Testall", "for a message from rank 1"),
    "iprobe_loop": polls("calls MPI_Iprobe", "for a message;"),
    "iprobe_slow": polls("calls MPI_Iprobe", "computes", status=GOES_ON),
    "test_send": polls("calls MPI_Test", "for rank 1 to receive its message with tag 4"),
    "test_gone": polls("calls MPI_Test", "for a message from rank 1 with tag 4"),
    "pready": polls("for rank 0 to mark the last partitions of a message ready", without=("openmpi",)),
    "parrived": polls("calls MPI_Parrived", "mark the last partitions", without=("openmpi",)),
    "thread_and_barrier": polls("for rank 0 to enter MPI_Barrier", "for a mutex that it holds itself"),
    "pipe_and_barrier": polls("read", "for rank 0 to enter MPI_Barrier", status=NO_PROGRESS),
    "spin_and_barrier": polls("spins", "for rank 0 to enter MPI_Barrier", status=NO_PROGRESS),
    "two_flocks": polls("Deadlock", "flock", "that rank 1 holds", "that rank 0 holds"),
}


def mixes(*words, status=STUCK, **more):
    return Case(status=status, words=words, ranks=2, source="mixes.c", **more)


MIXES = {
    "joins_receiver": mixes("for a message from rank 1 with tag 4", "for rank 0 to enter MPI_Barrier"),
    "mutex_over_recv": mixes("Deadlock", "for a mutex that", "for a message from rank 0 with tag 4"),
    "servers": mixes("Deadlock", "for a message from any rank with tag 99"),
    "worker_reads": mixes("read", "whose other end only it itself has", "for rank 0 to enter MPI_Barrier"),
    "recv_in_task": mixes("for a message from rank 1 with tag 4", "for rank 0 to enter MPI_Barrier"),
    "testany_loop": mixes("calls MPI_Testany", "for a message from rank 1"),
    "testsome_loop": mixes("calls MPI_Testsome", "for a message from rank 1 with tag 4"),
    "get_status_loop": mixes("calls MPI_Request_get_status", "for a message from rank 1 with tag 4"),
    "improbe_loop": mixes("Deadlock", "calls MPI_Improbe", "for a message;", "with tag 7"),
    "test_collective": mixes("calls MPI_Test", "for rank 1 to enter"),
    "word_of_window": mixes("MPI_", "for rank 0 to enter MPI_Barrier", status=NO_PROGRESS),
    "shared_word": mixes("MPI_Win_sync", "for rank 0 to enter MPI_", status=NO_PROGRESS),
    "win_locks": mixes("Deadlock", "for the lock of a window that rank 1 holds"),
    "file_to_come": mixes("sleeps again and again", "for rank 0 to enter MPI_Barrier", status=NO_PROGRESS),
    "fcntl_and_recv": mixes("Deadlock", "fcntl", "that rank 1 holds", "for a message from rank 0"),
    "fifo_between": mixes("Deadlock", "read", "whose other end only rank 1 has", "for a message from rank 0"),
    "socket_between": mixes("recv", "socket", status=NO_PROGRESS),
    "accepts": mixes("is in MPI_Comm_accept", "for rank 0 to enter MPI_Barrier", status=NO_PROGRESS,
                     without=("mpich",)),
}


def outside(*words, status=STUCK, **more):
    return Case(status=status, words=words, source="outside.cpp", **more)


OUTSIDE = {
    "critical_and_mutex": outside("Deadlock", "for a lock that", "for a mutex that"),
    "semaphore_in_region": outside("for another thread to post a semaphore", "for thread 1 to reach the barrier"),
    "spin_in_task": outside("computes", "to reach the barrier", status=GOES_ON),
    "pause_in_region": outside("pause", "for thread 1 to reach the barrier", status=NO_PROGRESS),
    "lock_in_handler": outside("for a mutex that it holds itself"),
    "std_barrier": outside("for another thread to wake it"),
    "counting_semaphore": outside("for another thread to"),
    "timed_condition": outside("is in pthread_cond_clockwait", status=NO_PROGRESS),
    "exit_joins": outside("Deadlock", "to end", "for a mutex that its first thread holds"),
    "poll_event": outside("poll", status=NO_PROGRESS),
    "epoll_loop": outside("sleeps again and again", status=NO_PROGRESS),
    "accept_nobody": outside("accept", "socket", status=NO_PROGRESS),
    "posix_queue": outside("mq_receive", status=NO_PROGRESS),
    "full_pipe_of_child": outside("waitpid", "head", status=NO_PROGRESS),
    "fork_with_lock": outside("waitpid", "outside", status=NO_PROGRESS),
    "mutex_of_dead_process": outside("mutex", status=NO_PROGRESS),
    "stopped_child": outside("waitpid", "stopped", status=NO_PROGRESS),
    "flock_of_child": outside("flock", "holds", status=NO_PROGRESS),
    "both_read": outside("read", "pipe", status=NO_PROGRESS),
    "popen_reads": outside("read", "pipe", status=NO_PROGRESS),
}
CASES = {**WAITS, **POLLS, **MIXES, **OUTSIDE}


def variants(case):
    """As the programs are named: by the MPI, else by the compiler."""
    all_of_them = ("openmpi", "mpich") if case.ranks else ("gcc", "clang")
    return [variant for variant in all_of_them if variant not in case.without]


def marked_lines(source, name):
    """Where the source says that the case hangs."""
    lines = (HERE / source).read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if re.search(rf"hangs: (.*\b)?{name}\b", line)]


def command_of(place, name, case, variant):
    program = place.program(f"stuck/{case.source.split('.')[0]}.{variant}")
    command = [program, name, str(place.scratch)]
    if not case.ranks:
        return command
    if variant == "openmpi":
        return harness.mpirun(case.ranks, *command)
    launcher = shutil.which("mpirun.mpich")
    if not launcher:
        raise Skip("MPICH's launcher is not there")
    return [launcher, "-n", str(case.ranks), *command]


def kill_all_of(run):
    """With SIGKILL, culprit first: nobody says a word more."""
    if run.poll() is not None:
        return
    os.killpg(run.pid, signal.SIGSTOP)
    below = [run.pid]
    for process in below:
        for thread in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
            below += [int(child) for child in thread.read_text().split()]
    for process in below:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    run.communicate()


def judge(answer, name, case, when):
    text = " ".join(answer.stdout.split())
    check(answer.returncode == case.status,
          f"{when}: status {answer.returncode}, expected {case.status}: {answer.stdout}{answer.stderr}")
    lines = marked_lines(case.source, name)
    check(case.status == GOES_ON or lines, f"{case.source} does not say where {name} hangs")
    check(not lines or any(f"{case.source}:{line}" in text for line in lines),
          f"{when}: line {lines} is not named: {answer.stdout}")
    for words in case.words:
        check(words in text, f"{when}: '{words}' is not in: {answer.stdout}")


def hang(place, name, variant, patience_s=4.0):
    case = CASES[name]
    folder = place.experiment()
    run = subprocess.Popen([place.culprit, "run", "-o", folder, "--", *command_of(place, name, case, variant)],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                           start_new_session=True,
                           env={**os.environ, **harness.ENVIRONMENT, "OMP_NUM_THREADS": "2"})
    wrong = None
    try:
        raw = pathlib.Path(folder) / "raw"
        deadline = time.monotonic() + 30
        while not list(raw.glob("*/process")) and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(patience_s)
        check(run.poll() is None, "the program does not hang")
        for attempt in range(3):  # on a busy machine it may take long to get there
            answer = execute([place.culprit, "stuck", folder])
            try:
                judge(answer, name, case, "live")
                break
            except harness.Wrong as error:
                wrong = error
                time.sleep(1)
        else:
            raise wrong
    finally:
        kill_all_of(run)
    judge(execute([place.culprit, "stuck", folder]), name, case, "killed")


TESTS = {f"{name}.{variant}": functools.partial(hang, name=name, variant=variant)
         for name, case in CASES.items() for variant in variants(case)}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
