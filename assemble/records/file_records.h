// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records of files, as events. Collective calls are collectives of the file's communicator too:
// blocking ones as such, the others from the call that begins to the one that ends.
#pragma once

#include <unordered_map>

#include "assemble/play/thread_state.h"

namespace culprit::assemble {

class FileRecords {
 public:
  explicit FileRecords(ThreadState& state) : state_(state) {}
  void see(const RawRecord& record);

 private:
  void begin(const raw::file_op& begun, Time time, LocalObjects::FileOn file);
  void issued(const raw::file_op_issued& issued, Time time, LocalObjects::FileOn file);
  void done(const raw::file_op_done& done, Time time, LocalObjects::FileOn file);
  void collective(Time time, trace::CollectiveOp op, CommId comm);
  trace::EventSink& sink() { return state_.timeline.sink(); }

  ThreadState& state_;
  std::unordered_map<uint32_t, uint64_t> splits_;  ///< by file number, the one under way
  uint64_t blocking_ = 0;                          ///< the one under way
  uint64_t ids_ = 0;
};

}  // namespace culprit::assemble
