// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// A late sender in C++: 2 ranks, 3 steps, 200 ms each in a member of a class template inside a
// namespace. The report must show the name as it is written here, not as the linker sees it.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "work.h"

namespace fluid {

template <class Real>
class Solver {
 public:
  explicit Solver(int cells) : cells_(cells, Real(1)) {}

  __attribute__((noinline)) Real relax(Real weight) {
    WORK_MS(200);
    for (Real& cell : cells_) cell *= weight;
    return cells_.front();
  }

 private:
  std::vector<Real> cells_;
};

}  // namespace fluid

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fluid::Solver<double> solver(64);
  double residual = 0;

  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 0; step < 3; ++step) {
    if (rank == 0) {
      residual = solver.relax(0.5);
      MPI_Send(&residual, 1, MPI_DOUBLE, 1, step, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Recv(&residual, 1, MPI_DOUBLE, 0, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (rank == 1) std::printf("names: residual %.6f\n", residual);
  MPI_Finalize();
  return 0;
}
