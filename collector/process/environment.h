// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the environment asks of the collector, and tells of the job. It is copied once, at load: a
// program may change its environment later, and getenv is not safe against that. What users and
// culprit may ask for is a table (base/settings.def), and a row of it a member here. Without a
// folder for the experiment, or disabled, nothing is wanted and the collector stays inert.
#pragma once

#include "base/setting_values.h"
#include "collector/process/recorder.h"

namespace culprit::collector {

struct Environment : ProgramSettings {
  bool wanted = false;
  bool probes_libgomp = false;      ///< leave libgomp, and observe it; openmp_runtime is empty
  char job[64] = {};                ///< RawProcess::job
  char parent[64] = {};             ///< RawProcess::parent, as far as the environment tells
  int launcher_rank = -1;           ///< in the job, as the launcher says; -1: it does not
  int launcher_size = -1;           ///< likewise
  bool omp_tools_disabled = false;  ///< OMP_TOOL=disabled
};

/// Read at the first call. MT: the first call comes from the loader, before there are threads.
CULPRIT_EXPORT const Environment& environment();

}  // namespace culprit::collector
