// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records of MPI calls, as events.
#pragma once

#include "assemble/stream.h"

namespace culprit::assemble {

class MpiRecords {
 public:
  explicit MpiRecords(ThreadState& state) : state_(state) {}
  void see(const RawRecord& record);

 private:
  void enter(const RawRecord& record);
  void leave(const RawRecord& record);
  void leave_abandoned_call(Time time);
  void tests(const RawRecord& record);
  void fact(const RawRecord& record);
  /// The communicator, or none (counted) if what happens in it cannot be told.
  CommId comm_of(const RawRecord& record);
  RegionId call(uint16_t name) const;

  static constexpr uint64_t kOpenCall = 1;  ///< a call on the timeline's stack that is to return

  ThreadState& state_;
};

}  // namespace culprit::assemble
