// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The results of a first walk over all logs of a run, added up by process.
#pragma once

#include <map>
#include <vector>

#include "assemble/raw/reader.h"
#include "assemble/run/sleepers.h"
#include "assemble/run/survey.h"

namespace culprit::assemble {

/// Of one process.
struct ProcessAccount {
  Survey survey;
  uint64_t made_tasks = 0;                ///< of OpenMP
  std::vector<ToolTime> threads;          ///< what each cost
  std::map<uint32_t, CoreUse> core_uses;  ///< by log, of those that the kernel reports
  Sleepers sleepers;
};

/// Surveys all logs of `folders` on `threads` threads; accounts by folder. The logs of each are
/// then in the order in which users know the threads: by their numbers in a team, where the files
/// come as threads happened to begin. The first thread stays the first, those in no team come last.
/// Those of libraries' threads that hardly worked are left out.
std::vector<ProcessAccount> survey_threads(std::vector<RawProcessFolder>& folders,
                                           unsigned threads);

}  // namespace culprit::assemble
