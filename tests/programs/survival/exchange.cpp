// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// A little of everything that a hybrid program does, for about half a second, to be ended from
// outside at any moment of it.
#include <mpi.h>
#include <omp.h>

#include <vector>

#include "survive.h"

namespace survive {
namespace {

void exchange_with_neighbours(int rank, int size, std::vector<double>& halo) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  const int count = static_cast<int>(halo.size()) / 2;
  MPI_Request requests[2];
  MPI_Irecv(halo.data(), count, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(halo.data() + count, count, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

void sum_in_a_team(omp_lock_t& lock, double& sum) {
#pragma omp parallel num_threads(2)
  {
    for (int i = 0; i < 20; ++i) {
      omp_set_lock(&lock);
      sum += 1;
      omp_unset_lock(&lock);
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 8; ++i) {
#pragma omp task
      burn(0);
    }
  }
}

void exchange() {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<double> small(64), large(1 << 16);
  omp_lock_t lock;
  omp_init_lock(&lock);
  double sum = 0;
  for (int step = 0; step < 100; ++step) {
    sum_in_a_team(lock, sum);
    burn(rank == 0 ? 3 : 1);
    exchange_with_neighbours(rank, size, step % 10 == 0 ? large : small);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (step % 20 == 0) {
      MPI_Comm copy;
      MPI_Comm_dup(MPI_COMM_WORLD, &copy);
      MPI_Barrier(copy);
      MPI_Comm_free(&copy);
    }
  }
  omp_destroy_lock(&lock);
}

}  // namespace

const Case kExchange[] = {{"exchange", exchange}, {nullptr, nullptr}};

}  // namespace survive
