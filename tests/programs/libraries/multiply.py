# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Rank 1 multiplies matrices four times as often as rank 0, in multiply(). Lines matter."""

import numpy
from mpi4py import MPI


def multiply(a, times):
    for _ in range(times):
        a = a @ a / 1e3
    return a


comm = MPI.COMM_WORLD
matrix = numpy.full((300, 300), 1e-3)
for _ in range(10):
    multiply(matrix, 40 if comm.rank == 1 else 10)
    comm.Barrier()
