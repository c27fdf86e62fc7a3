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

#include "base/parallel.h"
#include "replay/detection.h"

namespace culprit::replay {

namespace {

/// One end of a message, sortable so that the ends of one channel meet in order.
struct End {
  CommId comm;
  ProcessId source, destination;
  int32_t tag;
  Time posted;
  LocationId location;
  uint32_t op;

  auto channel() const { return std::tie(comm, source, destination, tag); }
  bool operator<(const End& o) const {
    return std::tie(comm, source, destination, tag, posted, location, op) <
           std::tie(o.comm, o.source, o.destination, o.tag, o.posted, o.location, o.op);
  }
};

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

/// Calls op(location, sends or recvs index) for every completed or sent operation.
template <class Ops, class Take>
void collect(const Run& run, const Ops& ops_of, const Take& take, std::vector<End>& ends,
             Losses& losses) {
  for (LocationId id : run.locations) {
    const Timeline& line = run.at(id);
    const ProcessId self = run.location(id).process;
    const auto& ops = ops_of(line);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!ops[i].completed.valid() && !take(ops[i])) continue;
      const ProcessId peer = peer_process(run, self, ops[i].message);
      if (!peer.valid()) {
        losses.add("messages_with_unknown_peer", Severity::data_loss,
                   "these messages name a rank that their communicator does not have");
        continue;
      }
      ends.push_back({ops[i].message.comm, self, peer, ops[i].message.tag,
                      line.calls[ops[i].posted.index()].enter, id, static_cast<uint32_t>(i)});
    }
  }
}

class Matcher {
 public:
  Matcher(Run& run, Losses& losses) : run_(run), losses_(losses) {}

  void match() {
    std::vector<End> sends, recvs;
    collect(
        run_, [](const Timeline& line) -> auto& { return line.sends; },
        [](const SendOp&) { return true; }, sends, losses_);
    collect(
        run_, [](const Timeline& line) -> auto& { return line.recvs; },
        [](const RecvOp&) { return false; }, recvs, losses_);
    for (End& recv : recvs) std::swap(recv.source, recv.destination);
    std::sort(sends.begin(), sends.end());
    std::sort(recvs.begin(), recvs.end());
    join(sends, recvs);
  }

 private:
  void join(const std::vector<End>& sends, const std::vector<End>& recvs) {
    uint64_t lone_sends = 0, lone_recvs = 0;
    size_t s = 0, r = 0;
    while (s < sends.size() && r < recvs.size()) {
      if (sends[s].channel() < recvs[r].channel()) {
        ++lone_sends, ++s;
      } else if (recvs[r].channel() < sends[s].channel()) {
        ++lone_recvs, ++r;
      } else {
        const End& from = sends[s++];
        const End& to = recvs[r++];
        SendOp& send = run_.at(from.location).sends[from.op];
        RecvOp& recv = run_.at(to.location).recvs[to.op];
        send.partner = to.location, send.partner_op = to.op;
        recv.partner = from.location, recv.partner_op = from.op;
      }
    }
    losses_.add("unmatched_sends", Severity::warning,
                "messages whose receive is not in the trace: cancelled, never received, or their "
                "records were lost",
                lone_sends + (sends.size() - s));
    losses_.add("unmatched_receives", Severity::data_loss,
                "received messages whose send is not in the trace: waits in these receives are not "
                "explained",
                lone_recvs + (recvs.size() - r));
  }

  Run& run_;
  Losses& losses_;
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
  Matcher(run, out.losses).match();
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    visit_recvs(run, id, out.at(id));
    visit_sends(run, id, out.at(id));
  });
}

}  // namespace culprit::replay
