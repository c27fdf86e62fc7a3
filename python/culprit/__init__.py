# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Experiments of culprit in Python: findings as rows or data frames, events as columns, patterns of one's own.

    import culprit
    run = culprit.Experiment("run1")
    run.verdict                         # what the report says first
    run.frame("delays")                 # a pandas DataFrame if pandas is there, else a list of dicts
    run.rows("waits")                   # dicts: locations and call paths by name
    for event in run.events(): ...      # enter, leave, send, receive in order of time

    run.view()                          # the page, in a notebook
    culprit.compare(["run1", "run2"])   # a row for each: run time, waiting, efficiency, the first cause
    run.to_graphframe()                 # for Hatchet

Needs Python 3.9 and nothing else; numpy and pandas are used where they are there. Events are read from the trace by
the program culprit (the variable CULPRIT names it, else PATH has it); findings need only the file findings.db.
The names of tables and columns are those of docs/findings-db.md; times are in seconds, and columns of times end in _s.
"""
from __future__ import annotations

import collections
import contextlib
import html
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
from typing import Any, Iterable, Iterator, Optional, Union

__all__ = ["Experiment", "Events", "Event", "Error", "NONE", "compare"]

#: A path, in any way that Python knows.
Path = Union[str, "os.PathLike[str]"]
#: A row of a table, by column.
Row = dict[str, Any]

#: What a column holds where there is nothing to refer to.
NONE = 0xFFFFFFFF


class Error(Exception):
    """Something is not as culprit needs it; the text is a sentence."""


def _program() -> str:
    found = os.environ.get("CULPRIT") or shutil.which("culprit")
    if not found:
        raise Error("the program culprit is not in PATH, and the variable CULPRIT does not name it")
    return found


def _run(*arguments: object) -> str:
    done = subprocess.run([_program(), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Error(done.stderr.strip() or f"culprit {arguments[0]} failed")
    return done.stdout


def _text(data: bytes) -> str:
    """Bytes that are no UTF-8, in findings of earlier versions, as culprit writes them."""
    return data.decode("utf-8", "backslashreplace")


class Experiment:
    """An experiment folder, or a findings.db alone."""

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        self.database = os.path.join(self.path, "findings.db") if os.path.isdir(self.path) else self.path
        if not os.path.exists(self.database):
            raise Error(f"'{self.path}' has no findings: run `culprit analyze {self.path}`")
        with open(self.database, "rb") as stream:
            if stream.read(16) != b"SQLite format 3\0":
                raise Error(f"'{self.path}' is no experiment, and no findings of one")

    def query(self, sql: str, *parameters: object) -> list[Row]:
        """Rows of any SQL, as dicts; ids as they are."""
        uri = pathlib.Path(self.database).absolute().as_uri() + "?mode=ro"  # names may have '#', '?' and '%'
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as db:
            db.row_factory = sqlite3.Row
            db.text_factory = _text
            return [dict(row) for row in db.execute(sql, parameters)]

    @property
    def tables(self) -> list[str]:
        """Their names."""
        return [row["name"] for row in self.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]

    def _names(self, table: str) -> dict[int, str]:
        return {row["id"]: row["name"] for row in self.query(f"SELECT id, name FROM {table}")}

    def rows(self, table: str) -> list[Row]:
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

    def frame(self, table: str, joined: bool = False) -> Any:
        """The same as a pandas DataFrame, or as it is where there is no pandas.

        `joined`: for each column that refers to a location or a call path, with what is known of it beside it:
        rank, thread and node; region, file and line. Of a second such column they have its name before them
        (delay_rank, wait_rank).
        """
        rows = self._joined(table) if joined else self.rows(table)
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows)

    #: What a joined frame has of a location and of a call path.
    _BESIDE = {"locations": ("rank", "thread", "node"), "callpaths": ("region", "file", "line")}

    def _joined(self, table: str) -> list[Row]:
        keys = [key for key in self.query(f"PRAGMA foreign_key_list({table})") if key["table"] in self._BESIDE]
        known = {kind: {row["name"]: row for row in self.query(f"SELECT * FROM {kind}")} for kind in self._BESIDE}
        rows = []
        for row in self.rows(table):
            wide: Row = {}
            for column, value in row.items():
                wide[column] = value
                for key in keys:
                    if key["from"] != column:
                        continue
                    before = column[:-len(key["table"][:-1])] if column.endswith(key["table"][:-1]) else f"{column}_"
                    for name in self._BESIDE[key["table"]]:
                        wide[before + name] = known[key["table"]].get(value, {}).get(name)
            rows.append(wide)
        return rows

    def describe(self, table: str) -> dict[str, str]:
        """Columns of a table and their SQL types. A REAL whose name ends in _s is in seconds; in _pct, in percent."""
        if table not in self.tables:
            raise Error(f"there is no table '{table}': {', '.join(self.tables)}")
        return {row["name"]: row["type"] for row in self.query(f"PRAGMA table_info({table})")}

    @property
    def efficiency(self) -> Optional[float]:
        """Parallel efficiency, from 0 to 1; None if it was not computed."""
        for row in self.rows("efficiencies"):
            if row["name"] == "parallel":
                return row["value"]
        return None

    def causes(self, most: int = 10) -> list[Row]:
        """The call paths that made others wait, the costliest first: callpath, cost_s (directly and through further
        waits), share (of all waiting that start-up does not cause), and gain_s (by how much the run would be shorter; None if that is
        unknown)."""
        costs: "collections.Counter[str]" = collections.Counter()
        start_up = {row["name"] for row in self.query("SELECT name FROM callpaths WHERE start_up = 1")}
        for row in self.rows("delays"):
            costs[row["callpath"]] += row["short_s"] + row["long_s"]
        whole = self.rows("identities")[0]["waiting_s"] - self.rows("start_up")[0]["waiting_s"]
        gains = {row["callpath"]: row["gain_s"] for row in self.rows("gains")}
        return [{"callpath": path, "cost_s": cost, "share": cost / whole if whole > 0 else 0.0, "gain_s": gains.get(path)}
                for path, cost in costs.most_common() if path not in start_up][:most]

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, and the first causes."""
        cell = lambda value: f"<td style='text-align:left'>{html.escape(str(value))}</td>"
        number = lambda value, unit="s": "<td></td>" if value is None else f"<td>{value:.3g} {unit}</td>"
        rows = "".join(f"<tr>{cell(row['callpath'])}{number(row['cost_s'])}{number(100 * row['share'], '%')}{number(row['gain_s'])}</tr>"
                       for row in self.causes(5))
        run = self.run
        return (f"<p><b>{html.escape(run['command'] or run['program'])}</b>: {run['ranks']} ranks, {run['wall_s']:.3g} s</p>"
                f"<p>{html.escape(self._verdict() or '')}</p><table><tr><th style='text-align:left'>made others wait</th><th>cost</th>"
                f"<th>share</th><th>gain</th></tr>{rows}</table>")

    def _verdict(self) -> Optional[str]:
        """None where the program culprit is not there to say it."""
        try:
            return self.verdict
        except (Error, OSError):
            return None

    def view(self, height: int = 800, events: bool = True) -> Any:
        """The page of `culprit view` in a notebook's cell; outside of one, opened in the browser. Returns its frame, or
        the path of the file."""
        folder = tempfile.mkdtemp(prefix="culprit-view-")
        page = os.path.join(folder, "view.html")
        _run("view", self.path, "-o", page, *([] if events else ["--no-events"]))
        try:
            from IPython import get_ipython
            from IPython.display import HTML
        except ImportError:
            get_ipython = lambda: None
        if get_ipython() is None:
            import webbrowser
            webbrowser.open(pathlib.Path(page).as_uri())
            return page
        with open(page, encoding="utf-8") as stream:
            text = html.escape(stream.read())
        shutil.rmtree(folder, ignore_errors=True)
        # A document of its own: neither its style nor its keys reach the notebook.
        return HTML(f'<iframe srcdoc="{text}" style="width:100%;height:{int(height)}px;border:0"></iframe>')

    def to_graphframe(self) -> Any:
        """A GraphFrame of Hatchet: a node for each call path, with time, waiting, delay costs and so on, each also with
        "(inc)" for what it calls. Needs the package hatchet."""
        try:
            import hatchet
        except ImportError:
            raise Error("to_graphframe needs the package hatchet: pip install llnl-hatchet") from None
        with tempfile.TemporaryDirectory(prefix="culprit-") as folder:
            file = os.path.join(folder, "graph.json")
            _run("export", self.path, "--format", "hatchet", "-o", file)
            with open(file, encoding="utf-8") as stream:
                return hatchet.GraphFrame.from_literal(json.load(stream))

    @property
    def run(self) -> Row:
        """What ran: one row."""
        return self.rows("run")[0]

    @property
    def verdict(self) -> str:
        """What the report says first."""
        return json.loads(_run("report", self.path, "--format", "json"))["verdict"]["text"]

    def critical_path(self) -> list[Row]:
        """Segments in order of time: location, callpath, begin_s, end_s."""
        return self.rows("segments")

    def events(self, from_s: Optional[float] = None, to_s: Optional[float] = None, ranks: Optional[Iterable[int]] = None,
               shortest_s: Optional[float] = None) -> Events:
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

    def add_pattern(self, name: str, summary: str, found: Iterable[tuple[str, str, float]]) -> None:
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


def compare(experiments: Iterable[Union[Path, Experiment]]) -> Any:
    """A row for each run, as a pandas DataFrame if pandas is there, else a list of dicts: experiment, command, ranks,
    wall_s, waiting_s, waiting_share (of the allocated time, from 0 to 1), efficiency (likewise), first_cause, and cost_s
    and gain_s of that."""
    rows = []
    for each in experiments:
        run = each if isinstance(each, Experiment) else Experiment(each)
        facts, waiting = run.run, run.rows("identities")[0]["waiting_s"]
        first = next(iter(run.causes(1)), {"callpath": None, "cost_s": None, "gain_s": None})
        rows.append({"experiment": run.path, "command": facts["command"], "ranks": facts["ranks"], "wall_s": facts["wall_s"],
                     "waiting_s": waiting, "waiting_share": waiting / facts["allocation_s"] if facts["allocation_s"] else None,
                     "efficiency": run.efficiency, "first_cause": first["callpath"], "cost_s": first["cost_s"], "gain_s": first["gain_s"]})
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


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
    def load(cls, file: Path) -> Events:
        """From a file that `culprit export --format events` wrote."""
        with open(file, "rb") as stream:
            data = stream.read()
        if data[:16] != b"culprit events 1":
            raise Error(f"'{file}' has no events that this package can read")
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
    def columns(self) -> dict[str, Any]:
        """By name: arrays of numpy, else memoryviews; regions and so on are places in the lists of names."""
        try:
            import numpy
        except ImportError:
            return self._columns
        return {name: numpy.asarray(values) for name, values in self._columns.items()}

    def __len__(self) -> int:
        return self.head["events"]

    def __getitem__(self, index: int) -> Event:
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

    def __iter__(self) -> Iterator[Event]:
        for begin in range(0, len(self), self._AT_ONCE):
            yield from self._events(begin, min(begin + self._AT_ONCE, len(self)))

    #: Events that are made ready together: of 10^7 at once, their numbers alone would fill gigabytes.
    _AT_ONCE = 4096

    def of_kind(self, kind: str) -> Iterator[Event]:
        """The events of a kind, in order."""
        number = self.kinds.index(kind)
        for begin in range(0, len(self), self._AT_ONCE):
            for index, each in enumerate(self._columns["kind"][begin:begin + self._AT_ONCE].tolist(), begin):
                if each == number:
                    yield self[index]

    def stack(self, index: int) -> list[Event]:
        """The enters of all functions that the event's location is in then, the outermost first."""
        found = []
        enters = self._columns["enter"]
        enter = index if self._columns["kind"][index] == self.kinds.index("enter") else enters[index]
        while enter != NONE:
            found.append(self[enter])
            enter = enters[enter]
        return found[::-1]

    def in_flight(self, index: int) -> list[Event]:
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
