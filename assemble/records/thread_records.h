// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records that belong to no programming model: call paths and names, samples, where a thread
// began, slept and ended, and the collector's own.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "assemble/play/thread_state.h"
#include "assemble/raw/reader.h"
#include "assemble/records/user_records.h"

namespace culprit::assemble {

/// The files that a thread read and wrote, by name: the first few. A program that goes through
/// thousands has no use for a row of each.
class NamedFiles {
 public:
  /// Empty if it is none of these, or its name is not known.
  std::string_view name_of(uint64_t number, const std::unordered_map<uint16_t, std::string>& names);

 private:
  std::unordered_set<uint64_t> known_;
};

class ThreadRecords {
 public:
  /// `log` is the one whose records are played.
  ThreadRecords(const RawLog& log, ThreadState& state) : log_(log), state_(state) {}

  /// The thread that runs main is in it from the beginning, so that its whole time is covered.
  void begin_program();

  /// Of the groups definitions, samples, measurement and other.
  void see(const RawRecord& record);

  /// A sleep that the thread itself did not record. In calls that it recorded itself the place of a
  /// sleep is already known.
  void see_asleep(const PartAsleep& part, bool while_off);

  /// Whatever the record is: before it is seen, and also while recording is off.
  void note(const RawRecord& record);
  /// The process was killed at `time`, which ended all its threads: others may have waited for this
  /// one to end.
  void be_killed(Time time);

  /// Of a sample; the earliest time if there was none.
  Time last_seen() const { return last_seen_; }

 private:
  RegionId program_region();
  RegionId outermost_function();
  RegionId thread_region(uint64_t function);
  /// The thread still waited when its log ended: its log's last record says for what.
  void note_awaits(const RawRecord& record);
  void define(const RawRecord& record);
  void see_sample(const RawRecord& record);
  void see_measurement(const RawRecord& record);
  void see_thread(const RawRecord& record);
  void begin_thread(const RawRecord& record);
  void end_thread(const RawRecord& record);
  void see_blocked(const RawRecord& record);
  bool is_ended_by_somebody(uint64_t object, Time begin, Time end) const;
  /// A call that waited for others; and one that slept without.
  RegionId awaiting(uint64_t object, std::string_view call);
  RegionId region_of(const raw::blocked& blocked, std::string_view name);
  std::string call_of(const SeenAsleep& sleep) const;
  void tell_woke(const RawRecord& record, uint64_t object);
  void tell(Time time, trace::Fact fact, uint64_t value);
  void end_tool(Time time);

  const RawLog& log_;
  ThreadState& state_;
  CounterRecords counters_{state_.process.metrics, state_.timeline};
  NamedFiles files_;
  Time last_seen_;
  uint64_t handle_ = 0;         ///< by which others wait for the thread's end; 0: it is unknown
  uint64_t awaits_end_of_ = 0;  ///< likewise, of the thread for which this one still waits
  std::string join_;            ///< the name of that call
};

}  // namespace culprit::assemble
