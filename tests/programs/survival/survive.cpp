// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// survive <omp | mpi> <case>: does some work, and then what the case says: ends in an unusual way,
// makes processes or threads, runs out of something, or plays with signals. It prints what it sees;
// survival.py compares that with and without culprit.
#include "survive.h"

#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace survive {

char** g_argv = nullptr;
bool g_uses_mpi = false;

namespace {
volatile unsigned long g_work = 0;
}

void burn(int milliseconds) {
  const auto nanos = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000l + t.tv_nsec;
  };
  const long end = nanos() + milliseconds * 1'000'000l;
  while (nanos() < end) {
    for (int i = 0; i < 10'000; ++i) g_work = g_work * 3 + 1;
  }
}

__attribute__((noinline)) void compute() {
#pragma omp parallel num_threads(2)
  burn(20);
}

void say(const char* what) {
  char line[200];
  const int length = snprintf(line, sizeof line, "%s\n", what);
  (void)!write(STDOUT_FILENO, line, static_cast<size_t>(length));
}

namespace {

void (*find(const char* name))() {
  for (const Case* table : {kEndings, kProcesses, kThreads, kResources, kSignals, kClaims,
                            kConfined, kExchange, kFinalize}) {
    for (; table->name != nullptr; ++table) {
      if (strcmp(table->name, name) == 0) return table->run;
    }
  }
  return nullptr;
}

}  // namespace

}  // namespace survive

int main(int argc, char** argv) {
  using namespace survive;
  if (argc < 3) return 2;
  void (*const run)() = find(argv[2]);
  if (run == nullptr) return 2;
  g_argv = argv;
  g_uses_mpi = strcmp(argv[1], "mpi") == 0;
  // What must come before anything is recorded.
  const bool first = strncmp(argv[2], "first_", 6) == 0;
  if (first) run();
  if (g_uses_mpi) MPI_Init(nullptr, nullptr);
  compute();
  if (!first) run();
  compute();
  say("end of main");
  if (g_uses_mpi) MPI_Finalize();
  return 0;
}
