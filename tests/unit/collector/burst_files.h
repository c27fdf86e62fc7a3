// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads what the collector keeps of a run that exceeds its budget, exactly as trace/raw/bursts.h
// describes it and with no tolerance.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "raw_files.h"
#include "trace/raw/bursts.h"

namespace culprit::tests {

struct Extent {
  trace::RawExtent header;
  std::vector<RawRecord> preamble;
  std::vector<RawRecord> records;
};

/// What one log has of a burst, or of its definitions.
struct LogOfBurst {
  std::vector<RawRecord> preamble;
  std::vector<RawRecord> records;
  uint64_t from = 0;
  uint64_t until = 0;
};

struct BurstOfNode {
  trace::RawBurst entry;
  /// By pid and number of the log.
  std::map<std::pair<uint32_t, uint32_t>, LogOfBurst> logs;
};

struct NodeFiles {
  trace::RawNodePage page;
  std::vector<BurstOfNode> bursts;  ///< in the order of their time
};

/// Of an experiment on one node. Throws std::runtime_error at the first thing that is not as it
/// should be: bad checksums, extents of a log that leave something out, files without an entry.
/// `killed`: files may end in an extent that is not whole.
NodeFiles read_node(const std::filesystem::path& experiment, bool killed = false);

/// The records of `folder`/defines.`log`.
std::vector<RawRecord> read_definitions(const std::filesystem::path& folder, unsigned log);

/// Bytes of all files of an experiment that hold records, but for the tails, whose size is
/// constant.
uint64_t bytes_of_records(const std::filesystem::path& experiment);

}  // namespace culprit::tests
