// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The preload library's beginning and end. It is loaded into every process that inherits the
// environment, shells and launchers too, so loading only reads the environment and the clock; the
// rest waits until a probe sees MPI or OpenMP.
#include "collector/probes.h"
#include "collector/process/lifecycle.h"
#include "collector/sampling/processes/descriptors.h"

namespace culprit::collector {

namespace {

[[gnu::constructor]] void on_load() {
  start_probes();
}

[[gnu::destructor]] void on_exit() {
  sampling::before_end();
  lifecycle::end();
}

}  // namespace

}  // namespace culprit::collector
