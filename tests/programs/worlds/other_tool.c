/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Another tool that stands in for MPI functions, as a preloaded library or linked into the program:
   it counts sends, and tells of them at the end. It calls PMPI, as tools do, so that whatever
   stands behind it is passed over. */
#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) printf("other tool: %d sends\n", sends);
  fflush(stdout);
  return PMPI_Finalize();
}
