/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: a chain from a slow thread on one rank to an idle device of another. 2 ranks. In each of
 * 4 steps rank 0's second thread resolves contacts for 100 ms, for which its master waits before it
 * sends; rank 1 needs that for its kernel of 20 ms.
 *
 * By construction: rank 1's device idles while rank 1 waits in MPI_Recv, 0.4 s less the kernels. To
 * blame is resolve_contacts on rank 0's second thread; rank 1's host and MPI_Send are innocent. */
#include <mpi.h>
#include <omp.h>

#include "opencl_work.h"
#include "work.h"

enum { kSteps = 4 };

KERNEL double resolve_contacts(double value) {
  WORK_MS(100);
  return value + 0.5;
}

static void advance(double* part) {
#pragma omp parallel num_threads(2)
  {
    const int me = omp_get_thread_num();
    if (me == 1) PHASE("resolve_contacts", part[me] = resolve_contacts(part[me]));
  }
}

static void send_results(void) {
  double part[2] = {0};
  for (int step = 0; step < kSteps; ++step) {
    advance(part);
    PHASE("MPI_Send", MPI_Send(&part[1], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD));
  }
  account_print();
}

static void use_results(void) {
  Device device = open_device();
  cl_command_queue queue = new_queue(&device, 0);
  double value = 0;
  enqueue_busy(&device, queue, 1);
  CL_CHECK(clFinish(queue));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < kSteps; ++step) {
    PHASE("MPI_Recv", MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    enqueue_busy(&device, queue, 20);
    PHASE("clFinish", CL_CHECK(clFinish(queue)));
  }
  CL_CHECK(clReleaseCommandQueue(queue));
  close_device(&device);
  printf("opencl_chain: value %.6f\n", value);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &account.rank);
  omp_set_dynamic(0);
  if (account.rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    send_results();
  } else if (account.rank == 1) {
    use_results();
  }
  MPI_Finalize();
  return 0;
}
