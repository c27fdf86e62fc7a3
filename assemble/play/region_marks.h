// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Regions get their ids as they are met, so analysis ranks number them differently until all are
// known. A mark is the same on all of them: a hash of what the region is.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/ids.h"

namespace culprit::assemble {

/// MT: one thread adds at a time; others may meanwhile ask for marks of ids that they were given.
class RegionMarks {
 public:
  /// Of the next region.
  void add(uint64_t mark) {
    if (count_ < kMost) {
      auto& chunk = chunks_[count_ / kChunk];
      if (chunk == nullptr) chunk = std::make_unique<Chunk>();
      (*chunk)[count_ % kChunk] = mark;
    }
    ++count_;
  }
  /// Of very many regions, the last have none but their numbers.
  uint64_t of(RegionId region) const {
    const size_t i = region.index();
    return i < kMost ? (*chunks_[i / kChunk])[i % kChunk] : i;
  }
  void clear() { count_ = 0; }

 private:
  static constexpr size_t kChunk = 1024, kChunks = 4096, kMost = kChunk * kChunks;
  using Chunk = std::array<uint64_t, kChunk>;
  // Nothing moves as it grows.
  std::array<std::unique_ptr<Chunk>, kChunks> chunks_;
  size_t count_ = 0;
};

}  // namespace culprit::assemble
