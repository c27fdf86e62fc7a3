#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Runs, their GOAL schedules and predictions held against LogGOPSim (https://github.com/spcl/LogGOPSim), which is built
before, wherever it likes: `loggopsim.py --build build --simulator FOLDER [--repeat 3] [--only NAME]`. FOLDER has
txt2bin and LogGOPSim; without it, goal_simulator.py executes the schedules, which knows less.

A ring, halos along a line and an Allreduce (tests/programs/whatif) are recorded and exported. The simulator gets what
`culprit machine` finds between two processes here: latency, overheads, bytes per second, and the size from which a
library asks first. What is compared is the loop:

  as it is      the simulator's time against what the program says
  later         each message takes so much longer: the simulator's latency against `culprit whatif --message-delay`
  another machine   latency 1 ms more and 100 ns for each byte: the simulator's L and G, against
                `culprit whatif --recorded-on --machine` with files of two such links
  compute x0.5  each calc of the schedule (of one rank) halved, against `culprit whatif --scale compute=0.5`

Start-up and shutdown are no part of it: the schedule's first and last calc of each process become 0, and a prediction
is the program's time and what culprit says the run changes by. Prints a table in Markdown, of culprit's seconds and
what they are off by from the simulator's: medians over the repeats. A cell is right if it is off by 5 % at most, and so
is the change, where the run changes by more than 2 %; others are bold. The exit status is 1 if there are any. Wants a
machine that does nothing else."""

import argparse
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import goal_simulator

RIGHT = 0.05  # unless --tolerance says otherwise
SMALL_CHANGE = 0.02  # of the run: below it, a change is not judged apart
UNITS = 10  # of the simulator in a nanosecond: it knows whole ones, and a byte takes less than one nanosecond

Case = collections.namedtuple("Case", "program ranks settings")
LARGE = {"BYTES": "65536"}
CASES = [
    Case("ring", 8, {"ITERATIONS": "5"}),
    Case("ring", 4, {"SLOW_RANK": "1"}),
    Case("ring", 4, LARGE),
    Case("stencil", 8, {}),
    Case("stencil", 4, {"SLOW_RANK": "1"}),
    Case("stencil", 4, LARGE),
    Case("allreduce", 8, {}),
    Case("allreduce", 8, {"SLOW_RANK": "1"}),
    Case("allreduce", 4, LARGE),
]
# Where the two are known to differ, and docs/evidence/predictions.md says why.
LIMITS = [
    Case("stencil", 4, {**LARGE, "SLOW_RANK": "1"}),
    Case("allreduce", 6, {"SLOW_RANK": "1"}),
]
# And what is not judged of the others: the simulator receives data byte by byte while a process does nothing else.
DIFFERENT = {("stencil, 4 ranks, 65,536 bytes", "another machine")}
EVERYWHERE = {"WORK_US": "50000", "ITERATIONS": "10", "BYTES": "8", "OMPI_ALLOW_RUN_AS_ROOT": "1",
              "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

Change = collections.namedtuple("Change", "name told late_ns factor rank byte_ns", defaults=(None,))
AS_IT_IS = Change("as it is", (), 0, 1, None)
OTHER_MACHINE = Change("another machine", (), 10**6, 1, None, 100)
CHANGES = [
    AS_IT_IS,
    *(Change(f"{name} later", ("--message-delay", f"constant({name})"), nanos, 1, None)
      for name, nanos in (("100us", 10**5), ("1ms", 10**6), ("10ms", 10**7), ("100ms", 10**8))),
    OTHER_MACHINE,
    Change("compute x0.5", ("--scale", "compute=0.5"), 0, 0.5, None),
    Change("compute x0.5, rank 1", ("--scale", "compute=0.5", "--rank", "1"), 0, 0.5, 1),
]


def said_by(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


class Bench:
    """What is run: programs, culprit and the simulator."""

    def __init__(self, options, folder):
        self.build = os.path.abspath(options.build)
        self.simulator = options.simulator and os.path.abspath(options.simulator)
        self.folder, self.count = folder, 0
        self.networks = {}

    def culprit(self, *words):
        return [os.path.join(self.build, "bin", "culprit"), *words]

    @staticmethod
    def mpirun(ranks, *command):
        return ["mpirun.openmpi", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *command]

    def network(self, ranks):
        """LogGOPS parameters, in nanoseconds, with so many processes around; of g and O nothing is known."""
        if ranks in self.networks:
            return self.networks[ranks]
        path = os.path.join(self.folder, f"machine{ranks}.json")
        said_by(self.mpirun(ranks, *self.culprit("machine", "--seconds", "0.1", "-o", path)),
                env=dict(os.environ, **EVERYWHERE))
        with open(path, encoding="utf-8") as file:
            link = json.load(file)["links"][0]
        if link["bytes_per_second"] <= 0:  # too busy a machine to be measured: one that is no worse than another
            link.update(latency_ns=1000, bytes_per_second=5e9, send_overhead_ns=200, receive_overhead_ns=200)
        o = min((link["send_overhead_ns"] + link["receive_overhead_ns"]) / 2, link["latency_ns"] / 2)
        self.networks[ranks] = {"L": link["latency_ns"] - 2 * o, "o": o, "g": 0, "G": 1e9 / link["bytes_per_second"],
                                "O": 0, "S": (link.get("step_bytes") or 65536) - 1}
        return self.networks[ranks]

    def told(self, change, ranks):
        """What culprit is asked for."""
        if change is not OTHER_MACHINE:
            return change.told
        network = self.network(ranks)
        latency = network["L"] + 2 * network["o"]
        files = []
        for name, late_ns, byte_ns in (("here", 0, network["G"]), ("there", change.late_ns, change.byte_ns)):
            files.append(os.path.join(self.folder, f"{name}{ranks}.json"))
            with open(files[-1], "w", encoding="utf-8") as file:
                json.dump({"format": "culprit machine 1", "links": [
                    {"between": "same node", "latency_ns": latency + late_ns, "bytes_per_second": 1e9 / byte_ns}]}, file)
        return ("--recorded-on", files[0], "--machine", files[1])

    def recorded(self, case):
        """An experiment, and how long the program says its loop took."""
        self.count += 1
        experiment = os.path.join(self.folder, f"run{self.count}")
        program = os.path.join(self.build, "tests", "programs", case.program)
        said = said_by(self.culprit("run", "-q", "-o", experiment, "--", *self.mpirun(case.ranks, program)),
                       env={**os.environ, **EVERYWHERE, **case.settings})
        return experiment, float(re.search(r"loop ([0-9.]+) s", said)[1])

    def exported(self, experiment):
        path = experiment + ".goal"
        said_by(self.culprit("export", "-q", experiment, "--format", "goal", "-o", path))
        with open(path, encoding="utf-8") as file:
            return file.read()

    def predicted_change_s(self, experiment, told):
        data = json.loads(said_by(self.culprit("whatif", experiment, "--format", "json", "--repeats", "1", *told)))
        return data["predicted_wall_s"] - data["wall_s"]

    def simulated_s(self, schedule, network, late_ns, byte_ns=None):
        network = dict(network, L=network["L"] + late_ns, G=byte_ns or network["G"])
        network = {name: round(value * (1 if name == "S" else UNITS)) for name, value in network.items()}
        if not self.simulator:
            return goal_simulator.simulated(schedule, network) / UNITS / 1e9
        path = os.path.join(self.folder, "schedule")
        with open(path, "w", encoding="utf-8") as file:
            file.write(schedule)
        said_by([os.path.join(self.simulator, "txt2bin"), "-i", path, "-o", path + ".bin"])
        words = [word for name, value in network.items() for word in (f"-{name}", str(value))]
        said = said_by([os.path.join(self.simulator, "LogGOPSim"), "-f", path + ".bin", *words])
        return max(int(time) for time in re.findall(r"Host \d+: (\d+)", said)) / UNITS / 1e9


def loop_of(schedule, factor, of_rank):
    """The schedule without start-up and shutdown, its computing scaled, in the simulator's units."""
    lines = schedule.splitlines()
    calcs = collections.defaultdict(list)
    rank = None
    for place, line in enumerate(lines):
        if line.startswith("rank "):
            rank = int(line.split()[1])
        elif ": calc " in line:
            calcs[rank].append(place)
    for rank, places in calcs.items():
        for place in places:
            label, nanos = lines[place].split(": calc ")
            times = 0 if place in (places[0], places[-1]) else factor if of_rank in (None, rank) else 1
            lines[place] = f"{label}: calc {round(int(nanos) * times * UNITS)}"
    return "\n".join(lines) + "\n"


def judge(change, runs, is_judged, tolerance):
    """`runs`: of each repeat, (simulated as it is, simulated, said by the program, predicted change). Whether that is
    right, and culprit's time, with what it is off by."""
    base, simulated, told, by = (statistics.median(column) for column in zip(*runs))
    off = statistics.median((run[2] + run[3]) / run[1] - 1 for run in runs)
    right = abs(off) <= tolerance
    if not is_judged:
        return True, f"({told + by:.3f}, {100 * off:+.1f} %)"
    if change is not AS_IT_IS:
        most = max(abs(simulated - base), abs(by))
        right &= most <= SMALL_CHANGE * base or abs(simulated - base - by) <= tolerance * most
    cell = f"{told + by:.3f} ({100 * off:+.1f} %)"
    return right, cell if right else f"**{cell}**"


def name_of(case):
    size = int(case.settings.get("BYTES", EVERYWHERE["BYTES"]))
    slow = ", one slow" if "SLOW_RANK" in case.settings else ""
    return f"{case.program}, {case.ranks} ranks{slow}, {size:,} bytes"


def measure(bench, case, repeat):
    """By change: what each repeat came to."""
    runs = {change: [] for change in CHANGES}
    network = bench.network(case.ranks)
    for _ in range(repeat):
        experiment, told = bench.recorded(case)
        schedule = bench.exported(experiment)
        base = bench.simulated_s(loop_of(schedule, 1, None), network, 0)
        for change in CHANGES:
            simulated = bench.simulated_s(loop_of(schedule, change.factor, change.rank), network, change.late_ns,
                                          change.byte_ns)
            by = 0 if change is AS_IT_IS else bench.predicted_change_s(experiment, bench.told(change, case.ranks))
            runs[change].append((base, simulated, told, by))
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--simulator", help="where LogGOPSim was built")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--tolerance", type=float, default=RIGHT, help="what may be off, as a share")
    parser.add_argument("--limits", action="store_true", help="cases in which the two are known to differ, instead")
    options = parser.parse_args()
    right = judged = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        print("| program |", " | ".join(change.name for change in CHANGES), "|\n|" + "---|" * (len(CHANGES) + 1))
        for case in LIMITS if options.limits else CASES:
            if options.only not in name_of(case):
                continue
            different = {change for name, change in DIFFERENT if name == name_of(case)}
            cells = [judge(change, found, change.name not in different, options.tolerance)
                     for change, found in measure(bench, case, options.repeat).items()]
            print("|", " | ".join([name_of(case), *(cell for _, cell in cells)]), "|", flush=True)
            right += sum(fits for fits, _ in cells) - len(different)
            judged += len(cells) - len(different)
    print(f"\n{right} of {judged} right")
    for ranks, network in bench.networks.items():
        said = ", ".join(f"{name} {value:.4g}" for name, value in network.items())
        print(f"{ranks} ranks: {said} (nanoseconds; S bytes)")
    return 0 if judged and right == judged else 1


if __name__ == "__main__":
    sys.exit(main())
