/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: a device of one rank idles because of the other rank. 2 ranks use the same device. In
 * each of 3 steps rank 0 works 100 ms before it sends; rank 1 needs that for its kernel of 20 ms.
 *
 * By construction: rank 1's queue idles 0.3 s because of refine on rank 0, through rank 1's
 * MPI_Recv. */
#include <mpi.h>

#include "opencl_work.h"
#include "work.h"

KERNEL double refine(double value) {
  WORK_MS(100);
  return value + 0.5;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  account.rank = rank;
  Device device = open_device();
  cl_command_queue queue = new_queue(&device, 0);
  double value = 0;
  for (int step = 0; step < 3; ++step) {
    if (rank == 0) {
      PHASE("refine", value = refine(value));
      PHASE("MPI_Send", MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
      PHASE("MPI_Recv", MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    enqueue_busy(&device, queue, 20);
    PHASE("clFinish", CL_CHECK(clFinish(queue)));
  }
  CL_CHECK(clReleaseCommandQueue(queue));
  close_device(&device);
  if (rank == 1) printf("opencl_shared_device: value %.6f\n", value);
  MPI_Finalize();
  return 0;
}
