// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Unpacks the windows of a log (trace/raw/packed.h). Of a window with damage the other blocks are
// used; what is no block is passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "assemble/raw/reader.h"
#include "base/files/regular_file.h"

namespace culprit::assemble {

struct Unpacked {
  std::shared_ptr<std::byte> data;  ///< records of all blocks, one behind the other
  size_t bytes = 0;                 ///< of them; there is room for a window behind, on whole pages
  uint64_t file_bytes = 0;
  std::vector<RawLog::Stretch> stretches;
  uint64_t windows = 0;  ///< one more than the number of the last window that has a block here
  bool last_is_whole = false;  ///< that one has all of its blocks
  bool last_is_full = false;   ///< and they fill it
  size_t before_last = 0;      ///< stretches of the windows before it
  uint64_t damaged = 0;        ///< windows before it that lack something
};

/// As of a file that is not there.
std::optional<Unpacked> no_windows();

/// `start_ticks`, `log`: of the process, and the log's number in it. None if there is no memory.
std::optional<Unpacked> unpack_windows(const RegularFile& file, uint64_t start_ticks, uint32_t log);

}  // namespace culprit::assemble
