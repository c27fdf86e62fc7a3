# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Rank 1 sleeps in a call of the system, or its threads wait for each other: sleepers.cpp."""

# Rank 0 waits as long as rank 1's function sleeps; where a helper of rank 1 works, so does its master.
ASLEEP = {
    "read": "read_pipe", "fifo": "open_fifo", "fgets": "read_line", "bare_read": "read_bare",
    "fscanf": "scan_number", "system": "run_script", "waitpid": "await_child",
    "recv": "await_message", "poll": "await_ready", "flock": "lock_file", "fsync": "write_checkpoint",
}
AMONG_THREADS = ("std_barrier", "std_latch", "std_semaphore", "atomic_wait", "future", "call_once", "slices")
QUICK = {"read", "slices"}


def cases(case):
    asleep = [case("sleepers", 2, name, f"1:{function}={function}", quick=name in QUICK)
              for name, function in ASLEEP.items()]
    return asleep + [case("sleepers", 2, name, "1:helper_work=2*helper_work", modes="FPW", quick=name in QUICK)
                     for name in AMONG_THREADS]
