// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Mutual exclusion: waiting for a lock and holding it are distinct. Calls of the library end when
// the lock is held; constructs have a body.
#pragma once

#include "assemble/openmp/teams.h"

namespace culprit::assemble {

class OpenmpMutexes {
 public:
  OpenmpMutexes(ThreadState& state, OpenmpTeams& teams) : state_(state), teams_(teams) {}

  /// `ahead`: the records after this one.
  void acquire(const RawRecord& record, const RawLog::Cursor& ahead);
  void acquired(const RawRecord& record);
  void released(const RawRecord& record);
  void nested(const RawRecord& record);
  void init(const RawRecord& record);
  void destroy(const RawRecord& record);

 private:
  ThreadState& state_;
  OpenmpTeams& teams_;
};

}  // namespace culprit::assemble
