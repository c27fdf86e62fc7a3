#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Makes experiments, has `culprit view` write their pages, and lets a browser look at them (page_test.mjs).

`page.py --build build`. Runs: a hybrid program of 4 ranks, one on a simulated device, one without any wait, one with
hostile names and phases, six ranks that are arranged in every way, ranks that take turns thousands of times, a run that got shorter, and findings of 4,100 ranks
made up here, of long runs and of very short ones; and a generated trace of 4,096 locations and 20 million events. Needs Node and Chromium: ./dev page --test brings this about.
"""
import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "2"}


def run(*command, **rest):
    done = subprocess.run(command, env=ENVIRONMENT, text=True, capture_output=True, **rest)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


def measure(culprit, experiment, *command):
    run(culprit, "run", "-o", experiment, "--", *command)


def mpirun(ranks, program):
    return ("mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", program)


def findings(experiment):
    return sqlite3.connect(os.path.join(experiment, "findings.db"))


def rename_a_function(experiment, region, name):
    """A program could have called a function so; symbols may hold anything."""
    with findings(experiment) as db:
        done = db.execute("UPDATE callpaths SET name = replace(name, region, ?), region = ? WHERE region = ?", (name, name, region))
        assert done.rowcount > 0, region


def add_own_pattern(experiment):
    """As the Python package writes what a user's program found: a tenth of a second on rank 1, in MPI_Recv."""
    with findings(experiment) as db:
        path = db.execute("SELECT id FROM callpaths WHERE region = 'MPI_Recv'").fetchone()[0]
        location = db.execute("SELECT id FROM locations WHERE rank = 1").fetchone()[0]
        db.execute("INSERT INTO user_patterns (name, summary) VALUES ('my late sender', 'of my own')")
        db.execute("INSERT INTO user_waits (pattern, callpath, location, count, time_s) VALUES ('my late sender', ?, ?, 3, 0.1)",
                   (path, location))


def add_phases(experiment):
    """Two halves of the run; findings name the one with more time first."""
    with findings(experiment) as db:
        wall = db.execute("SELECT wall_s FROM run").fetchone()[0]
        for name, begin, end in (("second half", wall / 2, wall), ("first half", 0, wall / 2)):
            db.execute("INSERT INTO stages (kind, name, number, visits, begin_s, end_s, time_s, waiting_s, longest_s, useful_s, "
                       "load_balance, communication) VALUES ('phase', ?, 0, 1, ?, ?, ?, 0, ?, 0, 1, 1)",
                       (name, begin, end, end - begin, end - begin))


def one_cause(experiment):
    """Makes one call path cause all, most of it at barriers, although its largest single delay is another's; and says
    whom it made wait of a fiftieth of the waiting."""
    with findings(experiment) as db:
        cause = db.execute("SELECT id FROM callpaths WHERE region = 'update_cells'").fetchone()[0]
        db.execute("UPDATE delays SET callpath = ?, pattern = 'omp.barrier', short_s = 0.001, long_s = 0", (cause,))
        db.execute("UPDATE delays SET pattern = 'mpi.late_sender', short_s = 0.1 WHERE id = (SELECT min(id) FROM delays)")
        waiting = db.execute("SELECT waiting_s FROM identities").fetchone()[0]
        db.execute("INSERT INTO victims (delay_callpath, delay_location, pattern, wait_callpath, wait_location, time_s) "
                   "VALUES (?, 0, 'omp.barrier', ?, 1, ?)", (cause, cause, 0.02 * waiting))


def shorten(experiment, wall):
    """The same in a run of this length."""
    with findings(experiment) as db:
        factor = wall / db.execute("SELECT wall_s FROM run").fetchone()[0]
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for column in [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1].endswith("_s")]:
                db.execute(f"UPDATE {table} SET {column} = {column} * {factor!r}")


def many_ranks(source, experiment, ranks):
    """The findings of `source` as if it had so many ranks, with figures that differ from rank to rank."""
    os.mkdir(experiment)
    shutil.copy(os.path.join(source, "experiment.json"), experiment)
    target = os.path.join(experiment, "findings.db")
    shutil.copy(os.path.join(source, "findings.db"), target)
    dice = random.Random(1)
    with sqlite3.connect(target) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        columns = lambda table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        intervals, wall = 100, db.execute("SELECT wall_s FROM run").fetchone()[0]
        paths = [row[0] for row in db.execute("SELECT id FROM callpaths")]
        first = dict(zip(columns("locations"), db.execute("SELECT * FROM locations").fetchone()))

        def fill(table, rows):
            rows = list(rows)
            db.execute(f"DELETE FROM {table}")
            names = list(rows[0])
            db.executemany(f"INSERT INTO {table} ({','.join(names)}) VALUES ({','.join('?' * len(names))})",
                           [tuple(row.values()) for row in rows])

        fill("locations", ({**first, "id": i, "name": f"{i}.0", "rank": i, "thread": 0, "node": f"node{i // 64}",
                            "life_s": wall, "waiting_s": dice.random() * wall} for i in range(ranks)))
        for table in ("profile", "waits", "delays", "critical_path"):
            row = dict(zip(columns(table), db.execute(f"SELECT * FROM {table}").fetchone()))
            row.pop("id")
            figures = [name for name in row if name.endswith("_s")]
            fill(table, ({**row, "location": i, "callpath": dice.choice(paths),
                          **{name: dice.random() * wall / 4 for name in figures}} for i in range(ranks) for _ in range(4)))
        fill("location_times", ({"location": i, "interval": k, "time_s": wall / intervals,
                                 "waiting_s": dice.random() * wall / intervals, "callpath": dice.choice(paths)}
                                for i in range(ranks) for k in range(intervals)))
        fill("callpath_times", ({"location": group * (ranks // 64), "interval": k, "callpath": path,
                                 "time_s": dice.random(), "waiting_s": 0} for group in range(64)
                                for k in range(intervals) for path in dice.sample(paths, min(len(paths), 8))))
        db.execute("UPDATE run SET ranks = ?, locations = ?, intervals = ?", (ranks, ranks, intervals))
        for table in ("victims", "idle_blame", "idle_nobody", "lock_blame", "instances", "processes", "counts", "segments"):
            db.execute(f"DELETE FROM {table}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--keep", help="a folder in which experiments and pages stay")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    culprit = os.path.join(build, "bin", "culprit")
    example = lambda name: os.path.join(build, "examples", name)
    folder = arguments.keep or tempfile.mkdtemp(prefix="culprit-page-")
    os.makedirs(folder, exist_ok=True)
    place = lambda name: os.path.join(folder, name)
    try:
        measure(culprit, place("hybrid"), *mpirun(4, example("hybrid_chain")))
        measure(culprit, place("threads"), example("omp_imbalance"))
        if os.path.exists(example("opencl_chain")):
            measure(culprit, place("device"), *mpirun(2, example("opencl_chain")))
        measure(culprit, place("arranged"), *mpirun(6, os.path.join(build, "tests", "programs", "arranged.openmpi")))
        run(os.path.join(build, "tests", "trace_generator"), "stencil", place("trace"), "--ranks", "512", "--threads", "8",
            "--events", "20000000")
        run(culprit, "analyze", os.path.join(place("trace"), "traces.otf2"), "-o", place("large"))
        run(os.path.join(build, "tests", "trace_generator"), "token_ring", place("ring"), "--ranks", "4", "--iterations", "600")
        run(culprit, "analyze", os.path.join(place("ring"), "traces.otf2"), "-o", place("turns"))
        sizes = [place(f"size{n}") for n in range(2, 7)]
        for n, size in enumerate(sizes, 2):
            measure(culprit, size, *mpirun(n, example("hybrid_chain")))
        run(culprit, "model", *sizes, "-o", place("models"))
        for size in sizes:
            shutil.rmtree(size)
        shutil.copytree(place("hybrid"), place("hostile"))
        rename_a_function(place("hostile"), "resolve_contacts", "<script>alert(1)</script>")
        rename_a_function(place("hostile"), "update_cells", "L" * 240)
        rename_a_function(place("hostile"), "main", " ")
        add_phases(place("hostile"))
        add_own_pattern(place("hostile"))
        measure(culprit, place("again"), *mpirun(4, example("hybrid_chain")))
        with findings(place("hybrid")) as db:
            shorten(place("again"), 0.7 * db.execute("SELECT wall_s FROM run").fetchone()[0])
        run(culprit, "diff", place("hybrid"), place("again"), "-o", place("shorter"))
        shutil.copytree(place("shorter"), place("nobody"))
        with findings(place("nobody")) as db:
            db.execute("DELETE FROM victims")
        many_ranks(place("hybrid"), place("many"), 4100)
        one_cause(place("many"))
        shutil.copytree(place("many"), place("short"))
        shorten(place("short"), 0.0004)
        pages = {}
        for name in sorted(os.listdir(folder)):
            if os.path.exists(os.path.join(place(name), "experiment.json")):
                pages[name] = place(name + ".html")
                sources = ["--sources", os.path.join(HERE, "..", "..", "examples")] if name == "hybrid" else []
                printed = run(culprit, "view", place(name), "-o", pages[name], *sources, cwd=folder).strip()
                assert os.path.samefile(os.path.join(folder, printed), pages[name]), printed
        with open(place("hybrid.json"), "w", encoding="utf-8") as file:
            file.write(run(culprit, "report", place("hybrid"), "--format", "json"))
        with open(place("pages.json"), "w", encoding="utf-8") as file:
            json.dump({"pages": pages, "json": place("hybrid.json")}, file)
        sys.exit(subprocess.run(["node", os.path.join(HERE, "page_test.mjs"), place("pages.json")]).returncode)
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
