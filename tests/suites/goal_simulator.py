# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Executes a schedule in GOAL's text form under the LogGOPS model, for the smoke test of loggopsim.py: a machine that
tests culprit need not have LogGOPSim.

The model (A. Alexandrov et al.: LogGP, 1995; T. Hoefler, T. Schneider, A. Lumsdaine: LogGOPSim, 2010): a process computes
or is busy with a message for o + O per byte; data arrives L + G per byte after its sender was busy with it. A message of
more than S bytes leaves when its receive is posted and the sender knows, and is gone when it has arrived. g, the gap
between messages, is left out: the suite sets it to 0. Each message has a tag of its own.
"""

import collections
import heapq
import re

OPERATION = re.compile(r"(\w+): (calc|send|recv) (\d+)(?:b (?:to|from) (\d+) tag (\d+))?")
REQUIREMENT = re.compile(r"(\w+) (i?requires) (\w+)")


class Operation:
    def __init__(self, rank, kind, amount, peer, tag):
        self.rank, self.kind, self.amount, self.peer, self.tag = rank, kind, int(amount), peer, tag
        self.missing = 0  # what it requires and has not come yet
        self.after_begin, self.after_end = [], []
        self.ready = 0.0


def parsed(schedule):
    operations, rank, here = [], -1, {}
    for line in schedule.splitlines():
        if line.startswith("rank "):
            rank, here = int(line.split()[1]), {}
        elif found := OPERATION.match(line):
            label, kind, amount, peer, tag = found.groups()
            here[label] = Operation(rank, kind, amount, int(peer or 0), tag)
            operations.append(here[label])
        elif found := REQUIREMENT.match(line):
            later, how, earlier = here[found[1]], found[2], here[found[3]]
            later.missing += 1
            (earlier.after_begin if how == "irequires" else earlier.after_end).append(later)
    return operations


class Simulation:
    def __init__(self, network):
        self.network = network
        self.free = collections.defaultdict(float)  # by rank: since when it does nothing
        self.queue, self.count = [], 0
        self.sent, self.posted = {}, {}  # by message: when it arrives, or who sends it; when and by what it is received
        self.last = 0.0

    def push(self, time, what, *arguments):
        self.count += 1
        heapq.heappush(self.queue, (time, self.count, what, arguments))

    def release(self, operations, time):
        for each in operations:
            each.missing -= 1
            each.ready = max(each.ready, time)
            if each.missing == 0:
                self.push(each.ready, self.begin, each)

    def finish(self, operation, time):
        self.last = max(self.last, time)
        self.release(operation.after_end, time)

    def busy(self, operation, time, length):
        """The end of the time that the process is busy, from the moment on or when it is free."""
        begin = max(time, self.free[operation.rank])
        self.free[operation.rank] = begin + length
        return begin + length

    def handling(self, operation):
        return self.network["o"] + (operation.amount - 1) * self.network["O"]

    def begin(self, time, operation):
        self.release(operation.after_begin, time)
        if operation.kind == "calc":
            self.finish(operation, self.busy(operation, time, operation.amount))
        elif operation.kind == "send":
            self.send(time, operation)
        else:
            key = (operation.peer, operation.rank, operation.tag)
            self.posted[key] = (time, operation)
            self.meet(key)

    def send(self, time, operation):
        gone = self.busy(operation, time, self.handling(operation))
        key = (operation.rank, operation.peer, operation.tag)
        asks = operation.amount > self.network["S"]
        self.sent[key] = (gone, operation if asks else None)
        if not asks:
            self.finish(operation, gone)
        self.meet(key)

    def meet(self, key):
        """Data comes once it was sent and, if its sender asks first, there is a receive for it."""
        if key not in self.sent or key not in self.posted:
            return
        (gone, asking), (posted, receive) = self.sent.pop(key), self.posted.pop(key)
        latency = self.network["L"]
        leaves = max(gone, posted + latency, gone + 2 * latency) if asking else gone
        arrives = leaves + latency + (receive.amount - 1) * self.network["G"]
        if asking:
            self.push(arrives, self.finish_at, asking)
        self.push(max(arrives, posted), self.take, receive)

    def finish_at(self, time, operation):
        self.finish(operation, time)

    def take(self, time, operation):
        self.finish(operation, self.busy(operation, time, self.handling(operation)))

    def run(self, operations):
        for each in operations:
            if each.missing == 0:
                self.push(0.0, self.begin, each)
        while self.queue:
            time, _, what, arguments = heapq.heappop(self.queue)
            what(time, *arguments)
        if any(each.missing for each in operations) or self.posted:
            raise ValueError("the schedule does not come to its end")
        return self.last


def simulated(schedule, network):
    """When the last process is done, in the unit of the schedule and the network."""
    return Simulation(network).run(parsed(schedule))
