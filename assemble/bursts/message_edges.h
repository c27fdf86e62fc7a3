// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The messages and collective operations of one process in a window, each with its number among
// those of its channel, or of its communicator.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "assemble/raw/reader.h"

namespace culprit::assemble {

/// As one process knows it.
struct LocalChannel {
  uint32_t comm = 0;
  int32_t peer = 0;
  int32_t tag = 0;
  uint64_t pair = 0;  ///< number of the partitioned communication
  auto operator<=>(const LocalChannel&) const = default;
};

/// A record that may be left out, by the place of its log.
struct LogRecord {
  size_t log;
  RawRecord record;
};

/// A message's end, or a process's part in an operation.
struct CountedEnd {
  std::optional<uint64_t> number;  ///< 0, 1, ...; none: not known, or not there to its end
  std::vector<LogRecord> records;  ///< which say it
};

struct ProcessEnds {
  std::map<LocalChannel, std::vector<CountedEnd>> sends, receives;
  std::map<uint32_t, std::vector<CountedEnd>> operations;  ///< by communicator
};

/// `begins_inside`: logs begin with preambles; else nothing was before them. `known`: they say all
/// counts.
ProcessEnds find_ends(const std::vector<RawLog>& logs, bool begins_inside, bool known);

}  // namespace culprit::assemble
