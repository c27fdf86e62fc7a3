# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Rank 1 computes three times as long as rank 0 in one function: forces(), called by step(). Lines
matter. MPI is mpi4py's with "mpi4py", or reached by ctypes through a handle with "handle"."""

import ctypes
import math
import sys


class Handle:
    """Open MPI's library, asked for each function."""

    def __init__(self):
        self.mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_LOCAL)
        self.world = ctypes.addressof(ctypes.c_char.in_dll(self.mpi, "ompi_mpi_comm_world"))
        self.mpi.MPI_Init(None, None)
        rank = ctypes.c_int()
        self.mpi.MPI_Comm_rank(ctypes.c_void_p(self.world), ctypes.byref(rank))
        self.rank = rank.value

    def Barrier(self):
        self.mpi.MPI_Barrier(ctypes.c_void_p(self.world))

    def end(self):
        self.mpi.MPI_Finalize()


def forces(n):
    s = 0.0
    for i in range(n):
        s += math.sin(i)
    return s


def move(n):
    s = 0.0
    for i in range(n):
        s += i * 0.5
    return s


def step(comm):
    forces(600000 if comm.rank == 1 else 200000)
    move(200000)
    comm.Barrier()


if sys.argv[1] == "mpi4py":
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
else:
    comm = Handle()
for _ in range(5):
    step(comm)
if sys.argv[1] == "handle":
    comm.end()
