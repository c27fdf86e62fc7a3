// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a thread is in, kept by ourselves. The runtime's own notes do not suffice: at the end of a
// worker's region it hands out neither parallel data nor team size, and some runtimes reuse both.
// Plain data in the initial TLS block: no allocation, no destructor. Too deep nesting is counted
// but not remembered.
// MT: one thread.
#pragma once

#include <cstdint>

#include "collector/recorder.h"

namespace culprit::collector::openmp {

/// The regions whose implicit tasks this thread is in, innermost last.
class RegionStack {
 public:
  void push(uint64_t region) {
    if (depth_ < kMax) regions_[depth_] = region;
    ++depth_;
  }
  /// Leaves the innermost region, or `region` and whatever in it never ended. Returns what was
  /// left.
  uint64_t pop(uint64_t region);
  uint64_t top() const { return depth_ > 0 && depth_ <= kMax ? regions_[depth_ - 1] : 0; }

 private:
  static constexpr uint32_t kMax = 32;
  uint64_t regions_[kMax];
  uint32_t depth_;
};

/// How often this thread waits, as OpenMP tells it, for ThreadLog::waiting. A task that runs inside
/// a wait does not wait: the wait is set aside until the task is left.
class Waits {
 public:
  void begin(ThreadLog& log) { change(log, +1); }
  void end(ThreadLog& log) { change(log, -1); }
  /// Ends what the runtime forgot to end.
  void clear(ThreadLog& log);
  void enter_task(ThreadLog& log);
  void leave_task(ThreadLog& log);
  /// A thread waits for one mutex at most; a failed test never says so.
  void begin_mutex(ThreadLog& log);
  void end_mutex(ThreadLog& log);

 private:
  static constexpr uint32_t kMax = 32;
  void change(ThreadLog& log, int by) {
    if (current_ + by < 0) return;
    current_ += by;
    log.waiting += by;
  }
  int current_;
  bool for_mutex_;
  uint32_t depth_;
  int outer_[kMax];
};

struct ThreadState {
  RegionStack regions;
  Waits waits;
};

ThreadState& thread_state();

}  // namespace culprit::collector::openmp
