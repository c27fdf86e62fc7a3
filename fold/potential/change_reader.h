// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lists the changes that follow from a thread's records. It reads each record once, in the order of
// the log, and remembers next to nothing: all that needs other threads is left to the potential.
// Plain data, zero at first. MT: whoever folds the log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fold/change.h"
#include "fold/record.h"

namespace culprit::fold {

class ChangeReader {
 public:
  /// The record has at least as many words as its kind promises.
  void see(const Record& record, ChangeList& list);
  /// The records of a window, or of a part that begins and ends between records. Returns how many
  /// bytes it read: it stops before a record for which the list may lack room, and where the log
  /// ends. `grows`: the last record may still change; what of it is final is listed, and the rest
  /// when it comes again.
  size_t see_all(std::span<const std::byte> records, bool grows, ChangeList& list);

 private:
  /// Regions of one thread alone: nobody waits there, so nothing of them is listed.
  struct Lone {
    static constexpr uint32_t kMost = 8;
    std::array<uint32_t, kMost> regions;
    uint32_t depth;
    void push(uint32_t region) {
      if (depth < kMost) regions[depth++] = region;
    }
    bool has(uint32_t region) const {
      for (uint32_t i = 0; i < depth; ++i) {
        if (regions[i] == region) return true;
      }
      return false;
    }
    bool pop(uint32_t region) {
      while (has(region)) {
        if (regions[--depth] == region) return true;
      }
      return false;
    }
  };

  void see_region(const Record& record, ChangeList& list);
  void see_sync(uint64_t time, const raw::omp_sync_begin& sync, bool begins, bool part,
                ChangeList& list);
  void see_task(const Record& record, ChangeList& list);
  void see_mutex(const Record& record, ChangeList& list);
  void see_acquire(const Record& record, ChangeList& list);
  void see_tests(const Record& record, bool is_final, ChangeList& list);

  Lone lone_;
  bool in_sync_;        ///< in a barrier or a taskwait whose begin was recorded
  uint32_t notes_;      ///< of the record at hand, which grows: moments that are listed
  uint64_t last_task_;  ///< that it created
};

}  // namespace culprit::fold
