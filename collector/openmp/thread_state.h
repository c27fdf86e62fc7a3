// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The constructs that a thread is in, kept by ourselves. The runtime's own data do not suffice: at
// the end of a worker's region it passes neither parallel data nor team size, and some runtimes
// reuse both. Plain data in the initial TLS block: no allocation, no destructor. There is little
// room there (collector/CMakeLists.txt), so nesting deeper than any program's is counted but not
// remembered. MT: one thread.
#pragma once

#include <cstdint>

#include "collector/process/recorder.h"

namespace culprit::collector::openmp {

/// The part of a loop, or of sections, that the runtime has dealt out to this thread.
struct LoopShare {
  uint64_t chunks;
  uint64_t iterations;
};

/// The regions whose implicit tasks this thread is in, innermost last.
class RegionStack {
 public:
  void push(uint64_t region) {
    if (depth_ < kMax) regions_[depth_] = region;
    ++depth_;
    loop() = {};
  }
  /// Leaves the innermost region, or `region` and those inside it that never ended. Returns the
  /// region that was left.
  uint64_t pop(uint64_t region);
  uint64_t top() const { return depth_ > 0 && depth_ <= kMax ? regions_[depth_ - 1] : 0; }
  /// The share of the loop that runs in the innermost region: a team has one at a time.
  LoopShare& loop() { return loops_[depth_ < kMax ? depth_ : kMax]; }

 private:
  static constexpr uint32_t kMax = 16;
  uint64_t regions_[kMax];
  LoopShare loops_[kMax + 1];
  uint32_t depth_;
};

/// How many waits this thread is in, as OpenMP reports it, for ThreadLog::waiting. A task that runs
/// inside a wait does not wait: the wait is set aside until the task is left.
class Waits {
 public:
  void begin(ThreadLog& log) { change(log, +1); }
  void end(ThreadLog& log) { change(log, -1); }
  /// Ends waits whose end the runtime did not report.
  void clear(ThreadLog& log);
  void enter_task(ThreadLog& log);
  void leave_task(ThreadLog& log);
  /// A thread waits for one mutex at most; the end of a failed test is never reported.
  void begin_mutex(ThreadLog& log);
  void end_mutex(ThreadLog& log);

 private:
  static constexpr uint32_t kMax = 16;
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

/// Taskwaits with dependences are tasks to the runtime, but their data cannot hold a number: it
/// belongs to the thread, and one taskwait may begin inside another.
class Taskwaits {
 public:
  void begin(const void* data, uint64_t number) {
    data_ = data;
    if (depth_ < kMax) numbers_[depth_] = number;
    ++depth_;
  }
  /// Ends the innermost taskwait and returns its number; 0 if there is none.
  uint64_t end() {
    const uint64_t number = top();
    if (depth_ > 0) --depth_;
    return number;
  }
  /// The innermost one's number, if `data` is a taskwait's.
  uint64_t find(const void* data) const { return data == data_ ? top() : 0; }

 private:
  static constexpr uint32_t kMax = 16;
  uint64_t top() const { return depth_ > 0 && depth_ <= kMax ? numbers_[depth_ - 1] : 0; }
  const void* data_;
  uint64_t numbers_[kMax];
  uint32_t depth_;
};

struct ThreadState {
  Taskwaits taskwaits;
  RegionStack regions;
  Waits waits;
};

ThreadState& thread_state();

}  // namespace culprit::collector::openmp
