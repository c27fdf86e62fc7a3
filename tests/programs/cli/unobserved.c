/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * OpenMP that culprit cannot observe: built by gcc with a target region it stays on a runtime
 * without tools; built by clang it has an OMPT tool of its own; or it has its runtime inside.
 * Returns its first argument; with a second one it ends without exit's handlers. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

#ifdef __clang__
#include <omp-tools.h>

static int begin(ompt_function_lookup_t lookup, int device, ompt_data_t* data) {
  return lookup != NULL && device >= 0 && data != NULL;
}

static void end(ompt_data_t* data) {
  data->value = 0;
}

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  static ompt_start_tool_result_t result = {begin, end, {0}};
  return version > 0 && runtime != NULL ? &result : NULL;
}
#endif

int main(int argc, char** argv) {
#ifdef WITH_MPI
  MPI_Init(&argc, &argv);
#endif
  int x = 1;
#if !defined __clang__ && !defined WITH_MPI
#pragma omp target map(tofrom : x)
  x += 1;
#endif
#pragma omp parallel num_threads(2) reduction(+ : x)
  x += 10;
  printf("unobserved: %s\n", x > 20 ? "done" : "wrong");
  fflush(stdout);
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  const int status = argc > 1 ? atoi(argv[1]) : 0;
  if (argc > 2) _exit(status);
  return status;
}
