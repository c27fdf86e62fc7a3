// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Scopes of culprit.h that exceptions leave. 2 ranks.
#include <culprit.h>
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

static double risky(int step) {
  const culprit::Region region("risky");
  if (step % 2 == 1) throw std::runtime_error("odd");
  return step;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double sum = 0;
  {
    const culprit::Phase phase("solve");
    for (int step = 0; step < 4; ++step) {
      const culprit::Iteration iteration("step", step);
      try {
        sum += risky(step);
      } catch (const std::runtime_error&) {
        sum += 100;
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  std::printf("scopes: result %.0f\n", sum);
  return 0;
}
