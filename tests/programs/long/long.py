# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that exceed their budget for records: the program does not notice, the files stay within the
budget, and the profile is there, however the run ends."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import Report, check, execute, mpirun, succeed  # noqa: E402

BUDGET = 3 << 20
SECONDS = "2"
STEPS, MESSAGES = 150, 150 * 100  # of each rank of uneven.c
SLOTS = {"CULPRIT_SLOT": "100", "OMP_NUM_THREADS": "2"}


class Kept:
    """What a run left behind."""

    def __init__(self, experiment):
        raw = pathlib.Path(experiment) / "raw"
        self.bursts = [file for file in raw.glob("bursts/*/*") if file.name != "page"]
        self.nodes = list(raw.glob("bursts/*"))
        self.profiles = list(raw.glob("*/profile"))
        # The newest records of each log have a file of constant size.
        whole = [file for file in raw.glob("*/events.*") if file.suffix != ".tail"]
        self.bytes = sum(file.stat().st_size for file in whole + self.bursts)


def measure(place, program, budget=BUDGET, experiment=None):
    """With and without culprit: it prints the same and ends alike."""
    experiment = experiment or place.experiment()
    plain = execute(program, environment=SLOTS)
    done = execute([place.culprit, "record", "-o", experiment, "--", *program],
                   environment={**SLOTS, "CULPRIT_BUDGET": str(budget)})
    check(plain.stdout in done.stdout, f"it printed {done.stdout}{done.stderr}")
    expected = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
    check(done.returncode == expected, f"status {done.returncode}, not {expected}: {done.stderr}")
    check("culprit: error" not in done.stderr, done.stderr)
    kept = Kept(experiment)
    check(kept.bytes <= budget, f"{kept.bytes} bytes of records")
    return kept


def steady(place, *arguments):
    return [place.program("steady"), SECONDS, *arguments]


def judge(kept, processes=1):
    check(len(kept.bursts) >= 2, f"bursts: {kept.bursts}")
    check(len(kept.profiles) == processes, f"profiles: {kept.profiles}")
    check(len(kept.nodes) == 1, f"nodes: {kept.nodes}")


def traced_in_bursts(place):
    judge(measure(place, steady(place)))


def profile_only(place):
    """Without any budget, and with one below a window of records."""
    for budget in (0, 40 << 10):
        kept = measure(place, steady(place), budget, place.experiment(str(budget)))
        check(not kept.bursts and kept.bytes == 0, f"{kept.bytes} bytes of records")
        check(len(kept.profiles) == 1, "no profile")


def uneven(place, budget):
    """A run that ends before there is a window, and how long its MPI_Init took."""
    done = succeed([place.culprit, "run", "--budget", budget, "-o", place.experiment(), "--",
                    *mpirun(2, place.program("uneven"))], environment={"CULPRIT_SLOT": "600000"})
    return Report(place, place.experiment()), float(done.stdout.split("MPI_Init took ")[1].split()[0])


def no_windows(place):
    """What was traced at first stands for the rest, but start-up, which is as long as it was."""
    report, init_s = uneven(place, "2M")
    run, coverage = report.data["run"], report.data["coverage"][0]
    check(coverage["windows"] == 0 and 0 < coverage["whole_s"] < 0.8 * run["wall_s"], f"coverage: {coverage}")
    report.check_identities()
    start_up_s = report.data["start_up"]["wall_s"]
    check(start_up_s < init_s + 0.3, f"start-up took {start_up_s} s, and MPI_Init {init_s} s")
    late_s = STEPS * 0.003
    # The first part has few samples, so it may be found in a function beside the one that is late.
    cost_s = sum(row["short_s"] + row["long_s"] for row in report.delays("", "0.0"))
    check(cost_s > late_s / 3, f"rank 0 costs {cost_s} s, where it is {late_s} s late")
    sent = sum(row["messages"] for row in report.data["message_use"])
    check(abs(sent - 2 * MESSAGES) <= 0.01 * MESSAGES, f"{sent} messages")


def no_trace(place):
    """A profile alone does not know how much of MPI is waiting, and that is no loss of data."""
    report, _ = uneven(place, "0")
    report.check_nothing_lost()
    page = " ".join(succeed([place.culprit, "report", "--full", place.experiment()]).stdout.split())
    for wrong in ("No waiting time was found", "MPI itself", "Hardly any waiting"):
        check(wrong not in page, f"'{wrong}' in {page}")


def ends(place, how):
    """A child that lives for a while is a process of its own."""
    judge(measure(place, steady(place, how)), processes=2 if how == "fork" else 1)


def ranks(place):
    """All ranks of a node share its budget, and have the same bursts, in one file each."""
    judge(measure(place, mpirun(2, place.program("steady"), SECONDS)), processes=2)


def rank_dies(place):
    """One of two ranks ends by abort(), which ends the job."""
    program = mpirun(2, "sh", "-c", f"exec {place.program('steady')} {SECONDS} "
                     "$(test $OMPI_COMM_WORLD_RANK = 1 && echo abort)")
    done = execute([place.culprit, "record", "-o", place.experiment(), "--", *program],
                   environment={**SLOTS, "CULPRIT_BUDGET": str(BUDGET)})
    check(done.returncode != 0, "the job did not fail")
    kept = Kept(place.experiment())
    check(kept.bytes <= BUDGET, f"{kept.bytes} bytes of records")
    judge(kept, processes=2)


def windows(place):
    """Windows are analysed when they are asked for: nothing is kept of them. Of two windows, or of
    one in two runs, the changes are said; each part becomes an archive if that is wanted."""
    first, second = place.experiment("first"), place.experiment("second")
    for experiment in (first, second):
        measure(place, steady(place), experiment=experiment)
        succeed([place.culprit, "analyze", "--otf2", experiment])
    archives = len(list(pathlib.Path(first).glob("trace/window-*/traces.otf2")))
    check(archives >= 2, f"{archives} archives of windows")
    check((pathlib.Path(first) / "trace" / "traces.otf2").exists(), "no archive of the whole part")
    whole = Report(place, first)
    check(2 < len(whole.data["windows"]) <= archives + 1, f"windows: {whole.data['windows']}")
    done = succeed([place.culprit, "report", "--format", "json", "--window", "1", first])
    part = json.loads(done.stdout)
    check(0 < part["run"]["wall_s"] < 0.9 * whole.data["run"]["wall_s"],
          f"a window lasts {part['run']['wall_s']} s")
    succeed([place.culprit, "diff", "-o", place.experiment("sides"), "--window", "1", first, second])
    succeed([place.culprit, "diff", "-o", place.experiment("two"), "--window", "1,2", first, first])
    inputs = [row["name"] for row in Report(place, place.experiment("two")).data["inputs"]]
    check([name.rsplit("(")[-1] for name in inputs] == ["window 1)", "window 2)"], f"inputs: {inputs}")
    check(not (pathlib.Path(first) / "windows").exists(), "findings of windows were kept")
    refused = execute([place.culprit, "report", "--window", "1", place.experiment("two")])
    check(refused.returncode != 0 and refused.stderr, "a window of what has none")


def clock_jumps(place):
    """Somebody sets the date of one of two nodes while the program runs: windows stay at the same
    moments on both, since only their first look at the date counts."""
    preload = f'export LD_PRELOAD="{place.program("skewed_clock.so")}:$LD_PRELOAD"; exec "$@"'
    jumping = ('if test $OMPI_COMM_WORLD_RANK = 1; then export SKEW_HOST=jumping SKEW_JUMP_MS=60000; fi; '
               f"{preload}")
    experiment = place.experiment()
    done = execute([place.culprit, "run", "-o", experiment, "--",
                    *mpirun(2, "sh", "-c", jumping, "sh", place.program("steady"), "3")],
                   environment={**SLOTS, "CULPRIT_BUDGET": str(2 * BUDGET)})
    check(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    kept = Kept(experiment)
    check(len(kept.nodes) == 2, f"nodes: {kept.nodes}")
    slots = [{int(file.name) for file in node.iterdir() if file.name != "page"} for node in kept.nodes]
    both = slots[0] & slots[1]
    check(len(both) >= 2, f"windows at different moments: {slots}")
    check(abs(max(slots[0]) - max(slots[1])) < 60000 / int(SLOTS["CULPRIT_SLOT"]) / 2, f"slots that jumped: {slots}")
    check(not harness.Report(place, experiment).data["identities"]["violations"], "sums do not add up")


TESTS = {
    "bursts": traced_in_bursts,
    "windows": windows,
    "profile_only": profile_only,
    "no_windows": no_windows,
    "no_trace": no_trace,
    **{how: lambda place, how=how: ends(place, how) for how in ("abort", "exit", "fork")},
    "ranks": ranks,
    "rank_dies": rank_dies,
    "clock_jumps": clock_jumps,
}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
