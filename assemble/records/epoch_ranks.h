// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The ranks of an rma_epoch, which may take several records.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "assemble/raw/reader.h"

namespace culprit::assemble {

class EpochRanks {
 public:
  /// True once the list is complete; then ranks() has it until the next call.
  bool add(const RawRecord& record) {
    if (!open_) ranks_.clear();
    const size_t there = (size_t{record.words} - 1) * 2;
    const size_t count = std::min<size_t>(record.w[0], there);
    const size_t begin = ranks_.size();
    ranks_.resize(begin + count);
    if (count > 0) std::memcpy(ranks_.data() + begin, record.w + 1, count * sizeof(uint32_t));
    open_ = (record.flags & trace::kRawRmaMoreRanks) != 0;
    return !open_;
  }
  const std::vector<uint32_t>& ranks() const { return ranks_; }

 private:
  std::vector<uint32_t> ranks_;
  bool open_ = false;
};

}  // namespace culprit::assemble
