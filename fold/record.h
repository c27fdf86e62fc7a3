// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A raw record as it lies in memory, for those who go through a log's records inside the program.
#pragma once

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

}  // namespace culprit::fold
