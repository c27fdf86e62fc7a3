// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Constructs inside a team: worksharing, masked, reductions, and all constructs at whose end
// threads wait for each other. In programs built by gcc a `single` is never ended, and all barriers
// have one name: the records that follow show their kind.
#pragma once

#include "assemble/openmp/teams.h"

namespace culprit::assemble {

class OpenmpConstructs {
 public:
  OpenmpConstructs(ThreadState& state, OpenmpTeams& teams) : state_(state), teams_(teams) {}

  void work_begin(const RawRecord& record);
  void work_end(const RawRecord& record);
  void masked_begin(const RawRecord& record);
  void masked_end(const RawRecord& record);
  void reduction_begin(const RawRecord& record);
  void reduction_end(const RawRecord& record);
  void cancel(const RawRecord& record);
  /// `ahead`: the records after this one. `wait`: the record concerns the waiting inside a
  /// construct.
  void sync_begin(const RawRecord& record, const RawLog::Cursor& ahead, bool wait);
  void sync_end(const RawRecord& record, bool wait);

 private:
  /// Enters the barrier that has `begun`.
  void enter_barrier(Time time, const raw::omp_sync_begin& begun, const RawLog::Cursor& ahead,
                     uint64_t id);
  /// `kind`: the barrier's, of OMPT.
  bool ends_region(uint16_t kind, RawLog::Cursor ahead) const;
  void close_work(Time time);
  void end(const RawRecord& record, uint64_t id);

  ThreadState& state_;
  OpenmpTeams& teams_;
};

}  // namespace culprit::assemble
