# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Operations that need a rank's progress while it computes. Whether the library makes the others wait in the
operation or lets them go on to the barrier behind it, they wait for the late rank as long as it computes."""

LATE = "1:late=late*(ranks-1)"


def cases(case):
    return [
        case("progress", 2, "send_to_busy", LATE, modes="FPWM", quick=True),
        case("progress", 2, "isend_to_busy", LATE, modes="FPM"),
        case("progress", 2, "receive_from_busy", LATE, modes="FPM"),
        case("progress", 2, "exchange_with_busy", LATE, modes="FPM"),
        case("progress", 2, "send_to_testing", LATE, modes="FM"),
        case("progress", 4, "iallreduce", LATE, modes="FPWM", quick=True),
        case("progress", 4, "iallreduce_large", LATE, modes="FM"),
        case("progress", 4, "ibarrier", LATE, modes="FM"),
        case("progress", 4, "ialltoall", LATE, modes="FM"),
        case("progress", 4, "ibcast", LATE, modes="FM"),
        case("progress", 4, "ireduce", LATE, modes="FM"),
        case("progress", 2, "iallreduce_test", LATE, modes="FM", path="late", polls=True),
        case("progress", 2, "flush_busy", LATE, modes="FPM"),
        case("progress", 2, "unlock_busy", LATE, modes="FM"),
        case("progress", 3, "fetch_busy", LATE, modes="FM"),
        case("progress", 2, "slow_transfers", "", modes="FM", rounds=200),
    ]
