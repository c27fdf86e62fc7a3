// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads raw records back, exactly as trace/raw/raw.h describes them and with no tolerance: a test
// wants to hear of every deviation. (The assembler has a reader of its own, which forgives.)
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trace/raw/records.h"

namespace culprit::tests {

struct RawRecord {
  trace::RawHeader header;
  std::vector<uint64_t> words;

  trace::RawKind kind() const { return header.kind; }
  /// Its fields.
  template <class Record>
  Record as() const {
    return trace::raw::unpack<Record>(header.arg, header.flags, words.data(),
                                      static_cast<unsigned>(words.size()));
  }
};

struct RawThread {
  std::vector<RawRecord> records;  ///< without pads
  uint64_t pads = 0;

  std::vector<const RawRecord*> of(trace::RawKind kind) const;
  size_t count(trace::RawKind kind) const { return of(kind).size(); }
  /// The addresses of a path, innermost first.
  std::vector<uint64_t> path(uint32_t id) const;
  std::string string(uint32_t id) const;
};

struct RawRun {
  std::filesystem::path folder;
  trace::RawProcess process;
  std::map<unsigned, RawThread> threads;  ///< that have a record
  unsigned maps = 0;                      ///< copies

  size_t count(trace::RawKind kind) const;
};

/// All processes that an experiment holds. Throws std::runtime_error at the first thing that is not
/// as trace/raw/raw.h says: a bad record, times that decrease, a path used before its definition.
std::vector<RawRun> read_raw(const std::filesystem::path& experiment);

std::string to_string(trace::RawKind kind);

}  // namespace culprit::tests
