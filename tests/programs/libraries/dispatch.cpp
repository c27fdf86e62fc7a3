// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rank 1 is late in what two layers call: one of a framework that culprit knows by its name, and
// one of the program's own, which a list of its user's names. What they call is inlined into the
// latter.
#include <mpi.h>
#include <time.h>

namespace {

double cpu_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

volatile double g_sink;

void compute(double seconds) {
  const double end = cpu_seconds() + seconds;
  while (cpu_seconds() < end) {
    double x = 1;
    for (int i = 0; i < 20000; ++i) x = x * 1.0000001 + 1e-9;
    g_sink = x;
  }
}

}  // namespace

namespace frame {
template <class Body>
[[gnu::noinline]] void dispatch(Body body, double seconds) {
  body(seconds);
  g_sink = g_sink + 1;
}
}  // namespace frame

namespace Kokkos {
template <class Body>
[[gnu::noinline]] void parallel_for(Body body, double seconds) {
  frame::dispatch(body, seconds);
  g_sink = g_sink + 1;
}
}  // namespace Kokkos

[[gnu::noinline]] void relax(double seconds) {
  Kokkos::parallel_for([](double s) { compute(s); }, seconds);
  g_sink = g_sink + 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) {
    relax(rank == 1 ? 0.06 : 0.02);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
