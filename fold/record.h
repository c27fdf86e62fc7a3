// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A raw record as it lies in memory, for those who go through a log's records inside the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/raw/records.h"

namespace culprit::fold {

namespace raw = trace::raw;
using trace::RawKind;

struct Record {
  uint64_t time;
  uint32_t arg;
  uint16_t flags;
  uint8_t words;
  RawKind kind;
  const uint64_t* w;  ///< `words` of them

  /// The record's fields; those beyond its end are 0. Kinds that begin with the same fields may be
  /// read as each other's.
  template <class Fields>
  Fields as() const {
    return raw::unpack<Fields>(arg, flags, w, words);
  }
};

constexpr size_t bytes_of(const trace::RawHeader& header) {
  return sizeof header + size_t{header.words} * sizeof(uint64_t);
}

/// `at` is that of a whole record.
inline Record record_at(const std::byte* at) {
  const auto& header = *reinterpret_cast<const trace::RawHeader*>(at);
  return {header.time,  header.arg,  header.flags,
          header.words, header.kind, reinterpret_cast<const uint64_t*>(&header + 1)};
}

/// A record that its thread may still change, as it is now.
class GrowingRecord {
 public:
  explicit GrowingRecord(const std::byte* at) {
    auto* const words = reinterpret_cast<uint64_t*>(const_cast<std::byte*>(at));
    for (size_t i = 0; i < 2; ++i) copy_[i] = load(words[i]);
    const Record now = record_at(reinterpret_cast<const std::byte*>(copy_));
    for (size_t i = 0; i < now.words && i < kWords; ++i) copy_[2 + i] = load(words[2 + i]);
  }
  /// Its first words.
  Record record() const {
    Record now = record_at(reinterpret_cast<const std::byte*>(copy_));
    if (now.words > kWords) now.words = kWords;
    return now;
  }

 private:
  static constexpr uint8_t kWords = 8;
  static uint64_t load(uint64_t& word) {
    return std::atomic_ref<uint64_t>(word).load(std::memory_order_acquire);
  }
  uint64_t copy_[2 + kWords] = {};
};

}  // namespace culprit::fold
