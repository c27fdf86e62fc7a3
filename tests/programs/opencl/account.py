# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What an OpenCL example wrote down of itself (examples/account.h), and the answers that follow from
it by the definitions of docs/decisions/0011 alone: whoever took a core away meanwhile, and however
fast the device is, it is in both, the account and culprit's records. Times in seconds."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Phase:
    rank: int
    name: str
    begin: float
    end: float


@dataclasses.dataclass(frozen=True)
class Operation:
    rank: int
    queue: int  # of its rank, counted from 1 as they are used first
    handed_over: float
    begin: float
    end: float


@dataclasses.dataclass(frozen=True)
class Gap:
    """The device had nothing to do from `begin` on, and the host of `ends_it` handed nothing over
    until `late`."""
    begin: float
    late: float
    ends_it: Operation


def overlap(begin, end, other_begin, other_end):
    return max(0.0, min(end, other_end) - max(begin, other_begin))


class Account:
    def __init__(self, text):
        self.phases, self.operations, queues = [], [], {}
        for line in text.splitlines():
            if not line.startswith("account: "):
                continue
            _, what, *rest = line.split()
            if what == "phase":
                rank, name, *times = rest
                self.phases.append(Phase(int(rank), name, *(int(t) * 1e-9 for t in times)))
            else:
                rank, handle, *times = rest
                known = queues.setdefault(int(rank), [])
                if handle not in known:
                    known.append(handle)
                self.operations.append(Operation(int(rank), known.index(handle) + 1,
                                                 *(int(t) * 1e-9 for t in times)))
        self.operations.sort(key=lambda operation: operation.begin)
        self.gaps, self.busy = self._look_for_gaps()

    def _look_for_gaps(self):
        gaps, busy, until = [], 0.0, None
        for operation in self.operations:
            if until is not None and operation.begin > until:
                late = min(max(operation.handed_over, until), operation.begin)
                gaps.append(Gap(until, late, operation))
            since = operation.begin if until is None else max(operation.begin, until)
            until = max(operation.end, since)
            busy += until - since
        return gaps, busy

    def named(self, name, rank=0):
        return [p for p in self.phases if p.name == name and p.rank == rank]

    def total(self, name, rank=0):
        return sum(phase.end - phase.begin for phase in self.named(name, rank))

    def idle_during(self, name, rank=0, owner=None):
        """How long the device had nothing to do during such phases: between its operations, for want
        of one of `owner` (as a rule the phases' own rank), and after the last."""
        owner = rank if owner is None else owner
        last = max(operation.end for operation in self.operations)
        idle = 0.0
        for phase in self.named(name, rank):
            idle += overlap(phase.begin, phase.end, last, phase.end)
            idle += sum(overlap(phase.begin, phase.end, gap.begin, gap.late)
                        for gap in self.gaps if owner in ("any", gap.ends_it.rank))
        return idle

    def late_launches(self, rank, queue):
        """How long the device waited for what this queue was given."""
        return sum(gap.late - gap.begin for gap in self.gaps
                   if (gap.ends_it.rank, gap.ends_it.queue) == (rank, queue))

    def waits_for_queue(self, name, queue, rank=0, behind=None):
        """How long calls of this name waited for what the queue had been given; the last queue of
        all is waited for in order `behind` another, if any."""
        waited = 0.0
        for call in self.named(name, rank):
            given = [o for o in self.operations if (o.rank, o.queue) == (rank, queue)
                     and o.handed_over < call.begin < o.end]
            if not given:
                continue
            awaited = max((o.end for o in self.operations if (o.rank, o.queue) == (rank, behind)
                           and o.handed_over < given[0].handed_over), default=0.0)
            on_its_way = given[0].begin > call.begin and awaited <= call.begin
            since = given[0].begin if on_its_way else call.begin
            waited += min(given[-1].end, call.end) - since
        return waited

    def waits_for_other_queue(self, queue, behind, rank=0):
        """How long operations of a queue, though handed over, waited for the last one that another
        queue had been given before, which was at work."""
        waited = 0.0
        for operation in (o for o in self.operations if (o.rank, o.queue) == (rank, queue)):
            others = [o for o in self.operations if (o.rank, o.queue) == (rank, behind)
                      and o.handed_over < operation.handed_over]
            if others and others[-1].end > operation.handed_over:
                waited += others[-1].end - max(operation.handed_over, others[-1].begin)
        return waited
