// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The settings of the collector in the environment, and facts about the job. They are copied once,
// at load: a program may change its environment later, and getenv is not safe against that. The
// settings of users and of culprit are a table (base/settings.def), each row a member here. Without
// a folder for the experiment, or disabled, nothing is wanted and the collector stays inert.
#pragma once

#include "base/setting_values.h"
#include "collector/process/recorder.h"

namespace culprit::collector {

struct Environment : ProgramSettings {
  bool wanted = false;
  bool probes_libgomp = false;      ///< leave libgomp, and observe it; openmp_runtime is empty
  char job[64] = {};                ///< RawProcess::job
  char parent[64] = {};             ///< RawProcess::parent, if the environment has it
  int launcher_rank = -1;           ///< rank in the job according to the launcher; -1: unknown
  int launcher_size = -1;           ///< size of the job, likewise
  int launcher_local_size = -1;     ///< processes of the job on this node, likewise
  bool omp_tools_disabled = false;  ///< OMP_TOOL=disabled
};

/// Read at the first call. MT: the first call comes from the loader, before there are threads.
CULPRIT_EXPORT const Environment& environment();

}  // namespace culprit::collector
