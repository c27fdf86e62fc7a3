// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The profile of a log of which all records are there, by the fold that runs in programs: the same
// rows as if the log's thread had made them.
#pragma once

#include "assemble/profile/profile_file.h"
#include "assemble/raw/reader.h"

namespace culprit::assemble {

/// `start_ticks`: of the process.
LogProfile fold_log(const RawLog& log, uint64_t start_ticks);

}  // namespace culprit::assemble
