# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the bench of truth: which program, how many ranks, and the answer.

The answer, `who`, is a list of culprits, `RANK[.THREAD]:function=cost`, joined by semicolons; `*` is
any rank. `cost` is the waiting in seconds that they cause, of what the programs' own accounts say: a
function's name (what was spent in it, over all ranks), `<function>_<rank>` (on one), `waits` (in calls
that wait, over all threads, transfers included), `ranks`, and `rounds`. Where all begin and end together
and nobody else works, all others wait as long as the late one works. `a..b` is a range, where it is a
matter of definition how much of a wait counts as one. All others are innocent. Without any culprit the program
is balanced. `path` names the function that must lead the critical path; where that alone is the answer,
`who` is None.

Modes: F, functions are recorded exactly (-finstrument-functions); P, plain, by samples, time is spent
asleep; W, plain, time is spent computing; C, as P, by clang; M, as P, with MPICH.
"""

from dataclasses import dataclass

from families import alone, gains, names, overheads, progress, sleepers, times


@dataclass(frozen=True)
class Case:
    name: str
    program: str
    ranks: int  # 0: no MPI
    who: str | None
    ms: float = 100
    rounds: int = 8
    modes: str = "FP"
    path: str = ""
    polls: bool = False  # what tests are due to counts as waiting that it causes
    ratio: bool = False  # judge how the cost is shared by the culprits rather than its amount
    timed: bool = True   # the program times its calls that wait
    gain: str = ""       # what may be said that a change would bring (families/gains.py)
    quick: bool = False  # a part of the test truth.quick, with mode F
    says: str = ""       # a pattern that the verdict matches

    @property
    def key(self):
        return f"{self.program}.{self.name}"


def case(program, ranks, name, who, **more):
    return Case(name, program, ranks, who, **more)


def phases(name, who, ratio=False):
    """0.2 ms to 50 ms, each about three seconds in all: a second has 30 samples of the shorter phase, and their
    number is off by 18 % as a rule."""
    return [Case(name, "phases", 2, who, ms=ms, rounds=rounds, modes="FPW", ratio=ratio)
            for ms, rounds in ((0.2, 9000), (1, 1800), (5, 360), (50, 40))]


# One is late, all others wait.
LATE = "1:late=late*(ranks-1)"
LATE_0 = "0:late=late*(ranks-1)"
LATE_2 = "2:late=late*(ranks-1)"
LATE_5 = "5:late=late*(ranks-1)"
LATE_RECEIVER = "1:late_receiver=late_receiver"
NOBODY = ""

CASES = [
    # Messages.
    case("point", 2, "recv", LATE, modes="FPWM", quick=True),
    case("point", 2, "recv_any", LATE),
    case("point", 2, "recv_large", LATE),
    case("point", 2, "sendrecv_pair", LATE, modes="FPM"),
    case("point", 2, "sendrecv_replace", LATE),
    case("point", 2, "ping_pong", LATE),
    case("point", 2, "ssend", LATE_RECEIVER),
    case("point", 2, "rendezvous", LATE_RECEIVER),
    case("point", 2, "irecv_wait", LATE, quick=True),
    case("point", 2, "issend_wait", LATE_RECEIVER),
    case("point", 2, "rendezvous_wait", LATE_RECEIVER),
    case("point", 4, "waitall", LATE),
    case("point", 4, "wait_each", LATE),
    case("point", 4, "waitany", LATE),
    case("point", 4, "waitsome", LATE),
    case("point", 2, "persistent", LATE),
    case("point", 2, "startall", LATE),
    case("point", 2, "partitioned", LATE, modes="M"),
    case("point", 2, "probe", LATE),
    case("point", 2, "mprobe", LATE),
    # Polling.
    case("point", 2, "iprobe", LATE, path="late", polls=True),
    case("point", 2, "iprobe_asleep", LATE, path="late", polls=True, modes="FPWM"),
    case("point", 2, "in_turn", LATE, path="late", polls=True),
    case("point", 2, "test", LATE, path="late", polls=True),
    case("point", 4, "testall", LATE, path="late", polls=True),
    case("point", 4, "testany", LATE, path="late", polls=True),
    case("point", 4, "testsome", LATE, path="late", polls=True),
    # Rings, lines, halos.
    case("shape", 4, "ring_sendrecv", LATE_0, rounds=12, modes="FPM"),
    case("shape", 4, "ring_large", LATE_0),
    case("shape", 4, "ring_replace", LATE_0),
    case("shape", 4, "ring_isend", LATE_0),
    case("shape", 4, "ring_waitall", LATE_0),
    case("shape", 4, "ring_neighbours", LATE_0),
    case("shape", 4, "ring_moving", "*:late=waits", rounds=12),
    case("shape", 4, "ring_wrapper", LATE_0),
    case("ring", 4, "ring", LATE_0),
    case("ring", 4, "barrier", LATE_0),
    case("shape", 4, "line_sendrecv", LATE),
    case("shape", 4, "line_waitall", LATE),
    case("shape", 6, "halo2_sendrecv", LATE_2),
    case("shape", 6, "halo2_waitall", LATE_2),
    case("shape", 6, "halo2_large", LATE_2),
    case("shape", 8, "halo3_sendrecv", LATE_5),
    case("shape", 8, "halo3_waitall", LATE_5),
    case("shape", 4, "odd_even", LATE_2),
    # One for all, chains.
    case("shape", 4, "gather_waitall_bcast", LATE_2),
    case("shape", 4, "gather_recv_bcast", LATE_2),
    case("shape", 4, "master_worker", "0:assign_work=assign_work*(ranks-1)", ms=30, rounds=8),
    case("shape", 4, "chain", LATE_0, quick=True),
    case("shape", 4, "chain_barriers", LATE_0),
    # Two causes, 2 : 1.
    case("shape", 4, "two_ranks", "1:first_cause=first_cause; 2:second_cause=second_cause", ms=60),
    case("shape", 4, "two_functions", "1:first_cause=3*first_cause; 1:second_cause=3*second_cause", ms=50,
         quick=True),
    case("shape", 4, "two_turns", "1:first_cause=3*first_cause; 2:second_cause=3*second_cause", ms=50),
    # Call paths.
    case("shape", 2, "wrapped_barrier", "1:compute=compute", ms=2, rounds=400, modes="FPW"),
    case("shape", 2, "between_wrappers", "1:read_input=read_input", ms=600, rounds=1, modes="FPW"),
    case("shape", 2, "recursion", "1:descend=descend", ms=12),
    case("shape", 3, "two_callers", "1:precondition=2*compute_1-compute_0-compute_2"),
    *phases("two_phases", "1:assemble_matrix=assemble_matrix; 1:apply_boundary=apply_boundary", True),
    *phases("uneven_phases", "1:assemble_matrix=assemble_matrix_1-assemble_matrix_0"),
    *phases("wrapped_phases", "1:assemble_matrix=assemble_matrix; 1:apply_boundary=apply_boundary", True),
    # Operations that go on only while a rank calls MPI.
    *progress.cases(case),
    # Before, after, between; nothing to find.
    case("shape", 4, "slow_input", "0:read_input=3*read_input", ms=400, modes="FPW"),
    case("shape", 4, "slow_output", "1:write_output=3*write_output", ms=400),
    case("shape", 3, "after_barrier", LATE),
    case("shape", 2, "imbalance", "1:compute=compute_1-compute_0", modes="FPW"),
    case("shape", 2, "balanced", NOBODY, ms=50, rounds=20),
    case("shape", 4, "balanced_ring", NOBODY, ms=50, rounds=20),
    # Collectives.
    case("collective", 4, "barrier", LATE, modes="FPM", quick=True),
    case("collective", 4, "bcast", LATE_0, quick=True),
    case("collective", 4, "scatter", LATE_0),
    case("collective", 4, "scatterv", LATE_0),
    case("collective", 4, "reduce", LATE),
    case("collective", 4, "gather", LATE),
    case("collective", 4, "gatherv", LATE),
    case("collective", 4, "scan", LATE),
    case("collective", 4, "exscan", LATE),
    case("collective", 4, "allreduce", LATE),
    case("collective", 4, "allgather", LATE),
    case("collective", 4, "allgatherv", LATE),
    case("collective", 4, "alltoall", LATE),
    case("collective", 4, "alltoallv", LATE),
    case("collective", 4, "reduce_scatter", LATE),
    case("collective", 4, "reduce_scatter_block", LATE),
    case("collective", 4, "ibarrier", LATE),
    case("collective", 4, "ibarrier_test", LATE, path="late", polls=True),
    case("collective", 4, "ibarrier_in_turn", LATE, path="late", polls=True),
    case("collective", 4, "ibcast", LATE_0),
    case("collective", 4, "iallreduce", LATE),
    case("collective", 4, "ialltoall", LATE),
    case("collective", 4, "subcommunicators", "1:late=late_1"),
    case("collective", 4, "inter_barrier", LATE),
    case("collective", 4, "inter_bcast", LATE_0),
    case("collective", 4, "comm_dup", LATE),
    case("collective", 4, "neighbour_graph", LATE),
    # One-sided.
    case("collective", 3, "fence", LATE),
    case("collective", 2, "late_post", LATE),
    case("collective", 2, "late_complete", LATE_0),
    case("collective", 2, "win_lock", "1:hold_window=hold_window"),
    # OpenMP.
    case("teams", 0, "barrier", "0.1:late=2*late", modes="FPC", quick=True),
    case("teams", 0, "fork_join", "0.1:late=2*late", modes="FPC"),
    case("teams", 0, "loop_static", "0.1:long_item=2*long_item", modes="FPC"),
    case("teams", 0, "loop_dynamic", "*:long_item=waits", modes="FPC"),
    case("teams", 0, "single", "*:late=2*late", modes="FPC"),
    case("teams", 0, "masked", "0.0:late=2*late", modes="FPC"),
    case("teams", 0, "sections", "*:long_item=2*long_item-short_item", modes="FPC"),
    case("teams", 0, "critical", "0.1:hold_lock=waits", modes="FPC"),
    case("teams", 0, "lock", "0.1:hold_lock=waits", modes="FPC"),
    case("teams", 0, "task", "*:long_item=2*long_item-1.5*short_item..2*long_item", modes="FPC"),
    case("teams", 0, "taskloop", "*:long_item=2*long_item-1.5*short_item..2*long_item", modes="FPC"),
    case("teams", 0, "depend", "*:long_item=long_item; *:short_item=short_item", modes="FPC"),
    case("teams", 0, "nested", "*:late=2*late..3*late", modes="FPC"),
    case("teams", 0, "serial_master", "0.0:serial_part=2*serial_part*(rounds-1)/rounds..2*serial_part",
         modes="FPC"),
    case("teams", 0, "two_causes", "0.1:long_item=2*long_item; 0.2:short_item=2*short_item", ms=50,
         modes="FPC"),
    case("teams", 0, "slow_start", None, ms=600, rounds=10, path="load_mesh", modes="FPCW"),
    case("teams", 0, "balanced", NOBODY, ms=50, rounds=20, modes="FPC"),
    # Threads and ranks.
    case("hybrid", 2, "thread_to_rank", "0.1:late=2*late", modes="FPC", quick=True),
    case("hybrid", 3, "thread_to_all", "0.1:late=3*late", modes="FPC"),
    case("hybrid", 2, "rank_to_thread", "0:late=2*late", modes="FPC"),
    case("hybrid", 2, "thread_to_thread", "0.1:late=3*late", modes="FPC"),
    case("hybrid", 2, "serial_masters", "*:serial_part=serial_part*(rounds-1)/rounds..serial_part",
         modes="FPC", timed=False),
    # Threads alone.
    *alone.cases(case),
    # Threads of the program's own.
    case("threads", 2, "helpers_balanced", NOBODY, ms=50, rounds=16),
    case("threads", 2, "helpers_early", NOBODY, ms=50, rounds=16),
    case("threads", 2, "join", "1:helper_work=2*helper_work", quick=True),
    case("threads", 2, "mutex_held", "1:hold_mutex=1.98*hold_mutex..2*hold_mutex"),
    case("threads", 2, "condition", "0:late=2*late", quick=True),
    case("threads", 2, "condition_work", "1:helper_work=2*helper_work"),
    case("threads", 2, "communication_thread", "0:late=2*late"),
    case("threads", 2, "semaphore", "1:helper_work=2*helper_work"),
    case("threads", 2, "thread_barrier", "1:helper_work=3*helper_work"),
    case("threads", 2, "late_helper", LATE),
    *times.cases(case),
    *overheads.cases(case),
    *names.cases(case),
    *sleepers.cases(case),
    *gains.cases(case),
]
