// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "collector/openmp/unobserved.h"

#include "collector/probes.h"
#include "collector/process/recorder.h"
#include "collector/recorder/core_use.h"

namespace culprit::collector::openmp {

bool record_unobserved() {
  if (!start_probes() || !activate()) return false;
  // Without samples no other probe might ask for a log, and an empty one counts as none.
  if (ThreadLog* log = thread_log()) put_cpu_time(*log);
  return true;
}

}  // namespace culprit::collector::openmp
