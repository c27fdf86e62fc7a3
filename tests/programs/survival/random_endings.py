# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Ends a hybrid program at random moments, again and again, and analyses what is left of each run.

Whatever is hit (a rank, the launcher, everything, culprit itself), and by whatever signal: culprit
must come to an end by itself, its identities must hold, and nothing may be lost unless the report
says that ranks ended early (then the last collective may lack members). Not one of the default tests: `random_endings.py --build build --seconds 300 [--seed 1]`.
"""

import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import Place, Report, Wrong, check  # noqa: E402

RANKS = 2
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
VICTIMS = ("rank", "all ranks", "launcher", "culprit", "everything")
LONGEST_RUN_S = 2.5  # later than that most runs are over
PATIENCE_S = 90


def children():
    """Processes by their parent, with their names."""
    found = collections.defaultdict(list)
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        name, rest = stat[stat.index("(") + 1:stat.rindex(")")], stat[stat.rindex(")") + 2:]
        found[int(rest.split()[1])].append((int(folder.name), name))
    return found


def descendants(root):
    tree, todo, found = children(), [root], []
    while todo:
        below = tree[todo.pop()]
        found += below
        todo += [pid for pid, _ in below]
    return found


def targets(victim, culprit):
    below = descendants(culprit.pid)
    ranks = [pid for pid, name in below if name == "survive"]
    launchers = [pid for pid, name in below if name.startswith("mpirun")]
    return {"rank": ranks[:1], "all ranks": ranks, "launcher": launchers, "culprit": [culprit.pid],
            "everything": [culprit.pid] + [pid for pid, _ in below]}[victim]


def hit(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def finish(culprit):
    try:
        return culprit.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
        left = descendants(culprit.pid)
        hit([culprit.pid] + [pid for pid, _ in left], signal.SIGKILL)
        raise Wrong(f"it hangs; below it were {left}") from None


def wait_for_orphans(experiment):
    """Ranks whose culprit was killed go on for a moment."""
    for _ in range(100):
        if not any(str(experiment) in text for text in environments()):
            return
        time.sleep(0.1)


def environments():
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "comm").read_text().strip() == "survive":
                yield (folder / "environ").read_bytes().decode(errors="replace")
        except OSError:
            pass


def judge(place, experiment, culprit, said, victim):
    """Returns what came of it."""
    killed_culprit = victim in ("culprit", "everything")
    check(culprit.returncode >= 0 or killed_culprit,
          f"culprit ended by signal {-culprit.returncode}: {said}")
    if killed_culprit:
        wait_for_orphans(experiment)
    if not experiment.exists():
        return "nothing recorded"
    if not (experiment / "findings.db").exists():
        done = harness.execute([place.culprit, "analyze", experiment])
        check(done.returncode in (0, 1), f"analyze: status {done.returncode}: {done.stderr}")
        if done.returncode == 1:
            told = [line for line in done.stderr.splitlines() if line.startswith("culprit: ")]
            check(told, f"analyze gives up without a word: {done.stderr}")
            return "nothing to analyse"
    report = Report(place, experiment)
    report.check_identities()
    if "early_ends" in report.losses():
        return "analysed, ended early"
    surplus = [name for name, loss in report.losses().items() if loss["severity"] == "data loss"]
    check(not surplus, f"lost although all ranks came to their end: {surplus}")
    return "analysed, complete"


def run_once(place, chance):
    experiment = place.scratch / "experiment"
    program = harness.mpirun(RANKS, place.program("survival/survive"), "mpi", "exchange")
    culprit = subprocess.Popen(
        [str(place.culprit), "run", "--sampling", "500", "-o", str(experiment), "--", *program],
        env=dict(os.environ, **harness.ENVIRONMENT, OMP_NUM_THREADS="2"), text=True,
        errors="replace", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    victim, name = chance.choice(VICTIMS), chance.choice(list(SIGNALS))
    moment = chance.uniform(0, LONGEST_RUN_S)
    what = f"{name} to {victim} after {moment:.3f} s"
    try:
        time.sleep(moment)
        hit(targets(victim, culprit), SIGNALS[name])
        said = finish(culprit)
        return f"{name} to {victim}", judge(place, experiment, culprit, said, victim)
    except Wrong as sentence:
        raise Wrong(f"{what}: {sentence}") from None
    finally:
        hit([pid for pid, _ in descendants(culprit.pid)], signal.SIGKILL)
        if culprit.poll() is None:
            culprit.kill()
            culprit.wait()


def keep(scratch, number):
    kept = pathlib.Path(tempfile.gettempdir()) / f"culprit-random-ending.{os.getpid()}.{number}"
    shutil.copytree(scratch, kept, ignore_dangling_symlinks=True)
    return kept


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(1 << 32)
    chance = random.Random(seed)
    end = time.monotonic() + options.seconds
    outcomes, wrong, number = collections.Counter(), 0, 0
    print(f"seed {seed}")
    while time.monotonic() < end:
        number += 1
        with tempfile.TemporaryDirectory(prefix="culprit-test-", ignore_cleanup_errors=True) as scratch:
            try:
                outcomes[run_once(Place(options.build, scratch), chance)] += 1
            except Wrong as sentence:
                wrong += 1
                print(f"run {number}: {sentence}; kept in {keep(scratch, number)}", flush=True)
    for (what, came), count in sorted(outcomes.items()):
        print(f"{count:5} {what}: {came}")
    print(f"{number} runs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
