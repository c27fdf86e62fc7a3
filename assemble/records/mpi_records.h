// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records of MPI calls, as events.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assemble/play/thread_state.h"
#include "trace/promises.h"

namespace culprit::assemble {

class MpiRecords {
 public:
  explicit MpiRecords(ThreadState& state) : state_(state) {}
  void see(const RawRecord& record);
  /// The current call did not return: its facts never came.
  void could_not_return() { promises_.saw_unanswered(); }
  /// Counts promised records that are missing.
  void finish();

 private:
  void enter(const RawRecord& record);
  void leave(const RawRecord& record);
  void leave_abandoned_call(Time time);
  void tests(const RawRecord& record);
  /// A testing function in an mpi_tests record.
  struct Asked {
    uint16_t name;
    uint32_t path;
    uint64_t ticks;
  };
  static std::vector<Asked> asked(const RawRecord& record);
  void fact(const RawRecord& record);
  /// The communicator, or none (counted) if its members are unknown.
  CommId comm_of(const RawRecord& record);
  bool is_peer(int32_t peer, CommId comm);
  /// `told`: mpi_send, mpi_recv or the like.
  template <class Record>
  trace::MpiMessage message(const Record& told, CommId comm);
  /// How its two ends find each other.
  void match(trace::MpiMessage& message, trace::RawMatching matching, uint64_t number) const;
  /// `told`: mpi_collective or mpi_icoll.
  template <class Record>
  trace::MpiCollective collective(const Record& told, CommId comm);
  /// None if the operation's kind says it all.
  GroupId rank_set(uint32_t set, CommId comm);
  /// A function of MPI.
  struct Function {
    RegionId region;
    trace::Promise promise = trace::Promise::none;
  };
  const Function& function(uint16_t name);
  /// It returns.
  void keep_promise(Time time, trace::Promise promise);

  static constexpr uint64_t kOpenCall = 1;  ///< a call on the timeline's stack that is to return

  ThreadState& state_;
  std::map<std::pair<uint32_t, CommId>, GroupId> rank_sets_;
  std::unordered_map<uint16_t, Function> functions_;  ///< by string id
  trace::Promises promises_;
};

}  // namespace culprit::assemble
