// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads a process's record (trace::RawProcessFile): the newest of its snapshots that is whole, and
// for a killed process its counts since. A record whose clock readings contradict each other is
// rejected: every time would be wrong by any amount.
#pragma once

#include <optional>

#include "base/files/guarded_path.h"
#include "trace/raw/raw.h"

namespace culprit::assemble {

struct ProcessRecord {
  trace::RawProcess process{};
  bool damaged = false;  ///< parts of it may be wrong, or older than they should be
};

/// None if the file is unreadable, another version's, or senseless.
std::optional<ProcessRecord> read_process(const GuardedPath& file);

/// The version of the format, if it is one that read_process() does not know.
std::optional<uint32_t> other_version(const GuardedPath& file);

}  // namespace culprit::assemble
