// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One of the files of a log, for what reads logs. MT: safe.
#pragma once

#include <sys/mman.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "base/files/guarded_path.h"
#include "trace/raw/raw.h"

namespace culprit::assemble {

constexpr size_t rounded_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Windows in memory begin at whole ones.
inline constexpr size_t kRawPage = 4096;

/// A file to be mapped; one that is not there has no bytes.
class LogPart {
 public:
  explicit LogPart(const GuardedPath& path) : file_(path.open()) {}

  size_t size() const { return file_ ? file_->size() : 0; }
  std::vector<Extent> data() const { return file_ ? file_->data() : std::vector<Extent>(); }

  /// Puts the file's first bytes in place of the memory at `place`.
  bool map_at(void* place, size_t bytes) const {
    // A private mapping, for file systems that cannot share; pages that are only read are the
    // file's all the same.
    // A page that is to be written to (leave_out) is made writable then: the memory of all would be
    // reserved otherwise, for a file that may be sparse.
    return bytes == 0 || mmap(place, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, file_->descriptor(),
                              0) != MAP_FAILED;
  }

  /// Of a tail: bytes behind its window. Version 8 had no slots (assemble/raw/former_process.h),
  /// and version 10 did not say how many windows are kept.
  size_t behind_window() const {
    for (const size_t former : {offsetof(trace::RawTail, open), offsetof(trace::RawTail, kept)}) {
      if (size() % kRawPage == former) return former;
    }
    return sizeof(trace::RawTail);
  }

  /// Of a tail: bytes of its window, which are whole pages. 0: it is none.
  size_t window() const {
    const size_t window = size() < behind_window() ? 0 : size() - behind_window();
    return std::has_single_bit(window) && window >= kRawPage && window <= trace::kRawWindow ? window
                                                                                            : 0;
  }

  std::optional<trace::RawTail> tail() const {
    trace::RawTail tail = {};
    if (window() == 0 || file_->read_at(window(), &tail, behind_window()) < behind_window()) {
      return std::nullopt;
    }
    return tail;
  }

  /// The thread's open states. For a thread that goes on, those that change between two looks are
  /// dropped.
  std::vector<trace::RawOpen> slots() const {
    std::vector<trace::RawOpen> found;
    const std::optional<trace::RawTail> first = tail(), second = first ? tail() : std::nullopt;
    for (unsigned slot = 0; second && slot < trace::kRawSlots; ++slot) {
      const trace::RawOpen& open = second->open[slot];
      if (open.header.kind == trace::RawKind::none) continue;
      if (std::memcmp(&open, &first->open[slot], sizeof open) == 0) found.push_back(open);
    }
    return found;
  }

 private:
  std::optional<RegularFile> file_;
};

}  // namespace culprit::assemble
