// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "collector/openmp/serial_answers.h"

#include <time.h>

#include <cstring>

namespace culprit::collector::openmp {

namespace {

constexpr const char* kOfWhichThereIsOne[] = {
    "omp_get_num_threads", "omp_get_max_threads", "omp_get_num_procs", "omp_get_thread_limit",
    "omp_get_team_size",   "omp_get_num_teams",   "omp_in_final",      "omp_is_initial_device"};

long zero() {
  return 0;
}
long one() {
  return 1;
}

double wtime() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double wtick() {
  return 1e-9;
}

/// GOMP_parallel(function, data, ...): the region's body must run, once.
void parallel(void (*body)(void*), void* data) {
  body(data);
}

/// Fortran's forms have the same name and a '_'.
bool is(const char* name, const char* c_name) {
  const size_t length = strlen(c_name);
  return strncmp(name, c_name, length) == 0 &&
         (name[length] == '\0' || strcmp(name + length, "_") == 0);
}

}  // namespace

void* serial_answer(const char* name) {
  if (is(name, "omp_get_wtime")) return reinterpret_cast<void*>(wtime);
  if (is(name, "omp_get_wtick")) return reinterpret_cast<void*>(wtick);
  if (is(name, "GOMP_parallel")) return reinterpret_cast<void*>(parallel);
  for (const char* counted : kOfWhichThereIsOne) {
    if (is(name, counted)) return reinterpret_cast<void*>(one);
  }
  return reinterpret_cast<void*>(zero);
}

}  // namespace culprit::collector::openmp
