// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads what the collector left (trace/raw.h): process folders, and the records of each thread. It
// assumes nothing about how the program ended: a log stops at its first unwritten record, and
// garbage ends it early and is counted. A record handed out has at least the words that its kind
// promises, so that nobody behind this file checks sizes again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/losses.h"
#include "trace/raw.h"

namespace culprit::assemble {

struct RawRecord {
  uint64_t ticks = 0;
  uint32_t arg = 0;
  uint16_t flags = 0;
  uint8_t words = 0;
  trace::RawKind kind = trace::RawKind::none;
  const uint64_t* w = nullptr;  ///< `words` of them
};

/// One thread's records: its files mapped read-only, one behind the other. MT: cursors are
/// independent of each other.
class RawLog {
 public:
  /// A walk over the records; pads are skipped, and what a record tells of later moments comes as
  /// records of their own. Copy it to look ahead.
  class Cursor {
   public:
    explicit Cursor(const RawLog& log) : log_(&log) {}
    /// False at the end, and for ever after.
    bool next(RawRecord& record);
    /// True if the walk ended at something that is no record.
    bool damaged() const { return damaged_; }
    /// Records left out because they are shorter than their kind, or of no known kind.
    uint64_t skipped() const { return skipped_; }

   private:
    bool next_later(RawRecord& record);

    const RawLog* log_;
    size_t offset_ = 0;
    RawRecord acquire_;   ///< of a mutex, while moments noted in it are still to come
    unsigned later_ = 0;  ///< how many of them have come
    uint64_t skipped_ = 0;
    bool damaged_ = false;
  };

  static std::optional<RawLog> map(const std::filesystem::path& file, uint32_t thread);

  Cursor cursor() const { return Cursor(*this); }
  uint32_t thread() const { return thread_; }

 private:
  std::shared_ptr<const std::byte> data_;
  size_t size_ = 0;
  uint32_t thread_ = 0;
};

struct RawProcessFolder {
  std::filesystem::path path;
  trace::RawProcess process{};
  std::vector<RawLog> logs;                 ///< by thread number; empty logs are left out
  std::vector<RawLog> device_logs;          ///< of no thread: what devices did
  std::vector<std::filesystem::path> maps;  ///< the most complete first
};

/// The processes under `raw`, in order of their start. What cannot be read is counted and left out.
std::vector<RawProcessFolder> read_raw(const std::filesystem::path& raw, Losses& losses);

}  // namespace culprit::assemble
