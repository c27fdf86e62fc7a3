// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Where programs leave MPI, other than at the end of main, and what they do after everybody thought
// that it was over.
#include <mpi.h>

#include <cstdlib>

#include "survive.h"

namespace survive {
namespace {

void finalize() {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  int flag = 0;
  MPI_Finalized(&flag);
  say(flag ? "finalized" : "not finalized");
}

void finalize_at_exit() {
  atexit(finalize);
  exit(13);
}

struct Finalizer {
  ~Finalizer() { finalize(); }
};

void finalize_in_destructor() {
  static Finalizer finalizer;
  exit(14);
}

// At the very end of the process, when libraries are unloaded.
void finalize_in_library() {
  survive_last = finalize;
  exit(15);
}

void work_after_finalize() {
  finalize();
  for (int i = 0; i < 3; ++i) compute();
  atexit([] {
    int flag = 0;
    MPI_Initialized(&flag);
    compute();
    say(flag ? "was initialized" : "was not initialized");
  });
  exit(16);
}

// A team after the OpenMP runtime has been shut down: it begins anew, and nobody listens.
void team_in_library() {
  survive_last = [] {
    compute();
    say("a team at the very end");
  };
  exit(18);
}

}  // namespace

const Case kFinalize[] = {
    {"finalize_at_exit", finalize_at_exit},
    {"finalize_in_destructor", finalize_in_destructor},
    {"finalize_in_library", finalize_in_library},
    {"work_after_finalize", work_after_finalize},
    {"team_in_library", team_in_library},
    {nullptr, nullptr},
};

}  // namespace survive
