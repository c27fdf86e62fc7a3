// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records of the OpenMP runtime, as events. Runtimes do not keep to the book, so nothing here
// relies on an end arriving: LLVM's tells a worker's end of a region only when the next one starts
// (the end is moved back to when the master left), never ends a `single` for programs built by gcc,
// and calls all their barriers by one name. What is not ended is closed with whatever encloses it.
#pragma once

#include <unordered_map>
#include <vector>

#include "assemble/stream.h"

namespace culprit::assemble {

class OpenmpRecords {
 public:
  explicit OpenmpRecords(ThreadState& state) : state_(state) {}

  /// `ahead`: the records after this one.
  void see(const RawRecord& record, const RawLog::Cursor& ahead);
  /// Closes everything, at the end of the process.
  void finish(Time end);

 private:
  /// A fork that this thread made, or a team that it is in; they nest.
  struct Opening {
    bool team = false;
    bool own = false;  ///< team of a fork of this thread: its end is not overdue
    uint64_t region = 0;
    size_t depth = 0;  ///< of the team's construct; for a fork, the stack's size then
  };

  void parallel_begin(const RawRecord& record);
  void parallel_end(const RawRecord& record);
  void implicit_begin(const RawRecord& record);
  void implicit_end(const RawRecord& record);
  void work_begin(const RawRecord& record);
  void work_end(uint64_t kind, Time time);
  void sync_begin(const RawRecord& record, const RawLog::Cursor& ahead, bool wait);
  void sync_end(const RawRecord& record, bool wait);
  void mutex_acquire(const RawRecord& record, const RawLog::Cursor& ahead);
  void mutex_acquired(const RawRecord& record);
  void mutex_released(const RawRecord& record);
  void task_switch(const RawRecord& record);

  /// Enters the barrier that `record` begins.
  void enter_barrier(const RawRecord& record, const RawLog::Cursor& ahead, uint64_t id);
  bool ends_region(const RawRecord& record, RawLog::Cursor ahead) const;
  void close(Time time, size_t depth);
  void close_top_opening(Time time);
  void close_work(Time time);
  Time overdue(Time time, uint64_t region) const;
  const Opening* team() const;
  const Symbol* place(uint64_t code) const;
  const Symbol* team_place() const;

  ThreadState& state_;
  std::vector<Opening> openings_;
  const Symbol* work_place_ = nullptr;  ///< of the last worksharing construct of the team
};

}  // namespace culprit::assemble
