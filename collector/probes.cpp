// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "collector/probes.h"

#include "collector/counters/counters.h"
#include "collector/process/environment.h"
#include "collector/process/lifecycle.h"
#include "collector/sampling/sampler.h"
#include "collector/user/filter.h"

namespace culprit::collector {

namespace {

/// Called once, early, if recording is wanted, perhaps before constructors of the program have run:
/// these functions only register hooks. MPI and OpenMP have none, since the program or its runtime
/// calls them.
constexpr void (*kStarts[])() = {
    counters::start,     // hardware, software and system counters, if asked for
    user::start_filter,  // the functions that are left out
    sampling::start,     // where threads are between events, by a timer on their CPU time
};

}  // namespace

bool start_probes() {
  static bool loaded = false;
  if (!loaded) sampling::load();
  loaded = true;
  if (!environment().wanted) return false;
  static bool started = false;
  if (started) return true;
  started = true;
  lifecycle::load();
  for (void (*const start)() : kStarts) start();
  return true;
}

}  // namespace culprit::collector
