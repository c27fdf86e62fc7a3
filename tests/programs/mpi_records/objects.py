# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Sends one pickled object from rank 0 to rank 1."""
from mpi4py import MPI

world = MPI.COMM_WORLD
if world.Get_rank() == 0:
    world.send({"answer": 42}, dest=1, tag=5)
else:
    assert world.recv(source=0, tag=5) == {"answer": 42}
world.Barrier()
