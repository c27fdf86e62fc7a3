# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Whoever finds MPI's symbols in a process without MPI, because the preload library exports them,
asks whether MPI is initialised: it must hear that it is not, and that asking was no error."""

import ctypes

process = ctypes.CDLL(None)
for name in ("MPI_Initialized", "MPI_Finalized"):
    flag = ctypes.c_int(7)
    assert process[name](ctypes.byref(flag)) == 0, name
    assert flag.value == 0, name
    for fortran in (name.lower() + "_", name.upper(), name.lower() + "_f08_"):
        flag, error = ctypes.c_int(7), ctypes.c_int(7)
        process[fortran](ctypes.byref(flag), ctypes.byref(error))
        assert (flag.value, error.value) == (0, 0), fortran
    process[name.lower() + "_f08_"](ctypes.byref(flag), None)
assert process.MPI_Barrier(0) != 0
