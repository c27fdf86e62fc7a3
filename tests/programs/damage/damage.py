# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Damages the raw records of a run in many ways, one at a time, and analyses each.

Whatever the damage: culprit ends by itself, without a crash; the run does not become longer; and
unless the result is exactly what it was without damage, a loss of data is reported and `analyze`
returns 3 (or 1, with one sentence, if nothing is left to be analysed). What a program that was
killed was just about to write is no damage.
"""

import json
import os
import pathlib
import random
import shutil
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import check, execute, mpirun  # noqa: E402

DAMAGED = 3
FAILED = 1
LEAST_DAMAGES = 140
WINDOW = 64 << 10  # the smallest, which CULPRIT_MEMORY makes all of them
SEAL = 24
TAIL = 16
HEADER = 16
BLOCK = struct.Struct("<IIQIIIIQQ")  # trace::RawBlock
MAGIC = 0x4b4c4243
ALLOWED_S = 0.05  # that a run may become longer


class Experiment:
    """Raw records to be damaged, again and again."""

    def __init__(self, place, ending):
        self.place = place
        self.folder = pathlib.Path(place.experiment())
        # clang's OpenMP, or libomp put under gcc's: either is observed.
        command = [place.culprit, "record", "-o", self.folder, "--",
                   *mpirun(2, place.program("steps"), ending)]
        done = execute(command, environment={"CULPRIT_MEMORY": "1"})
        check((done.returncode == 0) == (ending == "end"),
              f"status {done.returncode} of steps {ending}: {done.stderr}")
        self.raw = self.folder / "raw"
        self.sound = self.folder.with_name("sound")
        shutil.copytree(self.raw, self.sound)

    def analyze(self):
        """Status, what it says, and its report without what names the analysis."""
        (self.folder / "findings.db").unlink(missing_ok=True)
        done = execute([self.place.culprit, "analyze", "-j", "2", self.folder])
        if done.returncode not in (0, DAMAGED):
            return done.returncode, done.stderr, None
        report = execute([self.place.culprit, "report", "--format", "json", self.folder])
        check(report.returncode == 0, f"report returned {report.returncode}: {report.stderr}")
        return done.returncode, done.stderr, json.loads(report.stdout)

    def restore(self):
        shutil.rmtree(self.raw)
        shutil.copytree(self.sound, self.raw)

    def processes(self):
        return sorted(entry for entry in self.raw.iterdir() if entry.is_dir() and entry.name != "bursts")

    def files(self):
        return [file for folder in self.processes() for file in sorted(folder.iterdir())]


def used_bytes(file):
    """What is written: the end of a window is not."""
    data = file.read_bytes()
    if file.name.endswith(".tail"):
        data = data[:-TAIL].rstrip(b"\0")
    return max(1, min(len(data.rstrip(b"\0")), len(data)))


def overwrite(file, offset, data):
    with file.open("r+b") as stream:
        stream.seek(offset)
        stream.write(data)


def flip(file, bit):
    byte = file.read_bytes()[bit // 8]
    overwrite(file, bit // 8, bytes([byte ^ 1 << bit % 8]))


def all_records(file):
    """Where the records of a log's tail begin."""
    data = file.read_bytes()
    at, found = 0, []
    while at + HEADER <= len(data) and data[at + 15] != 0:
        found.append(at)
        at += HEADER + data[at + 14] * 8
    return found


def is_open(file):
    """Whether this is the tail of a log that has no end: a process was killed."""
    seal = 4
    data = file.read_bytes()
    return file.name.endswith(".tail") and seal not in (data[at + 15] for at in all_records(file))


def records(file):
    """Those of them, in the first window, that have a time."""
    data = file.read_bytes()
    # Definitions' times say nothing, nor do pads' and seals'.
    return [at for at in all_records(file) if at + HEADER <= WINDOW - SEAL and data[at + 15] not in (1, 2, 3, 4)]


def damages_of_bytes(file, chance):
    """In this file, at places that are the same in each run, as far as its length is."""
    used = used_bytes(file)
    for _ in range(3):
        bit = chance.randrange(used * 8)
        yield f"bit {bit} flipped", lambda bit=bit: flip(file, bit)
    for size in (8, 4096):
        begin = chance.randrange(used) // 8 * 8
        size = min(size, file.stat().st_size - begin)
        # Zeros in place of whole records are where a process that was killed had come to.
        if size < HEADER or not is_open(file):
            yield f"{size} bytes from {begin} zero", lambda b=begin, s=size: overwrite(file, b, bytes(s))
        garbage = chance.randbytes(size)
        yield (f"{size} bytes from {begin} garbage",
               lambda b=begin, g=garbage: overwrite(file, b, g))


def damages_of_sizes(file):
    size = file.stat().st_size
    for left in sorted({0, size // 2, max(0, size - SEAL)}):
        if left < size:
            yield f"cut to {left}", lambda left=left: os.truncate(file, left)
    yield "removed", file.unlink
    yield "longer", lambda: overwrite(file, size, b"garbage" * 7)


def damages_of_times(file):
    """Absurd ones, in a record in the middle, and in the window's last."""
    found = records(file)
    if not found:
        return
    for at in (found[len(found) // 2], found[-1]):
        now = int.from_bytes(file.read_bytes()[at:at + 8], "little")
        for what, time in (("0", 0), ("hours later", now + (1 << 45)), ("for ever", (1 << 64) - 1),
                           ("a little later", now + (1 << 24))):
            yield (f"time at {at} {what}",
                   lambda at=at, time=time: overwrite(file, at, time.to_bytes(8, "little")))


def blocks(file):
    """The blocks of packed windows, whole (trace/raw/packed.h); each of these is a window."""
    data = file.read_bytes()
    at, found = 0, []
    while at + BLOCK.size <= len(data):
        magic, *_, packed, is_last, _, _ = BLOCK.unpack_from(data, at)
        check(magic == MAGIC and is_last == 1, f"no window at {at} of {file}")
        end = at + BLOCK.size + (packed + 7) // 8 * 8
        found.append(data[at:end])
        at = end
    return found


def swap_windows(file):
    first, second, *others = blocks(file)
    file.write_bytes(b"".join([second, first, *others]))


def swap_files(one, two):
    between = one.with_name("between")
    one.rename(between)
    two.rename(one)
    between.rename(two)


def damages_of_folders(experiment):
    first, second = experiment.processes()[:2]
    yield f"{first.name} removed", lambda: shutil.rmtree(first)
    yield f"{first.name} empty", lambda: [file.unlink() for file in first.iterdir()]
    for name in ("process", "events.0.packed", "events.0.tail", "maps.0"):
        if (first / name).exists() and (second / name).exists():
            yield f"{name} swapped between ranks", lambda n=name: swap_files(first / n, second / n)
            yield f"{name} copied to the other", lambda n=name: shutil.copy(first / n, second / n)
    for folder in (first, second):
        logs = sorted(file for file in folder.glob("events.*") if file.stat().st_size > 0)
        yield f"logs swapped in {folder.name}", lambda l=logs: swap_files(l[0], l[-1])
        for log in (file for file in logs if file.suffix == ".packed"):
            if len(blocks(log)) >= 2:
                yield f"windows swapped in {log}", lambda log=log: swap_windows(log)
        yield (f"all tails of {folder.name} removed",
               lambda f=folder: [file.unlink() for file in f.glob("*.tail")])
        yield (f"all logs of {folder.name} removed",
               lambda f=folder: [file.unlink() for file in f.glob("events.*")])


def damages(experiment):
    """Pairs of a name and what does it."""
    chance = random.Random(4711)
    yield from damages_of_folders(experiment)
    for file in sorted(experiment.processes()[0].iterdir()):
        where = f"{file.parent.name[-8:]}/{file.name}"
        kinds = [damages_of_sizes(file)]
        if file.stat().st_size > 0:
            kinds.append(damages_of_bytes(file, chance))
        if file.suffix == ".tail":
            kinds.append(damages_of_times(file))
        for kind in kinds:
            for name, inflict in kind:
                yield f"{where}: {name}", inflict


def without_losses(report):
    return {key: value for key, value in report.items() if key != "losses"}


def judge(name, found, sound):
    status, said, report = found
    check(status in (0, DAMAGED, FAILED), f"{name}: status {status}: {said}")
    if report is None:
        told = [line for line in said.splitlines() if line.startswith("culprit: ")]
        check(len(told) == 1, f"{name}: not one sentence: {said}")
        return
    wall, true = report["run"]["wall_s"], sound["run"]["wall_s"]
    check(wall <= true * 1.1 + ALLOWED_S, f"{name}: the run lasts {wall} s instead of {true} s")
    lost = [loss["name"] for loss in report["losses"] if loss["severity"] == "data loss"]
    check((status == DAMAGED) == bool(lost), f"{name}: status {status}, losses {lost}")
    check(lost or without_losses(report) == without_losses(sound),
          f"{name}: another result, and no loss of data is reported: {difference(report, sound)}")


def difference(report, sound):
    for key in sound:
        if key != "losses" and report.get(key) != sound[key]:
            return f"{key}: {str(report.get(key))[:300]} instead of {str(sound[key])[:300]}"
    return ""


def try_all(place, ending):
    experiment = Experiment(place, ending)
    windows = max(len(blocks(file)) for file in experiment.files() if file.suffix == ".packed")
    check(windows >= 2, "the records do not fill two windows")
    status, said, sound = experiment.analyze()
    check(status == 0, f"status {status} without damage: {said}")
    status, _, again = experiment.analyze()
    check(again == sound, f"not the same twice: {difference(again, sound)}")
    names = [name for name, _ in damages(experiment)]
    check(len(names) >= LEAST_DAMAGES, f"only {len(names)} damages")
    wrong, told = [], 0
    for name, inflict in list(damages(experiment)):
        inflict()
        found = experiment.analyze()
        told += found[0] == DAMAGED
        try:
            judge(name, found, sound)
        except harness.Wrong as sentence:
            wrong.append(str(sentence))
        experiment.restore()
    print(f"{len(names)} damages, {told} of them reported with status 3")
    check(not wrong, "\n".join(wrong))


if __name__ == "__main__":
    sys.exit(harness.main({"ended": lambda place: try_all(place, "end"),
                           "killed": lambda place: try_all(place, "kill")}))
