// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The profiles of a process of which all records are there, by the folds that run in programs: the
// same rows as if its threads had made them, and with the blame for other threads' idle time, for
// which all threads' records are needed at the same time.
#pragma once

#include <vector>

#include "assemble/profile/profile_file.h"
#include "assemble/raw/reader.h"
#include "fold/potential/crew.h"

namespace culprit::assemble {

struct FoldedProcess {
  std::vector<LogProfile> logs;  ///< in the process's order
  fold::CrewSums idle;           ///< what their blame adds up to
};

/// Memory does not grow with the length of the logs. More threads than a process can have are
/// refused: there are no logs then.
FoldedProcess fold_process(const RawProcessFolder& process);

}  // namespace culprit::assemble
