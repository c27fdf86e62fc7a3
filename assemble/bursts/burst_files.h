// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads the files that hold a long run's bursts and its definitions (trace/raw/bursts.h). Whatever
// is not sound is left out and counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/guarded_path.h"
#include "trace/raw/bursts.h"

namespace culprit::assemble {

/// Bursts of one node.
struct NodeBursts {
  std::string node;  ///< name of its folder
  trace::RawNodePage page{};
};

/// The pages under `raw`; those that are not ours are left out.
std::vector<NodeBursts> read_pages(const GuardedPath& raw);

/// An extent and its records.
struct ReadExtent {
  trace::RawExtent header{};
  std::vector<uint64_t> preamble, records;
};

/// The sound extents of a file, in the order in which they lie there. `holes`: adds how often
/// something else lay between them.
std::vector<ReadExtent> read_extents(const GuardedPath& file, uint64_t& holes);

}  // namespace culprit::assemble
