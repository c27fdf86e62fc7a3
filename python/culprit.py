# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Experiments of culprit in Python: findings as rows or data frames, events as columns, patterns of one's own.

    import culprit
    run = culprit.Experiment("run1")
    run.verdict                         # what the report says first
    run.frame("delays")                 # a pandas DataFrame if pandas is there, else a list of dicts
    run.rows("waits")                   # dicts: locations and call paths by name
    for event in run.events(): ...      # enter, leave, send, receive in order of time

Needs Python 3.9 and nothing else; numpy and pandas are used where they are there. Events are read from the trace by
the program culprit (the variable CULPRIT names it, else PATH has it); findings need only the file findings.db.
The names of tables and columns are those of docs/findings-db.md.
"""
import collections
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

__all__ = ["Experiment", "Events", "Event", "Error", "NONE"]

#: What a column holds where there is nothing to refer to.
NONE = 0xFFFFFFFF


class Error(Exception):
    """Something is not as culprit needs it; the text is a sentence."""


def _program():
    found = os.environ.get("CULPRIT") or shutil.which("culprit")
    if not found:
        raise Error("the program culprit is not in PATH, and the variable CULPRIT does not name it")
    return found


def _run(*arguments):
    done = subprocess.run([_program(), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Error(done.stderr.strip() or f"culprit {arguments[0]} failed")
    return done.stdout


def _text(data):
    """Bytes that are no UTF-8, in findings of earlier versions, as culprit writes them."""
    return data.decode("utf-8", "backslashreplace")


class Experiment:
    """An experiment folder, or a findings.db alone."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self.database = os.path.join(self.path, "findings.db") if os.path.isdir(self.path) else self.path
        if not os.path.exists(self.database):
            raise Error(f"'{self.path}' has no findings: run `culprit analyze {self.path}`")
        with open(self.database, "rb") as stream:
            if stream.read(16) != b"SQLite format 3\0":
                raise Error(f"'{self.path}' is no experiment, and no findings of one")

    def query(self, sql, *parameters):
        """Rows of any SQL, as dicts; ids as they are."""
        uri = pathlib.Path(self.database).absolute().as_uri() + "?mode=ro"  # names may have '#', '?' and '%'
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as db:
            db.row_factory = sqlite3.Row
            db.text_factory = _text
            return [dict(row) for row in db.execute(sql, parameters)]

    @property
    def tables(self):
        """Their names."""
        return [row["name"] for row in self.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]

    def _names(self, table):
        return {row["id"]: row["name"] for row in self.query(f"SELECT id, name FROM {table}")}

    def rows(self, table):
        """All rows of a table in its order; what refers to locations, call paths or counters has their names."""
        if table not in self.tables:
            raise Error(f"there is no table '{table}': {', '.join(self.tables)}")
        names = {}
        for key in self.query(f"PRAGMA foreign_key_list({table})"):
            if key["table"] in ("locations", "callpaths", "metrics"):
                names[key["from"]] = self._names(key["table"])
        rows = self.query(f"SELECT * FROM {table}")
        for row in rows:
            for column, known in names.items():
                row[column] = known.get(row[column])
        return rows

    def frame(self, table):
        """The same as a pandas DataFrame, or as it is where there is no pandas."""
        rows = self.rows(table)
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows)

    @property
    def run(self):
        """What ran: one row."""
        return self.rows("run")[0]

    @property
    def verdict(self):
        """What the report says first."""
        return json.loads(_run("report", self.path, "--format", "json"))["verdict"]["text"]

    def critical_path(self):
        """Segments in order of time: location, callpath, begin_s, end_s."""
        return self.rows("segments")

    def events(self, from_s=None, to_s=None, ranks=None, shortest_s=None):
        """The events of the run or of a part of it. Reads the trace: seconds for 10^7 events."""
        part = []
        for option, value in (("--from", from_s), ("--to", to_s), ("--shortest", shortest_s)):
            if value is not None:
                part += [option, repr(float(value))]
        if ranks is not None:
            part += ["--rank", ",".join(str(rank) for rank in ranks)]
        with tempfile.TemporaryDirectory(prefix="culprit-") as folder:
            file = os.path.join(folder, "events")
            _run("export", self.path, "--format", "events", "-o", file, *part)
            return Events.load(file)

    def add_pattern(self, name, summary, found):
        """Keeps what a pattern of one's own found, for report and view: (callpath, location, seconds) each, by name.

        Replaces what an earlier pattern of this name found. It is in no other sum: it may be waiting that other
        patterns know, too.
        """
        if not name.strip():
            raise Error("a pattern needs a name")
        sums, counts = collections.Counter(), collections.Counter()
        for callpath, location, seconds in found:
            if not 0 <= seconds < float("inf"):
                raise Error(f"{seconds} s in '{callpath}' on {location} is no time")
            sums[callpath, location] += seconds
            counts[callpath, location] += 1
        with contextlib.closing(sqlite3.connect(self.database)) as opened, opened as db:
            db.text_factory = _text
            ids = {table: {row[1]: row[0] for row in db.execute(f"SELECT id, name FROM {table}")}
                   for table in ("callpaths", "locations")}
            for callpath, location in sums:
                if callpath not in ids["callpaths"]:
                    raise Error(f"the findings have no call path '{callpath}': analyze the experiment again")
                if location not in ids["locations"]:
                    raise Error(f"the findings have no location '{location}': they are named like '0.1', rank and thread")
            db.execute("DELETE FROM user_waits WHERE pattern = ?", (name,))
            db.execute("DELETE FROM user_patterns WHERE name = ?", (name,))
            db.execute("INSERT INTO user_patterns (name, summary) VALUES (?, ?)", (name, summary))
            db.executemany("INSERT INTO user_waits (pattern, callpath, location, count, time_s) VALUES (?, ?, ?, ?, ?)",
                           [(name, ids["callpaths"][path], ids["locations"][location], counts[path, location], seconds)
                            for (path, location), seconds in sums.most_common()])


#: index; time in nanoseconds since the run's begin; kind: "enter", "leave", "send", "receive"; location, region and
#: callpath by name (of a message: where it happened); match: index of a leave's enter, an enter's leave, a receipt's
#: send, a send's receipt; enter: index of the enter of the function that it happened in; partner: the other location
#: of a message. None where there is none.
Event = collections.namedtuple("Event", "index time kind location region callpath match enter partner bytes")


class Events:
    """Events in order of time, in columns. An index gives an Event; columns are arrays (of numpy, if that is there)."""

    def __init__(self, head, columns):
        self.head = head
        self._columns = columns
        self._in_order = [columns[name] for name in ("time", "kind", "location", "path", "match", "enter", "partner", "bytes")]
        self._queue_at, self._queue = 0, {}  # the sends before this event that are not received before it
        self.wall_ns = head["wall_ns"]
        self.locations = [entry[0] for entry in head["locations"]]
        self.callpaths = [entry[0] for entry in head["callpaths"]]
        self.regions = [entry[1] for entry in head["callpaths"]]
        self.kinds = head["kinds"]

    @classmethod
    def load(cls, file):
        """From a file that `culprit export --format events` wrote."""
        with open(file, "rb") as stream:
            data = stream.read()
        if data[:16] != b"culprit events 1":
            raise Error(f"'{file}' has no events that this culprit.py can read")
        length = int.from_bytes(data[16:24], "little")
        head = json.loads(data[24:24 + length])
        sizes = {"q": 8, "I": 4, "B": 1}
        columns = {}
        for column in head["columns"]:
            at = 24 + length + column["at"]
            part = memoryview(data)[at:at + head["events"] * sizes[column["type"]]]
            columns[column["name"]] = part.cast(column["type"])
        return cls(head, columns)

    @property
    def columns(self):
        """By name: arrays of numpy, else memoryviews; regions and so on are places in the lists of names."""
        try:
            import numpy
        except ImportError:
            return self._columns
        return {name: numpy.asarray(values) for name, values in self._columns.items()}

    def __len__(self):
        return self.head["events"]

    def __getitem__(self, index):
        if not 0 <= index < len(self):
            raise IndexError(index)
        time, kind, location, path, match, enter, partner, size = (values[index] for values in self._in_order)
        if path == NONE and enter != NONE:
            path = self._columns["path"][enter]
        known = path != NONE
        return Event(index, time, self.kinds[kind], self.locations[location], self.regions[path] if known else None,
                     self.callpaths[path] if known else None, None if match == NONE else match,
                     None if enter == NONE else enter, None if partner == NONE else self.locations[partner], size)

    def _events(self, begin, end):
        """Those of a part as __getitem__ has them, column by column: that is twice as fast."""
        columns = self._columns
        paths, enters = columns["path"], columns["enter"][begin:end].tolist()
        # A message is where the function is that it happened in.
        path = [enter if own == NONE else own for own, enter in zip(
            paths[begin:end].tolist(), (NONE if enter == NONE else paths[enter] for enter in enters))]
        name = lambda names, numbers: [None if number == NONE else names[number] for number in numbers]
        own = lambda numbers: [None if number == NONE else number for number in numbers]
        part = lambda column: columns[column][begin:end].tolist()
        return map(Event._make, zip(
            range(begin, end), part("time"), name(self.kinds, part("kind")), name(self.locations, part("location")),
            name(self.regions, path), name(self.callpaths, path), own(part("match")), own(enters),
            name(self.locations, part("partner")), part("bytes")))

    def __iter__(self):
        for begin in range(0, len(self), self._AT_ONCE):
            yield from self._events(begin, min(begin + self._AT_ONCE, len(self)))

    #: Events that are made ready together: of 10^7 at once, their numbers alone would fill gigabytes.
    _AT_ONCE = 4096

    def of_kind(self, kind):
        """The events of a kind, in order."""
        number = self.kinds.index(kind)
        for begin in range(0, len(self), self._AT_ONCE):
            for index, each in enumerate(self._columns["kind"][begin:begin + self._AT_ONCE].tolist(), begin):
                if each == number:
                    yield self[index]

    def stack(self, index):
        """The enters of all functions that the event's location is in then, the outermost first."""
        found = []
        enters = self._columns["enter"]
        enter = index if self._columns["kind"][index] == self.kinds.index("enter") else enters[index]
        while enter != NONE:
            found.append(self[enter])
            enter = enters[enter]
        return found[::-1]

    def in_flight(self, index):
        """The sends before this event whose messages are received after it. Cheap where events are asked in order."""
        kinds, match = self._columns["kind"], self._columns["match"]
        send, receive = self.kinds.index("send"), self.kinds.index("receive")
        if index < self._queue_at:
            self._queue_at, self._queue = 0, {}
        for i in range(self._queue_at, index):
            if kinds[i] == send:
                self._queue[i] = None
            elif kinds[i] == receive:
                self._queue.pop(match[i], None)
        self._queue_at = max(self._queue_at, index)
        return [self[i] for i in self._queue if match[i] != index]
