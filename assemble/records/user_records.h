// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The program's own records, as events: its regions, phases and iterations, and functions that were
// compiled with -finstrument-functions. Ends may be missing (longjmp, exceptions) or come without a
// begin (it lay before the recording).
#pragma once

#include <unordered_map>
#include <vector>

#include "assemble/play/thread_state.h"

namespace culprit::assemble {

class UserRecords {
 public:
  explicit UserRecords(ThreadState& state) : state_(state) {}
  void see(const RawRecord& record);

 private:
  struct OpenFunction {
    size_t depth;  ///< in the timeline's stack
    uint64_t address;
    uint32_t frame;
  };
  struct OpenRegion {
    Time time;
    RegionId region;
    bool numbered;
    uint64_t number;
  };
  void push(const OpenRegion& region);
  void leave_function(Time time, size_t open);
  void region_enter(const RawRecord& record);
  void region_leave(const RawRecord& record);
  void function_enter(const RawRecord& record);
  void function_leave(const RawRecord& record);
  /// The functions between this one and the next further out need not be instrumented.
  void observe_caller(Time time, uint64_t caller);
  UserPath path_to(uint64_t caller);
  bool holds_open_functions(const UserPath& path) const;
  RegionId region(uint16_t name, trace::RawUserRegion kind);
  /// Forgets functions that have been closed with something around them.
  void drop_closed();

  ThreadState& state_;
  std::vector<OpenFunction> open_;
  std::unordered_map<uint64_t, UserPath> callers_;  ///< by return address
};

}  // namespace culprit::assemble
