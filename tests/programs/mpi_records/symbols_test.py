#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Compares what libculprit.so and a decoder export and need with what an MPI offers:

1. every function that mpi.h declares, read here in the crudest way, must be exported;
2. every form of these functions that the MPI's own libraries export must be exported;
3. the decoder must not need what other versions of the MPI with the same binary interface lack: then it
   could not be loaded there, and nothing would be recorded.

What is not a call of the standard (constants that are functions, the MPI's own helpers) is listed
below with its reason."""

import argparse
import re
import subprocess

# Compared by address or handed over as callbacks, never called as MPI functions.
CALLBACKS = re.compile(r"(_fn|_fn_|_fn__|_null|_null_|_null__)$", re.I)
# What only macros and inline functions of Fortran's modules need.
HELPERS = re.compile(r"_f90_*$|^mpi_sizeof|^mpi_f_sync_reg|_MOD_", re.I)

# What came after MPI 3.0 or was removed in 3.0. Whatever fits must be a weak reference.
NOT_EVERYWHERE = re.compile(
    r"_c$|session|_from_groups?$|^PMPI_(Psend|Precv|Pready|Parrived|Isendrecv|Aint_|Info_create_env|"
    r"Info_get_string|Comm_idup_with|Get_hw|Remove_error|Abi_|Status_[gs]et_(source|tag|error)|"
    r"Request_get_status_|File_i\w+_all|Comm_\w+_buffer|(Neighbor_)?[A-Z][a-z_]+_init$|Address$|"
    r"Errhandler_(create|get|set)$|Type_(extent|hindexed|hvector|lb|struct|ub)$)", re.I)
# These look alike, but are as old as MPI.
OLD = {"PMPI_Send_init", "PMPI_Recv_init"}


def needed(library):
    lines = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    fields = [line.split() for line in lines]
    return {f[-1].split("@")[0] for f in fields if f[-2] == "U"}


def exported(library):
    """Functions only: the constants of Fortran's interface are data."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    fields = [line.split() for line in lines]
    return {f[-1].split("@")[0] for f in fields if len(f) >= 2 and f[-2] in "TWi"}


def declared(header):
    text = open(header, encoding="utf-8").read()
    return set(re.findall(r"\b(MPIX?_[A-Z][A-Za-z0-9_]*)\s*\(", text))


def forms(library_symbols, functions):
    """Symbols that are a function's name, in any case, with what Fortran compilers put after it."""
    names = {f.lower() for f in functions}
    suffix = re.compile(r"(_cptr)?(_f|_f08|_f08ts|_f08_large|_f08ts_large)?_{0,2}$")
    found = set()
    for symbol in library_symbols:
        low = symbol.lower()
        if not low.startswith("mpi") or CALLBACKS.search(low) or HELPERS.search(low):
            continue
        candidates = {low, low.rstrip("_"), suffix.sub("", low)}
        if candidates & names:
            found.add(symbol)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preload", required=True)
    parser.add_argument("--decoder", required=True)
    parser.add_argument("--header", required=True, help="preprocessed mpi.h")
    parser.add_argument("libraries", nargs="+")
    args = parser.parse_args()
    ours = exported(args.preload)
    in_libraries = set().union(*(exported(library) for library in args.libraries))
    functions = declared(args.header) & in_libraries
    assert len(functions) > 300, f"only {len(functions)} functions found: is this an mpi.h?"
    missing = sorted(functions - ours)
    assert not missing, f"declared in mpi.h but not intercepted: {' '.join(missing)}"
    wanted = forms(in_libraries, functions)
    assert len(wanted) > 1000, f"only {len(wanted)} forms found"
    missing = sorted(wanted - ours)
    assert not missing, f"exported by the MPI but not intercepted: {' '.join(missing)}"
    asked = {symbol for symbol in needed(args.decoder) if symbol.startswith("PMPI_")}
    assert len(asked) > 10, f"the decoder calls no MPI? {asked}"
    lacking = sorted(s for s in asked if NOT_EVERYWHERE.search(s) and s not in OLD)
    assert not lacking, f"the decoder needs what not every version of this MPI has: {' '.join(lacking)}"
    print(f"{len(functions)} functions, {len(wanted)} symbols")


if __name__ == "__main__":
    main()
