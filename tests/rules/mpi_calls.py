# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The table of calls of MPI (trace/mpi_calls.def) and the collector's (collector/mpi/calls.txt) agree: what one
records has a row in the other, of the kind that its record has, and a function whose record says that it may have
found nothing asks for those who read the record, too."""
import macros

TABLE = "trace/mpi_calls.def"
CALLS = "collector/mpi/calls.txt"
# The kind in the table, by kinds of calls.txt. Those of neither are free: `plain`, `local`.
KINDS = {kind: row for row, kinds in {
    "life": "init finalize abort session_init session_finalize",
    "point_to_point": "send recv sendrecv isend irecv isendrecv mrecv imrecv send_init recv_init psend_init precv_init",
    "probe": "probe iprobe mprobe improbe",
    "request": "start startall wait waitall waitany waitsome test testall testany testsome request_get_status "
               "request_free cancel pready poll",
    "collective": "collective icollective collective_init",
    "communicator": "comm_create comm_join comm_idup comm_free",
    "one_sided": "win_create win_free win_fence rma rma_request win_epoch win_epoch_end win_test win_lock win_lock_all "
                 "win_unlock win_unlock_all win_flush win_flush_all win_sync",
    "file": "file_open file_close file_collective file_transfer file_itransfer file_begin file_end file_sync",
}.items() for kind in kinds.split()}
# What a call of such a kind asks, and no other does.
ASKS = {
    "test": "tests", "testall": "tests", "testany": "tests", "testsome": "tests", "request_get_status": "tests",
    "win_test": "tests", "iprobe": "polls", "improbe": "polls", "poll": "polls", "probe": "probes", "mprobe": "probes",
}
# Kinds that say nothing of what a call means.
FREE = {"plain", "local", "pcontrol", "callbacks"}
# Traits that follow from a kind of calls.txt, both ways.
TRAITS = {
    "persistent": {"send_init", "recv_init", "psend_init", "precv_init", "collective_init"},
    "starts": {"start", "startall"},
    "chooses": {"waitany", "waitsome", "testany", "testsome"},
    "starts_world": {"init"},
    "ends_world": {"finalize"},
    "frees_together": {"win_free", "file_close"},
}


def kinds(calls):
    """(function, kind) of each that is named in full."""
    seen = set()
    for line in calls.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        functions, kind = (part.split() for part in line.split(":")[:2])
        for function in functions:
            if function not in seen:
                seen.add(function)
                yield function, kind[0]


def rows(table):
    """Kind and traits by name."""
    return {words[0]: (words[1], set(words[2:])) for macro, words in macros.calls(table)
            if macro == "MPI_CALL" and words}


def check(tree):
    """What the collector records of a call and what the call means to readers agree."""
    if TABLE not in tree.paths or CALLS not in tree.paths:
        return
    table = rows(tree.text(TABLE))
    for function, kind in kinds(tree.text(CALLS)):
        if not function.startswith("MPI_") or function.endswith("*"):
            continue
        if function not in table:
            yield f"{TABLE}: {function} is missing, which {CALLS} has"
            continue
        row, traits = table[function]
        if kind in FREE:
            continue
        if KINDS.get(kind) != row:
            yield f"{TABLE}: {function} is `{row}`, but `{kind}` in {CALLS}"
        asks = traits & {"tests", "polls", "probes"}
        if asks != ({ASKS[kind]} if kind in ASKS else set()):
            yield f"{TABLE}: {function} {' '.join(sorted(asks)) or 'asks for nothing'}, but is `{kind}` in {CALLS}"
        for trait, of in TRAITS.items():
            if (trait in traits) != (kind in of):
                yield f"{TABLE}: {function} is `{kind}` in {CALLS}: is it {trait} or not?"
