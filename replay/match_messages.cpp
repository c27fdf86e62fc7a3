// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/match_messages.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/parallel.h"

namespace culprit::replay {

namespace {

/// All messages between two processes with one tag on one communicator: their order is their match.
struct Channel {
  CommId comm;
  ProcessId source, destination;
  int32_t tag;
  uint32_t partitioned;  ///< MpiMessage::partitioned

  bool operator==(const Channel&) const = default;
};

struct ChannelHash {
  size_t operator()(const Channel& c) const {
    uint64_t h = (uint64_t{c.comm.index()} << 32) ^ static_cast<uint32_t>(c.tag);
    h ^= uint64_t{c.partitioned} << 48;
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ull;
    h ^= (uint64_t{c.source.index()} << 32) | c.destination.index();
    return static_cast<size_t>((h ^ (h >> 32)) * 0x94d049bb133111ebull);
  }
};

/// How long after its enter a call may have posted at the latest: it may lose its core first.
constexpr Duration kPostedWithin = Duration::from_nanos(50'000);

/// A send or receive of one channel.
struct End {
  Time posted;
  LocationId location;
  uint32_t op;  ///< index into its location's sends or recvs
  Time posted_latest;
  bool unordered = false;  ///< towards those before it: another thread may have come in between

  bool operator<(const End& o) const {
    return std::tie(posted, location, op) < std::tie(o.posted, o.location, o.op);
  }
};

/// One process's ends, by channel, each in the order of posting.
using Ends = std::unordered_map<Channel, std::vector<End>, ChannelHash>;

/// The process that a message's peer rank means, seen from `self`; none if the trace does not say.
ProcessId peer_process(const Run& run, ProcessId self, const trace::MpiMessage& message) {
  if (!message.comm.valid() || message.comm.index() >= run.definitions->comms.size()) return {};
  const trace::Comm& comm = run.definitions->comms[message.comm.index()];
  if (comm.kind == trace::CommKind::mpi_self) return self;
  const auto in_members = [&] {
    return std::find(comm.members.begin(), comm.members.end(), self) != comm.members.end();
  };
  const bool remote = comm.kind == trace::CommKind::mpi_inter && in_members();
  const std::vector<ProcessId>& group = remote ? comm.remote : comm.members;
  return message.peer < group.size() ? group[message.peer] : ProcessId::none();
}

/// Sends meet receives process by process, in parallel: each channel belongs to one sender.
class Matcher {
 public:
  explicit Matcher(Run& run)
      : run_(run),
        sends_(run.definitions->processes.size()),
        recvs_(run.definitions->processes.size()),
        counts_(run.definitions->processes.size()) {}

  void match(unsigned threads, Losses& losses) {
    parallel_for(sends_.size(), threads, [&](size_t p) { collect(ProcessId(p)); });
    parallel_for(sends_.size(), threads, [&](size_t p) { join(p); });
    Counts sum;
    for (const Counts& c : counts_) {
      sum.sends += c.sends, sum.recvs += c.recvs, sum.matched += c.matched,
          sum.unknown += c.unknown, sum.unordered += c.unordered;
    }
    losses.add("unmatched_sends", Severity::warning,
               "messages whose receive is not in the trace: cancelled, never received, or their "
               "records were lost",
               sum.sends - sum.matched);
    losses.add("unmatched_receives", Severity::data_loss,
               "received messages whose send is not in the trace: waits in these receives are not "
               "explained",
               sum.recvs - sum.matched);
    losses.add("messages_with_unknown_peer", Severity::data_loss,
               "these messages name a rank that their communicator does not have", sum.unknown);
    losses.add("unordered_messages", Severity::warning,
               "threads of one process sent or received with the same communicator, partner and "
               "tag at the same time, so which message met which receive is not known; waits in "
               "them may be taken for each other's (different tags would tell them apart)",
               sum.unordered);
  }

 private:
  struct Counts {
    uint64_t sends = 0, recvs = 0, matched = 0, unknown = 0, unordered = 0;
  };
  /// Among so many the receive of an unordered send is looked for.
  static constexpr size_t kCandidates = 64;

  void collect(ProcessId process) {
    Counts& counts = counts_[process.index()];
    const std::vector<LocationId>& locations =
        run_.definitions->processes[process.index()].locations;
    for (LocationId id : locations) {
      const Timeline& line = run_.at(id);
      for (uint32_t i = 0; i < line.sends.size(); ++i) {
        counts.sends += add(process, id, line.sends[i], i, true, sends_[process.index()]);
      }
      for (uint32_t i = 0; i < line.recvs.size(); ++i) {
        if (!line.recvs[i].completed.valid()) continue;  // cancelled, or never completed
        counts.recvs += add(process, id, line.recvs[i], i, false, recvs_[process.index()]);
      }
    }
    for (Ends* ends : {&sends_[process.index()], &recvs_[process.index()]}) {
      for (auto& [channel, list] : *ends) {
        // One thread's are in order already, unless a matched probe has gone before.
        if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
        if (locations.size() > 1) find_unordered(list);
      }
    }
  }

  /// Marks the ends that other threads' posts may have overtaken.
  static void find_unordered(std::vector<End>& list) {
    struct Latest {
      LocationId location;
      Time time = Time::min();
    };
    Latest first, second;  // the two latest, of different locations
    for (End& end : list) {
      const Latest& other = first.location == end.location ? second : first;
      end.unordered = other.location.valid() && other.time > end.posted;
      if (first.location == end.location) {
        first.time = std::max(first.time, end.posted_latest);
      } else if (end.posted_latest >= first.time) {
        second = first;
        first = {end.location, end.posted_latest};
      } else if (second.location == end.location || end.posted_latest >= second.time) {
        second = {end.location, std::max(second.time, end.posted_latest)};
      }
    }
  }

  /// Returns 1 if the operation has a channel, 0 if its peer is unknown.
  template <class Op>
  uint64_t add(ProcessId self, LocationId id, const Op& op, uint32_t index, bool is_send,
               Ends& ends) {
    const ProcessId peer = peer_process(run_, self, op.message);
    if (!peer.valid()) {
      ++counts_[self.index()].unknown;
      return 0;
    }
    const Channel channel{op.message.comm, is_send ? self : peer, is_send ? peer : self,
                          op.message.tag, op.message.partitioned};
    const Call& call = run_.call(order_of(op));
    ends[channel].push_back(
        {call.enter, id, index, std::min(call.leave, call.enter + kPostedWithin)});
    return 1;
  }

  /// The call that decides which message it is among those of its channel.
  static CallRef order_of(const SendOp& send) { return send.posted; }
  static CallRef order_of(const RecvOp& recv) {
    return recv.found.valid() ? recv.found : recv.posted;
  }

  void join(size_t sender) {
    for (const auto& [channel, sends] : sends_[sender]) {
      const Ends& other = recvs_[channel.destination.index()];
      const auto recvs = other.find(channel);
      if (recvs == other.end()) continue;
      const size_t matched = std::min(sends.size(), recvs->second.size());
      for (size_t i = 0, end; i < matched; i = end) {
        end = i + 1;
        while (end < matched && (sends[end].unordered || recvs->second[end].unordered)) ++end;
        if (end == i + 1) {
          link(sends[i], recvs->second[i]);
        } else {
          join_unordered(sends, recvs->second, i, end, counts_[sender]);
        }
      }
      counts_[sender].matched += matched;
    }
  }

  /// Each send from `begin` to `end` meets the first receive that it can have met.
  void join_unordered(const std::vector<End>& sends, const std::vector<End>& recvs, size_t begin,
                      size_t end, Counts& counts) {
    std::vector<size_t> left;
    for (size_t i = begin; i < end; ++i) left.push_back(i);
    for (size_t i = begin; i < end; ++i) {
      size_t chosen = 0, candidates = 0;
      const size_t seen = std::min(left.size(), kCandidates);
      for (size_t k = 0; k < seen; ++k) {
        if (!can_meet(sends[i], recvs[left[k]])) continue;
        if (candidates++ == 0) chosen = k;
      }
      counts.unordered += candidates != 1 && left.size() > 1;
      link(sends[i], recvs[left[chosen]]);
      left.erase(left.begin() + static_cast<ptrdiff_t>(chosen));
    }
  }

  /// A receive may be longer than its message only as a buffer: its status told what came.
  bool can_meet(const End& from, const End& to) const {
    const SendOp& send = run_.at(from.location).sends[from.op];
    const RecvOp& recv = run_.at(to.location).recvs[to.op];
    return send.message.bytes == recv.message.bytes &&
           run_.call(recv.completed).leave >= run_.call(send.posted).enter;
  }

  void link(const End& from, const End& to) {
    SendOp& send = run_.at(from.location).sends[from.op];
    RecvOp& recv = run_.at(to.location).recvs[to.op];
    send.partner = to.location, send.partner_op = to.op;
    recv.partner = from.location, recv.partner_op = from.op;
  }

  Run& run_;
  std::vector<Ends> sends_, recvs_;  // by ProcessId
  std::vector<Counts> counts_;       // likewise
};

}  // namespace

void match_messages(Run& run, unsigned threads, Losses& losses) {
  Matcher(run).match(threads, losses);
}

}  // namespace culprit::replay
