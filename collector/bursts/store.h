// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writes extents (trace/raw/bursts.h): of bursts, into the files that all logs of a node share, and
// of definitions, into a file of the log's own. MT: one thread a store. Async-signal-safe, but for
// its effect on `errno`.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "trace/raw/bursts.h"

namespace culprit::collector {

/// Bytes that lie in memory as records.
struct Stretch {
  const char* at = nullptr;
  size_t bytes = 0;
};

class Store {
 public:
  /// For log `number` of the process whose files are in `folder`, and which began at `start_ticks`.
  void begin(const char* folder, uint32_t number, uint64_t start_ticks);

  /// What an extent covers.
  struct Cover {
    uint64_t window;
    uint64_t from;
    uint64_t until;
  };

  /// To be called before the log's first extent in a burst: makes its file unless it is there.
  void open(const trace::RawBurst& burst, uint64_t slot);
  /// An extent that cannot be written counts as lost.
  void put(trace::RawBurst& burst, uint64_t slot, const Cover& cover, Stretch preamble,
           Stretch records);
  /// False if there is no room.
  bool put_definitions(const Cover& cover, Stretch records);

 private:
  trace::RawExtent header(uint64_t slot, const Cover& cover, Stretch preamble,
                          Stretch records) const;
  bool write(uint64_t place, const trace::RawExtent& header, Stretch preamble, Stretch records);
  const char* path_of(uint64_t slot);
  const char* definitions_path();

  const char* folder_ = nullptr;
  uint32_t number_ = 0;
  uint64_t start_ticks_ = 0;
  uint64_t defined_ = 0;  ///< bytes of the file of definitions
  // Buffer for file names: the threads that need them may have next to no stack.
  char path_[PATH_MAX + 64] = {};
};

}  // namespace culprit::collector
