// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The list of the families of stand-ins. A function without one is passed on unchanged: it has no
// event, or none that could be observed from outside. Stand-ins hold no lock while they call
// libgomp, and allocate nothing.
#include "collector/openmp/gomp/probe.h"

#include "collector/interpose/trampolines.h"
#include "collector/openmp/gomp/events.h"
#include "collector/openmp/gomp/stand_in.h"

CULPRIT_TRAMPOLINES(gomp)

namespace culprit::collector::openmp {

bool observe_libgomp(void* (*find)(const char* name)) {
  for (unsigned i = 0; i < culprit_count_gomp; ++i) {
    if (void* function = find(culprit_names_gomp[i])) observed(culprit_names_gomp[i], function);
  }
  const bool known = gomp::g_real<"omp_get_thread_num">.load() != nullptr &&
                     gomp::g_real<"omp_get_num_threads">.load() != nullptr &&
                     gomp::g_real<"omp_get_level">.load() != nullptr &&
                     gomp::g_real<"omp_in_final">.load() != nullptr;
  if (known) gomp::watch_ends_of_threads();
  return known && begin_callbacks(gomp::keep_callback, "GNU OpenMP (libgomp)");
}

void* observed(const char* name, void* function) {
  gomp::Match match(name, function);
  gomp::offer_regions(match);
  gomp::offer_loops(match);
  gomp::offer_constructs(match);
  gomp::offer_mutexes(match);
  gomp::offer_tasks(match);
  gomp::offer_targets(match);
  void* const stand_in = match.stand_in();
  return stand_in != nullptr ? stand_in : function;
}

}  // namespace culprit::collector::openmp
