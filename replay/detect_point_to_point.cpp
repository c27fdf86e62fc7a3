// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Late sender and late receiver. Sends meet receives in order, for every (communicator, source,
// destination, tag): MPI's non-overtaking rule, with receives in the order in which they were
// posted.
//
//   late sender    a call that completes a receive waits for the enter of the send
//   late receiver  a call that completes a send waits for the enter of the receive's posting, if
//   the
//                  call ends only after that: an eager send returns earlier and did not wait
//
// Both from the thesis, section 2.4.1 (figures 2.3 and 2.4). Whether a send was synchronous cannot
// be known; a send that overlaps its receive's posting by chance is taken for one.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/parallel.h"
#include "replay/detection.h"

namespace culprit::replay {

namespace {

/// All messages between two processes with one tag on one communicator: their order is their match.
struct Channel {
  CommId comm;
  ProcessId source, destination;
  int32_t tag;

  bool operator==(const Channel&) const = default;
};

struct ChannelHash {
  size_t operator()(const Channel& c) const {
    uint64_t h = (uint64_t{c.comm.index()} << 32) ^ static_cast<uint32_t>(c.tag);
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ull;
    h ^= (uint64_t{c.source.index()} << 32) | c.destination.index();
    return static_cast<size_t>((h ^ (h >> 32)) * 0x94d049bb133111ebull);
  }
};

/// A send or receive of one channel.
struct End {
  Time posted;
  LocationId location;
  uint32_t op;  ///< index into its location's sends or recvs

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
          sum.unknown += c.unknown;
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
  }

 private:
  struct Counts {
    uint64_t sends = 0, recvs = 0, matched = 0, unknown = 0;
  };

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
    if (locations.size() == 1) return;  // in order already
    for (Ends* ends : {&sends_[process.index()], &recvs_[process.index()]}) {
      for (auto& [channel, list] : *ends) std::sort(list.begin(), list.end());
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
                          op.message.tag};
    ends[channel].push_back({run_.at(id).calls[op.posted.index()].enter, id, index});
    return 1;
  }

  void join(size_t sender) {
    for (const auto& [channel, sends] : sends_[sender]) {
      const Ends& other = recvs_[channel.destination.index()];
      const auto recvs = other.find(channel);
      if (recvs == other.end()) continue;
      const size_t matched = std::min(sends.size(), recvs->second.size());
      for (size_t i = 0; i < matched; ++i) link(sends[i], recvs->second[i]);
      counts_[sender].matched += matched;
    }
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

/// The calls of a matched message, whichever side asks.
struct Message {
  const Call *send_posted, *send_completed, *recv_posted, *recv_completed;
  bool late_sender, late_receiver;
};

Message message_of(const Run& run, LocationId sender, const SendOp& send, LocationId receiver,
                   const RecvOp& recv) {
  const auto call = [&](LocationId id, CallIndex index) {
    return index.valid() ? &run.at(id).calls[index.index()] : nullptr;
  };
  Message m{call(sender, send.posted),
            call(sender, send.completed),
            call(receiver, recv.posted),
            call(receiver, recv.completed),
            false,
            false};
  m.late_sender = recv.may_wait && m.send_posted->enter > m.recv_completed->enter;
  m.late_receiver = send.may_wait && m.send_completed != nullptr &&
                    m.recv_posted->enter > m.send_completed->enter &&
                    m.send_completed->leave > m.recv_posted->enter;
  return m;
}

void visit_recvs(const Run& run, LocationId id, Findings& found) {
  for (const RecvOp& recv : run.at(id).recvs) {
    if (!recv.partner.valid()) continue;
    const SendOp& send = run.at(recv.partner).sends[recv.partner_op];
    const Message m = message_of(run, recv.partner, send, id, recv);
    if (m.late_sender) {
      found.wait(pattern("mpi.late_sender"), m.recv_completed->path, m.recv_completed->enter,
                 m.recv_completed->leave, m.send_posted->enter, recv.partner, m.send_posted->enter);
      found.sync({m.recv_completed->enter, m.recv_completed->leave, recv.partner,
                  m.send_posted->leave, GroupId::none(), 0});
    }
    if (m.late_receiver) {
      found.sync({m.recv_posted->enter, m.recv_posted->leave, recv.partner, m.send_completed->leave,
                  GroupId::none(), 0});
    }
  }
}

void visit_sends(const Run& run, LocationId id, Findings& found) {
  for (const SendOp& send : run.at(id).sends) {
    if (!send.partner.valid()) continue;
    const RecvOp& recv = run.at(send.partner).recvs[send.partner_op];
    const Message m = message_of(run, id, send, send.partner, recv);
    if (m.late_receiver) {
      found.wait(pattern("mpi.late_receiver"), m.send_completed->path, m.send_completed->enter,
                 m.send_completed->leave, m.recv_posted->enter, send.partner, m.recv_posted->enter);
      found.sync({m.send_completed->enter, m.send_completed->leave, send.partner,
                  m.recv_posted->leave, GroupId::none(), 0});
    }
    if (m.late_sender) {
      found.sync({m.send_posted->enter, m.send_posted->leave, send.partner, m.recv_completed->leave,
                  GroupId::none(), 0});
    }
  }
}

}  // namespace

void detect_point_to_point(Run& run, unsigned threads, Detection& out) {
  Matcher(run).match(threads, out.losses);
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    visit_recvs(run, id, out.at(id));
    visit_sends(run, id, out.at(id));
  });
}

}  // namespace culprit::replay
