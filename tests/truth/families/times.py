# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""When somebody is late, and whether it moves: the verdict says so. Costs are those of any imbalance."""

ONE = "1:late=late*(ranks-1)"
ANY = "*:late=waits"


def cases(case):
    def of(name, who, says, ms, rounds, **more):
        return case("times", 4, name, who, ms=ms, rounds=rounds, says=says, **more)
    return [
        of("once", ONE, r"once, at [\d.]+ m?s \(iteration 12[01]\)", 500, 200, quick=True),
        of("every_tenth", ONE, "every 10th step", 30, 200),
        of("every_fourth", ONE, "every 4th step", 10, 200),
        of("drift", ONE, "more each step", 20, 200),
        of("from", ONE, "from [\\d.]+ m?s on", 10, 200),
        of("until", ONE, "until [\\d.]+ m?s", 10, 200),
        of("steady", ONE, "on rank 1(;|\\.)", 10, 100),
        of("moves", ANY, "moves from rank to rank", 10, 120),
        of("turns", ANY, "take turns", 10, 120),
        of("random", ANY, "now one", 10, 120),
        of("together", "1:late=late_1; 2:late=late_2; 3:late=late_3", "on 3 ranks[;.]", 20, 100, ratio=True),
    ]
