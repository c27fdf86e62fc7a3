# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of threads alone, without MPI and OpenMP: analyzed as threads that wait for each other."""


def cases(case):
    return [
        case("alone", 0, "handshake", "0.1:late=late", modes="FPWC", quick=True),
        case("alone", 0, "late_master", "0.0:late=0.5*late..0.67*late", modes="FPW", timed=False),
        case("alone", 0, "pool_of_one", "0.1:long_item=long_item", modes="FPWC"),
        case("alone", 0, "idle_pool", "", modes="FPW"),
        case("alone", 0, "taken_in_turn", "*:long_item=long_item", modes="FPW"),
        case("alone", 0, "little_work", "", modes="FPW", timed=False),
        case("alone", 0, "join_each", "0.1:helper_work=helper_work", modes="FPW"),
        case("alone", 0, "mutex_held", "0.1:hold_mutex=0.98*hold_mutex..hold_mutex", modes="FPW"),
        case("alone", 0, "semaphore", "0.1:helper_work=helper_work", modes="FPW"),
        case("alone", 0, "barrier", "*:late=2*late", modes="FPWC", quick=True),
        case("alone", 0, "pipeline", "0.0:late=0.9*late..1.34*late; *:compute=0.1*late..0.45*late", modes="FPW", timed=False),
        case("alone", 0, "balanced", "", ms=50, rounds=16, modes="FPW"),
        case("alone", 0, "by_pipe", "0.1:helper_work=helper_work", modes="FPW"),
        case("alone", 0, "by_event", "0.1:helper_work=helper_work", modes="FPW"),
        case("alone", 0, "pipe_of_child", "1.0:late=late", modes="FPW", quick=True),
        case("alone", 0, "end_of_child", "1.0:late=late", modes="FPW"),
        case("alone", 0, "idle_worker", "*:late=late", modes="FPW"),  # which of two begins first is open
    ]
