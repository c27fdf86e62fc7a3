// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "collector/probes.h"

#include "collector/counters/counters.h"
#include "collector/lifecycle.h"
#include "collector/recorder/environment.h"
#include "collector/sampling/sampler.h"
#include "collector/user/filter.h"

namespace culprit::collector {

const Probe kProbes[] = {
    {"mpi", "MPI calls from C and Fortran, by standing in for the library's functions", nullptr},
    {"openmp", "OpenMP regions, barriers, locks and tasks, by the runtime's tool interface (OMPT)",
     nullptr},
    {"counters", "hardware, software and system counters by region, as far as asked for",
     counters::start},
    {"user", "what the program tells of itself (culprit.h), and instrumented functions",
     user::start_filter},
    {"sampling", "where threads are between events, by a timer on their CPU time", sampling::start},
};
const size_t kProbeCount = sizeof kProbes / sizeof kProbes[0];

bool start_probes() {
  static bool loaded = false;
  if (!loaded) sampling::load();
  loaded = true;
  if (!environment().wanted) return false;
  static bool started = false;
  if (started) return true;
  started = true;
  lifecycle::load();
  for (const Probe& probe : kProbes) {
    if (probe.start != nullptr) probe.start();
  }
  return true;
}

}  // namespace culprit::collector
