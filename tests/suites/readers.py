#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Exports read back by readers made outside: `readers.py --build build --readers FOLDER [EXPERIMENT]`.

Each export of an experiment (by default, of a run of the example hybrid_chain) is read by a program that its users
have, and the sums that it finds by function are compared with the findings. Needs Debian's python3-pandas,
python3-protobuf, python3-jsonschema, protobuf-compiler and otf2-tools; FOLDER contains, each as its makers keep it:
hatchet, pipit, pycubexr, extrap (with what it needs), FlameGraph, speedscope (npm's package), and
perfetto/perfetto_trace.proto. A reader that is not at hand counts as one that failed."""

import argparse
import collections
import importlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
from unittest import mock

SAME = 2e-6  # seconds: sums of rounded nanoseconds and microseconds
Sums = collections.Counter


class Differs(Exception):
    pass


def profile(experiment):
    """Seconds by function, of the findings."""
    with sqlite3.connect(experiment / "findings.db") as database:
        return Sums(dict(database.execute("SELECT c.region, sum(p.time_s) FROM profile p JOIN callpaths c"
                                          " ON c.id = p.callpath GROUP BY c.region")))


def compare(expected, found, exact=SAME):
    for name in {*expected, *found}:
        if abs(expected[name] - found[name]) > exact:
            raise Differs(f"{name}: {found[name]:.6f} s, not {expected[name]:.6f}")
    return f"{len(expected)} functions, {sum(found.values()):.6f} s"


def without(*modules):
    """Modules that a reader loads and does not need to read."""
    for name in modules:
        sys.modules.setdefault(name, mock.MagicMock())


def hatchet(file, readers, expected):
    sys.path.insert(0, str(readers / "hatchet"))
    without("textx", "textx.exceptions", "caliperreader", "multiprocess", "pydot",
            "hatchet.cython_modules.libs.graphframe_modules")
    frame = importlib.import_module("hatchet").GraphFrame.from_literal(json.loads(file.read_text())).dataframe
    return compare(expected, Sums(frame.groupby("name")["time"].sum().to_dict()))


def pipit(file, readers, expected):
    sys.path.insert(0, str(readers / "pipit"))
    trace = importlib.import_module("pipit").Trace.from_csv(str(file))
    trace.calc_exc_metrics(["Timestamp (ns)"])
    rows = trace.events.groupby("Name", observed=True)["time.exc"].sum()
    return compare(expected, Sums({name: ns * 1e-9 for name, ns in rows.items()}))


def cube(file, readers, expected):
    sys.path.insert(0, str(readers / "pycubexr"))
    found = Sums()
    with importlib.import_module("pycubexr").CubexParser(str(file)) as parsed:
        values = parsed.get_metric_values(parsed.get_metric_by_name("time"))
        for node in parsed.all_cnodes():
            found[node.region.name] += float(values.cnode_values(node).sum())
    return compare(expected, found)  # the program's name, above all roots, has no time of its own


def extrap(file, readers, expected):
    sys.path[:0] = [str(readers / "extrap"), str(readers / "pycubexr")]
    without("pycubexr")
    with mock.patch("importlib.metadata.version", return_value="2"):  # it is not installed, but used where it lies
        read = importlib.import_module("extrap.fileio.file_reader.jsonlines_file_reader").read_jsonlines_file
    found = Sums()
    for (callpath, metric), values in read(str(file)).measurements.items():
        if metric.name == "time":
            found[callpath.name.split("->")[-1]] += sum(value.mean for value in values)
    return compare(expected, found)


def folded(file, readers, expected):
    drawn = subprocess.run(["perl", str(readers / "FlameGraph" / "flamegraph.pl"), str(file)], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    whole = int(re.search(r"<title>all \(([\d,]+) samples", drawn)[1].replace(",", "")) * 1e-6
    lines = file.read_text().splitlines()
    found = Sums()
    for line in lines:
        stack, value = line.rsplit(" ", 1)
        found[stack.rsplit(";", 1)[1]] += int(value) * 1e-6
    compare(Sums(whole=sum(found.values())), Sums(whole=whole))
    return compare(expected, found, exact=len(lines) * 1e-6)


def speedscope(file, readers, expected):
    schema = next((readers / "speedscope").rglob("file-format-schema.json"))
    data = json.loads(file.read_text())
    importlib.import_module("jsonschema").validate(data, json.loads(schema.read_text()))
    first, found = data["profiles"][0], Sums()
    scale = {"seconds": 1, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}[first["unit"]]
    for stack, weight in zip(first["samples"], first["weights"]):
        found[data["shared"]["frames"][stack[-1]]["name"]] += weight * scale
    return compare(expected, found)


def perfetto(file, readers, expected):
    """Slices of threads; those of tracks with waits and with the critical path are told by having no thread."""
    folder = pathlib.Path(tempfile.mkdtemp())
    subprocess.run(["protoc", f"-I{readers / 'perfetto'}", f"--python_out={folder}", "perfetto_trace.proto"], check=True,
                   stderr=subprocess.DEVNULL)
    sys.path.insert(0, str(folder))
    module = importlib.import_module("perfetto_trace_pb2")
    trace = module.Trace.FromString(file.read_bytes())
    threads = {p.track_descriptor.uuid for p in trace.packet if p.track_descriptor.HasField("thread")}
    names, opened, found = {}, collections.defaultdict(list), Sums()
    for packet in trace.packet:
        names.update((row.iid, row.name) for row in packet.interned_data.event_names)
        event = packet.track_event
        if not packet.HasField("track_event") or event.track_uuid not in threads:
            continue
        stack = opened[event.track_uuid]
        if event.type == module.TrackEvent.TYPE_SLICE_BEGIN:
            stack.append([event.name or names[event.name_iid], packet.timestamp, 0])
        elif event.type == module.TrackEvent.TYPE_SLICE_END:
            name, begin, inside = stack.pop()
            lasted = packet.timestamp - begin
            found[name] += (lasted - inside) * 1e-9
            if stack:
                stack[-1][2] += lasted
    if any(opened.values()):
        raise Differs("there are slices that do not end")
    return compare(expected, found)


def csv(folder, _, expected):
    pandas = importlib.import_module("pandas")
    joined = pandas.read_csv(folder / "profile.csv").merge(
        pandas.read_csv(folder / "callpaths.csv"), left_on="callpath", right_on="name")
    return compare(expected, Sums(joined.groupby("region")["time_s"].sum().to_dict()))


def otf2(folder, _, expected):
    said = subprocess.run(["otf2-print", str(next(folder.rglob("traces.otf2")))], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    found, opened = Sums(), collections.defaultdict(list)
    for kind, location, time, name in re.findall(r'^(ENTER|LEAVE)\s+(\d+)\s+(\d+)\s+Region: "(.*)" <\d+>', said, re.MULTILINE):
        stack, now = opened[location], int(time)
        if stack:
            found[stack[-1][0]] += now - stack[-1][1]
            stack[-1][1] = now
        if kind == "LEAVE":
            stack.pop()
            if stack:
                stack[-1][1] = now
        else:
            stack.append([name, now])
    calls = [name for name in expected if name.startswith(("MPI_", "cl", "cu"))]
    if not calls:
        raise Differs("the experiment has no calls whose time the events of a trace tell by themselves")
    resolution = 1e9 / int(re.search(r"Ticks per Seconds: (\d+)", subprocess.run(
        ["otf2-print", "-G", str(next(folder.rglob("traces.otf2")))], check=True, stdout=subprocess.PIPE, text=True).stdout)[1])
    return compare(Sums({name: expected[name] for name in calls}),
                   Sums({name: found[name] * resolution * 1e-9 for name in calls}))


FORMATS = {"hatchet": hatchet, "pipit": pipit, "cube": cube, "extrap": extrap, "folded": folded, "speedscope": speedscope,
           "perfetto": perfetto, "csv": csv, "otf2": otf2}


def recorded(culprit, build, folder):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="2")
    subprocess.run([culprit, "run", "-q", "-o", folder / "run", "--", "mpirun.openmpi", "--oversubscribe", "-n", "2", "--bind-to",
                    "none", build / "examples" / "hybrid_chain"], check=True, env=environment, stdout=subprocess.DEVNULL)
    return folder / "run"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--readers", required=True, type=pathlib.Path)
    parser.add_argument("experiment", nargs="?", type=pathlib.Path)
    arguments = parser.parse_args()
    build, readers = arguments.build.resolve(), arguments.readers.resolve()
    culprit, right = build / "bin" / "culprit", 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        experiment = arguments.experiment or recorded(culprit, build, folder)
        expected = profile(experiment)
        for name, read in FORMATS.items():
            file = folder / name
            try:
                subprocess.run([culprit, "export", experiment, "--format", name, "-o", file], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                print(f"{name}: {read(file, readers, expected)}", flush=True)
                right += 1
            except Exception as error:  # whatever a reader raises
                print(f"{name}: wrong: {type(error).__name__}: {error}", flush=True)
    print(f"{right} of {len(FORMATS)} read back")
    return 0 if right == len(FORMATS) else 1


if __name__ == "__main__":
    sys.exit(main())
