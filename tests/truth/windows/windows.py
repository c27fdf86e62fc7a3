#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Do windows say what the whole run says? Each program runs once and is traced as a whole. Windows are cut out of these
records, at other places each time, and joined as those of a long run are (culprit-windows-truth): is the cause that is
named first the same, and does the interval that is printed hold what the whole run has?

    windows.py --build DIR [--only PATTERN...] [--placements N] [--seconds S] [--windows N] [--keep DIR]

Since both come of one run, it does not matter how busy the machine is. Programs that are not installed are skipped.
"""

import argparse
import collections
import fnmatch
import math
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "programs")]
import harness  # noqa: E402

WHOLE_PART = 0.1   # of the run
WINDOW = 0.15      # of its slot; windows of the collector take 1.5 s of 8 s, and less after the first thinning
LEAST_SHARE = 0.02  # of the waiting: intervals of less are not judged
HELD = 0.95
NEAR = 1e-3        # of a cost: two ways to sum the same times
TIMEOUT_S = 900

# Program of the bench, case, ranks, milliseconds of a delay.
BENCH = [
    ("point", "recv", 2, 3),
    ("point", "waitall", 4, 3),
    ("shape", "chain", 4, 4),
    ("shape", "ring_moving", 4, 3),
    ("shape", "two_ranks", 4, 3),
    ("shape", "two_functions", 4, 3),
    ("collective", "allreduce", 4, 3),
    ("collective", "bcast", 4, 3),
    ("phases", "two_phases", 2, 5),
    ("teams", "barrier", 0, 3),
    ("teams", "loop_dynamic", 0, 3),
]

MELT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 100
run {steps}
"""


class Bench:
    """A program of the bench of truth. Delays are spent asleep: other programs hardly change them."""

    def __init__(self, program, case, ranks, ms):
        self.name = f"{program}.{case}"
        self.program, self.case, self.ranks, self.ms = program, case, ranks, ms

    def command(self, build, _folder, amount):
        program = build / "tests" / "truth" / self.program
        if not program.exists():
            raise harness.Skip(f"{program} was not built")
        launcher = harness.mpirun(self.ranks) if self.ranks else []
        return [*launcher, program, self.case, self.ms, amount]

    amount = 200


class Lammps:
    """Lennard-Jones melt, two ranks of one thread."""
    name = "lammps.melt"
    amount = 200

    def command(self, _build, folder, amount):
        (folder / "in.melt").write_text(MELT.format(steps=amount))
        return [*harness.mpirun(2), "lmp", "-log", "none", "-in", "in.melt"]


class Cp2k:
    """Water, two ranks of two threads."""
    name = "cp2k.water"
    amount = 2

    def command(self, _build, folder, amount):
        water = HERE.parent.parent / "programs" / "cp2k" / "water.inp"
        (folder / "water.inp").write_text(water.read_text().replace("STEPS 2", f"STEPS {amount}"))
        return [*harness.mpirun(2), "cp2k.psmp", "-i", "water.inp"]


PROGRAMS = [*(Bench(*each) for each in BENCH), Lammps(), Cp2k()]


def run(command, folder, environment=None):
    environment = {**os.environ, **harness.ENVIRONMENT, "OMP_NUM_THREADS": "2", **(environment or {})}
    done = subprocess.run(list(map(str, command)), env=environment, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", timeout=TIMEOUT_S)
    harness.check(done.returncode == 0,
                  f"status {done.returncode} of {command[0]}: {done.stdout[-500:]} {done.stderr[-500:]}")
    return done.stdout


def record(program, options, folder):
    """A run of about the wanted length; its experiment, and how long it lasted."""
    culprit = options.build / "bin" / "culprit"
    amount, seconds = program.amount, 0
    for attempt in range(3):
        experiment = folder / f"experiment{attempt}"
        run([culprit, "run", "-q", "--budget", "3GiB", "-o", experiment, "--",
             *program.command(options.build, folder, amount)], folder)
        seconds = length_of(experiment)
        if seconds >= 0.7 * options.seconds:
            break
        amount = math.ceil(amount * max(1.5, options.seconds / max(seconds, 0.1)))
    return experiment, seconds


def length_of(experiment):
    with sqlite3.connect(experiment / "findings.db") as db:
        coverage = db.execute("SELECT count(*) FROM coverage").fetchone()[0]
        harness.check(coverage == 0, "the run was not traced as a whole: its budget is too small")
        return db.execute("SELECT wall_s FROM run").fetchone()[0]


Row = collections.namedtuple("Row", "placement figure name time low high whole share share_low share_high whole_share")


def placements_of(text):
    rows, violations = collections.defaultdict(list), []
    for line in text.splitlines():
        fields = line.split("\t")
        if fields[1] == "violation":
            violations.append(fields[2])
        else:
            rows[int(fields[0])].append(Row(int(fields[0]), fields[1], fields[2], *map(float, fields[3:])))
    return rows, violations


def judge(program, options, folder):
    experiment, seconds = record(program, options, folder)
    whole = WHOLE_PART * seconds
    slot = (seconds - whole) / (options.windows + 0.5)
    text = run([options.build / "tests" / "culprit-windows-truth", experiment, folder / "windows", whole, slot,
                WINDOW * slot, options.placements], folder)
    rows, violations = placements_of(text)
    judged, held, first_same, widths = 0, 0, 0, []
    missed = collections.Counter()
    for placement in rows.values():
        causes = [row for row in placement if row.figure == "cause"]
        if causes:
            most = max(causes, key=lambda row: row.whole)
            first = max(causes, key=lambda row: row.time)
            first_same += first.name == most.name or first.whole > 0.95 * most.whole
        for row in placement:
            if row.whole_share < LEAST_SHARE and row.share < LEAST_SHARE:
                continue
            judged += 1
            slack = NEAR * row.whole
            inside = row.low - slack <= row.whole <= row.high + slack
            held += inside
            missed.update([] if inside else [f"{row.figure} {row.name[-60:]}"])
            widths.append((row.high - row.low) / 2 / row.whole if row.whole else 0)
    widths.sort()
    return {"seconds": seconds, "window": WINDOW * slot, "placements": len(rows), "first": first_same, "judged": judged,
            "held": held, "width": widths[len(widths) // 2] if widths else 0, "missed": missed,
            "violations": violations}


def line_of(name, found):
    share = found["held"] / max(found["judged"], 1)
    return (f"{name:<24}{found['seconds']:7.1f} s {found['window']:6.2f} s {found['first']:5d} of {found['placements']:<4d}"
            f"{share:8.1%} of {found['judged']:<6d}{found['width']:7.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN")
    parser.add_argument("--placements", type=int, default=20, help="of windows in each run (default: 20)")
    parser.add_argument("--seconds", type=float, default=40, help="that programs run (default: 40)")
    parser.add_argument("--windows", type=int, default=30, help="in each run (default: 30)")
    parser.add_argument("--keep", type=pathlib.Path, help="keep experiments in this folder")
    options = parser.parse_args()
    options.build = options.build.absolute()
    print(f"{'program':<24}{'run':>9} {'window':>8} {'first the same':>13} {'interval holds':>17}{'half width':>13}")
    wrong = 0
    for program in PROGRAMS:
        if not any(fnmatch.fnmatch(program.name, f"*{each}*") for each in options.only):
            continue
        with tempfile.TemporaryDirectory(prefix="windows-", dir=options.keep) as folder:
            try:
                found = judge(program, options, pathlib.Path(folder))
            except (harness.Skip, FileNotFoundError) as reason:
                print(f"{program.name:<24} skipped: {reason}")
                continue
            except (harness.Wrong, subprocess.SubprocessError) as error:
                print(f"{program.name:<24} could not be judged: {error}")
                wrong += 1
                continue
        print(line_of(program.name, found), flush=True)
        for name, count in found["missed"].most_common(4):
            print(f"{'':<8}missed {count} times: {name}")
        for sentence in found["violations"][:2]:
            print(f"{'':<8}violated: {sentence}")
        is_right = found["first"] == found["placements"] and found["held"] >= HELD * found["judged"]
        wrong += not is_right or bool(found["violations"])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
