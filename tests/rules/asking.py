# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The table of calls that ask (trace/mpi_asking.def) and the collector's table of all calls agree: a function whose
record says that it may have found nothing is a test for those who read the record, too."""
import macros

ASKING = "trace/mpi_asking.def"
CALLS = "collector/mpi/calls.txt"
# By kind of calls.txt: what the table of calls that ask may say.
KINDS = {
    "test": {"test"}, "testall": {"test"}, "testany": {"test"}, "testsome": {"test"},
    "request_get_status": {"test"}, "win_test": {"test"}, "iprobe": {"poll"}, "improbe": {"poll"}, "poll": {"poll"},
    "probe": {"probe"}, "mprobe": {"probe"},
}


def kinds(calls):
    """(function, kind) of each that is named in full."""
    for line in calls.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        functions, kind = (part.split() for part in line.split(":")[:2])
        for function in functions:
            yield function, kind[0]


def check(tree):
    """Calls of MPI that ask stand in one table."""
    if ASKING not in tree.paths or CALLS not in tree.paths:
        return
    asking = {name: how for _, (name, how) in macros.calls(tree.text(ASKING))}
    for function, kind in kinds(tree.text(CALLS)):
        how = asking.get(function)
        if kind in KINDS and how not in KINDS[kind]:
            yield f"{ASKING}: {function} is `{kind}` in {CALLS}, but here {how or 'missing'}"
        if kind not in KINDS and how in ("test", "poll", "probe") and kind != "plain":
            yield f"{CALLS}: {function} is `{kind}`, but `{how}` in {ASKING}"
