// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Messages that have met are removed from both sides, channel by channel; the rest has no partner.
// A wrong tag is noticed by the message that it would have met.
#include "assemble/stuck/open_messages.h"

#include <algorithm>
#include <set>

#include "assemble/stuck/message_tally.h"
#include "base/parallel.h"

namespace culprit::assemble::stuck {
namespace {

/// Messages on their way: communicator, sender, receiver, tag.
using Way = std::tuple<CommId, ProcessId, ProcessId, int32_t>;

bool is_member(const std::vector<ProcessId>& members, ProcessId process) {
  return std::find(members.begin(), members.end(), process) != members.end();
}

/// The other group of an inter-communicator, or the only one.
const std::vector<ProcessId>& others_of(const trace::Comm& comm, ProcessId process) {
  return comm.kind == trace::CommKind::mpi_inter && is_member(comm.members, process) ? comm.remote
                                                                                     : comm.members;
}

/// The rank under which `process` knows `other`; -1: under none.
int32_t rank_of(const trace::Comm& comm, ProcessId process, ProcessId other) {
  if (comm.kind == trace::CommKind::mpi_self) return process == other ? 0 : -1;
  const std::vector<ProcessId>& members = others_of(comm, process);
  const auto at = std::find(members.begin(), members.end(), other);
  return at == members.end() ? -1 : static_cast<int32_t>(at - members.begin());
}

class Collection {
 public:
  Collection(const EndedRun& run, const std::vector<ThreadEnd>& ends,
             const std::vector<ProcessEnd>& processes)
      : run_(run), ends_(ends), processes_(processes) {}

  std::vector<OpenMessage> take() {
    for (size_t p = 0; p < processes_.size(); ++p) add_process(ProcessId(p));
    std::stable_sort(found_.begin(), found_.end(),
                     [](const OpenMessage& a, const OpenMessage& b) { return a.ticks < b.ticks; });
    count_messages();
    for (OpenMessage& one : found_) {
      if (!one.sends) meet(one);
    }
    for (OpenMessage& one : found_) {
      if (!one.sends && !one.met) find_other_tags(one);
    }
    // The last that were sent are those that are left.
    for (auto one = found_.rbegin(); one != found_.rend(); ++one) {
      if (one->sends) one->met = !take_left(*one);
    }
    return std::move(found_);
  }

 private:
  void add_process(ProcessId process) {
    const ProcessEnd& end = processes_[process.index()];
    for (const Pending& pending : end.pending) {
      if (pending.kind == Pending::Kind::collective) continue;
      add(process, pending.message, pending.kind == Pending::Kind::send, pending.ticks,
          pending.request, 0);
    }
    for (const size_t lane : end.lanes) {
      const OpenCall& call = ends_[lane].call;
      const bool probes = call.is_probe();
      if (call.kind == CallKind::tests && probes) {
        add(process, {trace::kRawCommWorld, trace::kRawAny, trace::kRawAny}, false, call.since, 0,
            lane);
        found_.back().takes = false;
        found_.back().known = false;
      }
      if (call.kind != CallKind::mpi) continue;
      if (call.send) add(process, *call.send, true, call.since, 0, lane);
      if (!call.awaited || call.awaited->what != trace::RawAwaits::message) continue;
      const uint64_t asked = call.awaited->words.empty() ? 0 : call.awaited->words[0];
      add(process,
          {call.awaited->arg, static_cast<int32_t>(asked), static_cast<int32_t>(asked >> 32)},
          false, call.since, 0, lane);
      found_.back().takes = !probes;
    }
  }

  void add(ProcessId process, const MessageSide& side, bool sends, uint64_t ticks, uint64_t request,
           size_t lane) {
    OpenMessage one;
    one.process = process;
    one.sends = sends;
    one.ticks = ticks;
    one.comm_number = side.comm;
    one.tag = side.tag;
    one.request = request;
    one.lane = lane;
    const auto& local = run_.comms.local[process.index()];
    const auto comm = local.find(side.comm);
    one.met = true;  // unless that is known
    if (comm != local.end() && comm->second.valid()) {
      one.comm = comm->second;
      if (side.peer != trace::kRawAny) {
        one.peer = process_of_rank(run_.comms.comms[one.comm.index()], process, side.peer);
      }
      one.met = side.peer != trace::kRawAny && !one.peer;
    }
    found_.push_back(one);
  }

  std::vector<ProcessId> peers(const OpenMessage& one) const {
    if (one.peer) return {*one.peer};
    return partners_in(run_.comms.comms[one.comm.index()], one.process);
  }

  void want(ProcessId process, ProcessId other, CommId comm) {
    const auto number = processes_[process.index()].numbers.find(comm);
    const int32_t rank = rank_of(run_.comms.comms[comm.index()], process, other);
    if (number == processes_[process.index()].numbers.end() || rank < 0) return;
    wanted_[process.index()].insert({number->second, rank});
  }

  void count_messages() {
    wanted_.resize(processes_.size());
    for (const OpenMessage& one : found_) {
      if (one.met) continue;
      for (const ProcessId peer : peers(one)) {
        want(one.process, peer, one.comm);
        want(peer, one.process, one.comm);
      }
    }
    std::vector<MessageTally> tallies(processes_.size());
    parallel_for(processes_.size(), run_.threads, [&](size_t p) {
      if (const auto folder = processes_[p].folder) {
        tallies[p] = tally_messages(run_.folders[*folder].logs, wanted_[p]);
      }
    });
    for (size_t p = 0; p < tallies.size(); ++p) {
      for (const auto& [key, count] : tallies[p].sent) on_the_way(ProcessId(p), key, count, true);
      for (const auto& [key, count] : tallies[p].received) {
        on_the_way(ProcessId(p), key, -count, false);
      }
    }
  }

  void on_the_way(ProcessId process, const std::pair<Partner, int32_t>& key, int64_t count,
                  bool sends) {
    const auto& local = run_.comms.local[process.index()];
    const auto comm = local.find(key.first.first);
    if (comm == local.end() || !comm->second.valid()) return;
    const auto other =
        process_of_rank(run_.comms.comms[comm->second.index()], process, key.first.second);
    if (!other) return;
    left_[sends ? Way(comm->second, process, *other, key.second)
                : Way(comm->second, *other, process, key.second)] += count;
  }

  void meet(OpenMessage& one) {
    if (one.met) return;
    for (const ProcessId peer : peers(one)) {
      auto way = left_.lower_bound(Way(one.comm, peer, one.process, INT32_MIN));
      for (; way != left_.end() && is_between(way->first, one.comm, peer, one.process); ++way) {
        if (way->second <= 0) continue;
        if (one.tag != trace::kRawAny && one.tag != std::get<3>(way->first)) continue;
        if (one.takes) --way->second;
        one.met = true;
        return;
      }
    }
  }

  void find_other_tags(OpenMessage& one) {
    if (!one.peer) return;
    auto way = left_.lower_bound(Way(one.comm, *one.peer, one.process, INT32_MIN));
    for (; way != left_.end() && is_between(way->first, one.comm, *one.peer, one.process); ++way) {
      if (way->second > 0) one.other_tags.push_back(std::get<3>(way->first));
    }
  }

  /// True if it is among the messages that no process receives.
  bool take_left(const OpenMessage& one) {
    if (!one.peer) return false;
    const auto way = left_.find(Way(one.comm, one.process, *one.peer, one.tag));
    if (way == left_.end() || way->second <= 0) return false;
    --way->second;
    return true;
  }

  static bool is_between(const Way& way, CommId comm, ProcessId from, ProcessId to) {
    return std::get<0>(way) == comm && std::get<1>(way) == from && std::get<2>(way) == to;
  }

  const EndedRun& run_;
  const std::vector<ThreadEnd>& ends_;
  const std::vector<ProcessEnd>& processes_;
  std::vector<OpenMessage> found_;
  std::vector<std::set<Partner>> wanted_;  ///< by process
  std::map<Way, int64_t> left_;            ///< sent and not received, then not met either
};

}  // namespace

std::optional<ProcessId> process_of_rank(const trace::Comm& comm, ProcessId process, int64_t rank) {
  if (comm.kind == trace::CommKind::mpi_self) {
    return rank == 0 ? std::optional(process) : std::nullopt;
  }
  const std::vector<ProcessId>& members = others_of(comm, process);
  if (rank < 0 || static_cast<size_t>(rank) >= members.size()) return std::nullopt;
  return members[static_cast<size_t>(rank)];
}

std::vector<ProcessId> partners_in(const trace::Comm& comm, ProcessId process) {
  if (comm.kind == trace::CommKind::mpi_self) return {process};
  return others_of(comm, process);
}

std::vector<OpenMessage> open_messages(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                                       const std::vector<ProcessEnd>& processes) {
  return Collection(run, ends, processes).take();
}

}  // namespace culprit::assemble::stuck
