#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Compares collector/callpath/python_layouts.def with the interpreter that runs this, whichever of
CPython 3.8 to 3.13 it is: reads its frames by the table, and asks it for the same.

    python3.12 layouts.py <python_layouts.def>
"""

import ctypes
import re
import sys

FIELDS = ("minor calls thread c_frame previous code instruction unit line name file begin ascii "
          "other").split()
SKIP = 77


def read(address, kind):
    return kind.from_address(address).value


def pointer(address):
    return read(address, ctypes.c_size_t)


def row_of_this(table):
    text = open(table, encoding="utf-8").read()
    for fields in re.findall(r"^PYTHON_LAYOUT\((.*)\)$", text, re.M):
        row = dict(zip(FIELDS, (f.strip() for f in fields.split(","))))
        row.update({k: int(v) for k, v in row.items() if k != "calls"})
        if row["minor"] == sys.version_info[1]:
            return row
    return None


def frames(row):
    """(code, address of the frame), innermost first."""
    tell = ctypes.pythonapi.PyGILState_GetThisThreadState
    tell.restype = ctypes.c_size_t
    frame = pointer(tell() + row["thread"])
    if row["c_frame"] >= 0:
        frame = pointer(frame + row["c_frame"])
    while frame:
        code = pointer(frame + row["code"])
        if not (row["calls"] == "own_frame" and read(frame + 70, ctypes.c_uint8) == 3):
            yield code, frame
        frame = pointer(frame + row["previous"])


def expected():
    frame = sys._getframe(1)
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


def text(row, address):
    state = read(address + 32, ctypes.c_uint32)
    length = read(address + 16, ctypes.c_size_t)
    if not state >> 6 & 1:
        return None
    return ctypes.string_at(address + row["ascii"], length).decode()


def compare(row):
    # frames() is a generator, and a frame of its own while it runs.
    found = [code for code, _ in list(frames(row))]
    wanted = list(expected())
    addresses = [id(code) for code in wanted]
    if found[-len(addresses):] != addresses:
        sys.exit(f"the frames are {list(map(hex, found))}, not {list(map(hex, addresses))}")
    for code, address in zip(wanted, addresses):
        name = getattr(code, "co_qualname", code.co_name)
        if read(address + row["line"], ctypes.c_int) != code.co_firstlineno:
            sys.exit(f"the first line of {name} is not {code.co_firstlineno}")
        for field, value in (("name", name), ("file", code.co_filename)):
            if text(row, pointer(address + row[field])) not in (value, None):
                sys.exit(f"the {field} of {name} is not {value}")
        if row["begin"] and ctypes.string_at(address + row["begin"], 2)[0] == 0:
            sys.exit(f"the code of {name} does not begin there")


class Nested:
    def method(self, row):
        (lambda: compare(row))()


def main():
    row = row_of_this(sys.argv[1])
    lacks_lock = "free-threading" in sys.version
    if row is None or lacks_lock or sys.implementation.name != "cpython":
        print(f"{sys.version}: not in the table")
        sys.exit(SKIP)
    Nested().method(row)
    print(f"{sys.version.split()[0]}: as in the table")


main()
