// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The profile of a log of which all records are there, by the fold that runs in programs: the same
// rows as if the log's thread had made them.
#pragma once

#include <cstdint>
#include <vector>

#include "assemble/profile/profile_file.h"
#include "assemble/raw/reader.h"

namespace culprit::assemble {

/// Whether a log's file has a record of its own for it: moments that others note, and open states,
/// are none.
bool is_in_log(const RawRecord& record);
/// Appends a record as it lies in a log.
void append(const RawRecord& record, std::vector<uint64_t>& to);

/// `start_ticks`: of the process.
LogProfile fold_log(const RawLog& log, uint64_t start_ticks);

}  // namespace culprit::assemble
