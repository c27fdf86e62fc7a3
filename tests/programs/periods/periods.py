# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""culprit periods, judged by what the program itself says of when its phases began."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import harness
from harness import Off, Wrong, check, execute, mpirun, succeed

WITHIN = 0.02


def writes(place, *arguments):
    return mpirun(2, place.program("periods/writes"), place.scratch / "written", *arguments)


def phases_of(output):
    """(begin, end) of each."""
    told = [line.split() for line in output.splitlines() if line.startswith("onset ")]
    return [(float(words[1]), float(words[3])) for words in told]


def asked(place, *arguments):
    return json.loads(succeed([place.culprit, "periods", *arguments, "--format", "json"]).stdout)["periods"]


def of(rows, series):
    found = [row for row in rows if row["series"] == series]
    check(len(found) == 1, f"{len(found)} rows of {series}: {rows}")
    return found[0]


def mean_distance(moments):
    return (moments[-1] - moments[0]) / (len(moments) - 1)


def lateness(phases):
    """By how much of a period one was late, or lasted, at most: what the machine did to the program."""
    moments = [begin for begin, _ in phases]
    mean = mean_distance(moments)
    return max(*(abs(b - a - mean) for a, b in zip(moments, moments[1:])), *(end - begin for begin, end in phases)) / mean


def check_period(what, row, phases):
    """Within 2 % of the program's own mean; where the machine was late itself, or stopped a phase, that is not judged."""
    moments = [begin for begin, _ in phases]
    mean = mean_distance(moments)
    if lateness(phases) > 0.1:
        raise Off(f"the program's own phases were late by {lateness(phases):.0%} of a period, or lasted that")
    check(row["verdict"] == "periodic", f"{what}: {row}")
    check(abs(row["period_s"] / mean - 1) <= WITHIN, f"{what}: {row['period_s']} s, not {mean} s")
    # Opening and closing the file are input and output, too, and may stand apart, in pieces.
    more = 4 if what in ("io", "profile") else 0
    check(len(moments) <= row["phases"] <= len(moments) + more, f"{what}: {row['phases']} phases, not {len(moments)}")


def regular(place):
    experiment = place.experiment()
    run = succeed([place.culprit, "run", "-o", experiment, "--", *writes(place, "regular", 250, 12)])
    phases = phases_of(run.stdout)
    check(len(phases) == 12, run.stdout)
    rows = asked(place, experiment)
    for series in ("bytes-written", "io"):
        check_period(series, of(rows, series), phases)
    written = of(rows, "bytes-written")
    check(written["source"] == "trace" and written["confidence"] > 0.6 and written["chance"] < 0.01, written)
    check(written["end_s"] < written["next_s"] < written["end_s"] + 0.5, written)
    check_period("rank 1", of(asked(place, experiment, "--rank", "1", "--series", "bytes-written"),
                              "bytes-written"), phases)
    check_period("call path", of(asked(place, experiment, "--callpath", "*MPI_File_write_all",
                                       "--series", "callpath"), "callpath"), phases)
    half = of(asked(place, experiment, "--series", "bytes-written", "--to",
                    str((written["begin_s"] + written["end_s"]) / 2)), "bytes-written")
    if (half["verdict"], half["phases"]) != ("periodic", 6):
        # Six phases must be very regular to be told from chance.
        raise Off(f"{half}") if lateness(phases) > 0.05 else Wrong(f"{half}")
    profile = of(asked(place, experiment, "--profile"), "io")
    check_period("profile", profile, phases)
    check(profile["source"] == "profile", profile)
    kept(place, experiment, written)
    shutil.rmtree(pathlib.Path(experiment) / "raw")
    check(of(asked(place, experiment), "io")["source"] == "profile", "without a trace there is the profile")


def kept(place, experiment, written):
    """In an experiment of its own: in the database, the report and its JSON."""
    new = place.experiment("kept")
    succeed([place.culprit, "periods", experiment, "-o", new])
    database = sqlite3.connect(f"{new}/findings.db")
    found = database.execute("SELECT verdict, period_s, phases FROM periods WHERE series = 'bytes-written'")
    check(found.fetchall() == [("periodic", written["period_s"], 12)], "findings.db says something else")
    page = succeed([place.culprit, "report", "--full", new]).stdout
    check("PERIODS" in page and "bytes-written" in page.split("PERIODS")[1], page)
    data = json.loads(succeed([place.culprit, "report", new, "--format", "json"]).stdout)
    check(of(data["periods"], "bytes-written") == written, data["periods"])
    check("PERIODS" not in succeed([place.culprit, "report", "--full", experiment]).stdout, "nobody has asked yet")
    again = execute([place.culprit, "periods", experiment, "-o", new])
    check(again.returncode == 1 and "already exists" in again.stderr, again.stderr)


def irregular(place):
    experiment = place.experiment()
    succeed([place.culprit, "run", "-o", experiment, "--", *writes(place, "irregular", 200, 13)])
    for row in asked(place, experiment, "--series", "bytes-written", "--series", "io"):
        check(row["verdict"] == "aperiodic" and row["period_s"] is None and row["next_s"] is None, row)
    text = succeed([place.culprit, "periods", experiment]).stdout
    check("bytes-written" in text and "aperiodic" in text, text)


def follow(place):
    """What is predicted while the program runs is what the program does then."""
    experiment, period = place.experiment(), 0.4
    env = {**os.environ, **harness.ENVIRONMENT}
    with subprocess.Popen([place.culprit, "run", "-o", experiment, "--", *writes(place, "regular", 1000 * period, 25)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env) as run:
        while not pathlib.Path(experiment, "experiment.json").exists() and run.poll() is None:
            time.sleep(0.05)
        followed = succeed([place.culprit, "periods", experiment, "--follow", "--every", "0.5",
                            "--series", "bytes-written", "--format", "json"])
        moments = [begin for begin, _ in phases_of(run.communicate()[0])]
    check(run.returncode == 0 and len(moments) == 25, f"status {run.returncode}, {len(moments)} phases")
    looks = [json.loads(line) for line in followed.stdout.splitlines()]
    check(len(looks) >= 3, f"only {len(looks)} looks at the run: {followed.stderr}")
    whole = of(asked(place, experiment), "bytes-written")
    start = moments[0] - whole["begin_s"]  # of the run, by the program's clock
    late = max(abs(b - a - period) for a, b in zip(moments, moments[1:]))
    predicted = [(look["now_s"] + start, of(look["periods"], "bytes-written")) for look in looks]
    predicted = [(now, row) for now, row in predicted
                 if row["next_s"] is not None and row["next_s"] + start < moments[-1] + period / 2]
    check(predicted, f"nothing was predicted before the run ended: {looks}")
    offs = []
    for now, row in predicted:
        check(row["next_s"] + start > now, f"what was predicted at {now - start} s is past: {row}")
        check(row["period_s"] > 0, row)
        offs.append(min(abs(row["next_s"] + start - moment) for moment in moments))
    good = sum(off <= 0.25 * period for off in offs)
    if good < 0.8 * len(offs):
        said = f"{good} of {len(offs)} predictions are within a quarter of a period: {offs}"
        if late > 0.2 * period:
            raise Off(said)
        check(False, said)
    ended = execute([place.culprit, "periods", experiment, "--follow"])
    check(ended.returncode == 1 and "no run to follow" in ended.stderr, ended.stderr)


def values(place):
    file = place.scratch / "values.csv"
    file.write_text("time,value\n" + "".join(f"{i / 100},{int((i + 35) % 70 < 5)}\n" for i in range(1400)))
    row = of(asked(place, "--csv", file), "file")
    check(row["verdict"] == "periodic" and abs(row["period_s"] - 0.7) < 0.001, row)
    text = succeed([place.culprit, "periods", "--csv", file]).stdout
    check("every 700 ms" in text and "20 phases" in text, text)


def refused(place):
    """One sentence, a status other than 0, and nothing that looks like a result."""
    bad = place.scratch / "bad.csv"
    bad.write_text("1,2\n2,three\n")
    binary = place.scratch / "binary"
    binary.write_bytes(bytes(range(256)) * 40)
    for arguments, words in (
            ([], "no experiment was named"),
            (["nowhere"], "there is no 'nowhere'"),
            ([place.scratch], "is not an experiment"),
            ([place.scratch, "--csv", bad], "name an experiment, or a file"),
            (["--csv", place.scratch / "none.csv"], "cannot read"),
            (["--csv", bad], "line 2"),
            (["--csv", binary], "line 1"),
            ([binary], "findings"),
            (["nowhere", "--follow"], "there is no 'nowhere'"),
            (["nowhere", "--from", "3", "--to", "2"], "begins after it ends"),
            (["nowhere", "--rank", "x"], "x"),
            (["nowhere", "--every", "0"], "--every"),
            (["nowhere", "--rate", "-1"], "--rate")):
        for form in ("text", "json"):
            done = execute([place.culprit, "periods", *arguments, "--format", form])
            check(done.returncode == 1 and not done.stdout,
                  f"{arguments}: {done.returncode} {done.stdout}")
            check(words in done.stderr and done.stderr.count("\n") == 1, f"{arguments}: {done.stderr}")
    check(execute([place.culprit, "periods", "x", "--series", "nonsense"]).returncode == 2, "no such series")


TESTS = {"regular": regular, "irregular": irregular, "follow": follow, "values": values, "refused": refused}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
