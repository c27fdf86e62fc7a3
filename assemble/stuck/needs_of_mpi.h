// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The needs of open calls of MPI (needs.h): messages of their peers, members of collectives,
// windows. A process can meet a need with any thread that may call MPI; one that has left MPI with
// none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assemble/stuck/open_messages.h"
#include "assemble/stuck/processes_at_end.h"
#include "assemble/stuck/wait_graph.h"

namespace culprit::assemble::stuck {

class NeedsOfMpi {
 public:
  /// `parked`, by lane: workers that do nothing until their master opens a region.
  NeedsOfMpi(const EndedRun& run, const std::vector<ThreadEnd>& ends,
             const std::vector<ProcessEnd>& processes, const std::vector<bool>& parked);

  /// The needs of a lane that is in a call of MPI; empty: it can return, or its needs are unknown.
  std::vector<Need> of(size_t lane) const;

 private:
  struct Place {
    ProcessId process;
    uint64_t place = 0;  ///< how many operations of the channel came before
    trace::CollectiveOp op = trace::CollectiveOp::other;
    uint64_t root = ~uint64_t{0};
    bool nonblocking = false;
    bool rooted() const { return root != ~uint64_t{0}; }
  };

  std::vector<size_t> actors(ProcessId process) const;
  Need need(ProcessId process, std::string why) const;
  std::string name(ProcessId process) const;
  std::string tag_and_comm(const OpenMessage& message) const;
  std::string in_comm(CommId id) const;

  std::vector<Need> for_message(const OpenMessage& message) const;
  std::vector<Need> for_receive(const OpenMessage& message) const;
  std::vector<Need> for_requests(size_t lane, const Awaited& awaited) const;
  std::vector<Need> for_request(const Pending& pending, size_t lane) const;
  Need for_partitions(ProcessId sender, size_t lane) const;
  bool has_open_partitions(const OpenMessage& receive) const;
  std::vector<Need> for_tests(size_t lane) const;
  std::vector<Need> for_call(size_t lane, const Awaited& awaited) const;
  std::optional<std::string> absence(ProcessId member, const Place& own, CommId comm,
                                     const std::string& call) const;
  std::vector<Need> for_collective(const Place& own, CommId comm, const std::string& call) const;
  std::vector<Need> for_members(ProcessId process, Channel channel, const std::string& call) const;
  std::vector<Need> for_world(ProcessId process, trace::RawAwaits what) const;
  std::vector<Need> for_lock(size_t lane, const OpenCall::Lock& lock) const;
  std::vector<Need> for_epoch(ProcessId process, const Awaited& awaited) const;
  std::vector<Need> for_partner(ProcessId process) const;

  uint64_t done_by(ProcessId process, Channel channel) const;
  const OpenCall* open_collective(ProcessId process, CommId comm) const;
  const Pending* pending_collective(ProcessId process, Channel channel, uint64_t place) const;
  bool is_in(ProcessId process, trace::RawAwaits what, uint32_t number) const;
  const trace::Comm* comm_of(ProcessId process, uint32_t number) const;
  const trace::Comm* comm_of_channel(ProcessId process, Channel channel) const;
  std::optional<Channel> channel_of(ProcessId other, ProcessId process, Channel channel) const;

  const EndedRun& run_;
  const std::vector<ThreadEnd>& ends_;
  const std::vector<ProcessEnd>& processes_;
  const std::vector<bool>& parked_;
  std::vector<OpenMessage> messages_;
  std::map<std::pair<ProcessId, uint64_t>, size_t> by_request_;  ///< index in messages_
};

}  // namespace culprit::assemble::stuck
