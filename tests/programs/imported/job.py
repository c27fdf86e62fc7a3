# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A training job whose answer is known, and the files in which other tools would have recorded it.

Each step loads a batch, computes on the device, reduces over the rank's group and waits for that. Times are
nanoseconds."""

import gzip
import json
import sqlite3

MS = 10 ** 6
US = 10 ** 3
BASE = 1_764_200_000 * 10 ** 9  # some day
STREAM = 7


class Rank:
    def __init__(self, number, group):
        self.number = number
        self.group = group          # all ranks of it
        self.calls = []             # (kind, name, begin, end, correlation)
        self.operations = []        # (kind, name, begin, end, correlation)
        self.now = MS
        self.numbers = 0

    def function(self, name, lasts):
        self.calls.append(("function", name, self.now, self.now + lasts, 0))
        self.now += lasts

    def launch(self, name, begin, end, kind="kernel"):
        self.numbers += 1
        call = "cudaLaunchKernel" if kind == "kernel" else "cudaMemcpyAsync"
        self.calls.append(("call", call, self.now, self.now + 5 * US, self.numbers))
        self.operations.append((kind, name, begin, end, self.numbers))
        self.now += 6 * US

    def wait(self, name, until):
        self.numbers += 1
        self.calls.append(("call", name, self.now, max(until, self.now) + 5 * US, self.numbers))
        self.now = max(until, self.now) + 10 * US


def training(groups, slow, late, steps=10, load=2 * MS, compute=8 * MS):
    """Ranks of a job; `slow` takes `late` more for each batch, or all do if it is None."""
    ranks = [Rank(r, group) for group in groups for r in group]
    for _ in range(steps):
        begins = {}
        for rank in ranks:
            rank.function("load_batch", load + (late if slow in (rank.number, None) else 0))
            begin = rank.now + 20 * US
            rank.launch("gemm", begin, begin + compute)
            begins[rank.number] = begin + compute + 2 * US
        for rank in ranks:
            end = max(begins[r] for r in rank.group) + MS
            rank.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begins[rank.number], end)
            rank.wait("cudaStreamSynchronize", end)
    return ranks


def kineto(rank, groups_named=True, rank_named=True):
    """The text of a file of PyTorch's profiler."""
    def event(category, name, pid, tid, begin, end, args):
        return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin / US, "dur": (end - begin) / US,
                "args": args}
    pid = 1000 + rank.number
    events = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": "python"}}]
    for kind, name, begin, end, correlation in rank.calls:
        if kind == "function":
            events.append(event("python_function", f"train.py(12): {name}", pid, pid, begin, end, {"Python id": 1}))
        else:
            events.append(event("cuda_runtime", name, pid, pid, begin, end, {"cbid": 1, "correlation": correlation}))
    for kind, name, begin, end, correlation in rank.operations:
        args = {"device": 0, "context": 1, "stream": STREAM, "correlation": correlation, "est. achieved occupancy %": float("nan")}
        if name.startswith("nccl") and groups_named:
            args |= {"Collective name": "allreduce", "Group size": len(rank.group), "Process Group Name": "1",
                     "Process Group Description": "tp", "Process Group Ranks": str(list(rank.group))}
        events.append(event("kernel", name, 0, STREAM, begin, end, args))
    data = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Toy H100"}], "baseTimeNanoseconds": BASE}
    if rank_named:
        data["distributedInfo"] = {"backend": "nccl", "rank": rank.number, "world_size": 4}
    return json.dumps(data | {"traceEvents": events[::-1]}, indent=2)  # in no order of time


def write_kineto(ranks, folder, packed=False, **options):
    folder.mkdir()
    for rank in ranks:
        text = kineto(rank, **options)
        # Names do not tell the order of ranks.
        name = folder / f"host{7 - rank.number}_{rank.number}.pt.trace.json"
        if packed:
            with gzip.open(f"{name}.gz", "wt") as file:
                file.write(text)
        else:
            name.write_text(text)
    return folder


def write_nsight(ranks, folder, newer=True):
    """Exports of Nsight Systems, one for each rank; older ones have fewer columns."""
    folder.mkdir()
    for rank in ranks:
        database = sqlite3.connect(folder / f"report{rank.number}.sqlite")
        strings = {}

        def text(value):
            return strings.setdefault(value, len(strings) + 1)

        pid = 1000 + rank.number
        thread = pid << 24 | pid
        extra = ", callchainId INTEGER" if newer else ""
        database.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, "
                         f"globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER{extra})")
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, "
                         "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER)")
        database.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER"
                         f"{', textId INTEGER' if newer else ''})")
        for kind, name, begin, end, correlation in reversed(rank.calls):
            if kind == "call":
                values = (begin, end, 0, thread, correlation, text(name + "_v7000"), 0) + ((None,) if newer else ())
                database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({', '.join('?' * len(values))})", values)
            elif newer:
                database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, ?)", (begin, end, thread, text(name)))
            else:
                database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?)", (begin, end, name, thread))
        for kind, name, begin, end, correlation in reversed(rank.operations):
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, ?, ?, ?)",
                             (begin, end, STREAM, correlation, pid << 24, text(name), text(name)))
        database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", [(number, value) for value, number in strings.items()])
        database.execute("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, busLocation TEXT)")
        database.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 'Toy H100', '0000:1b')")
        database.execute("CREATE TABLE MPI_RANKS (globalPid INTEGER, rank INTEGER)")
        database.execute("INSERT INTO MPI_RANKS VALUES (?, ?)", (pid << 24, rank.number))
        database.commit()
        database.close()
    return folder
