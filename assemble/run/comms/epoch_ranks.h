// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The fields of rma_epoch and rma_lock that are packed into bits, and the ranks of an rma_epoch,
// which may take several records.
#pragma once

#include <vector>

#include "assemble/raw/reader.h"

namespace culprit::assemble {

/// A damaged field gives any value.
inline trace::RmaEpoch epoch_of(const raw::rma_epoch& epoch) {
  return static_cast<trace::RmaEpoch>(epoch.what & ((1u << trace::kRawRmaAssertionsShift) - 1));
}

/// Likewise.
inline trace::RawRmaLock lock_of(const raw::rma_lock& lock) {
  return static_cast<trace::RawRmaLock>(lock.what & ((1u << trace::kRawRmaAssertionsShift) - 1));
}

class EpochRanks {
 public:
  /// True once the list is complete; then ranks() has it until the next call.
  bool add(const RawRecord& record) {
    if (!open_) ranks_.clear();
    const auto epoch = record.as<raw::rma_epoch>();
    append_ranks(record.rest_of<raw::rma_epoch>(), epoch.ranks, ranks_);
    open_ = (epoch.what & trace::kRawRmaMoreRanks) != 0;
    return !open_;
  }
  const std::vector<uint32_t>& ranks() const { return ranks_; }

 private:
  std::vector<uint32_t> ranks_;
  bool open_ = false;
};

}  // namespace culprit::assemble
