// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Late sender and late receiver, of messages that have been matched.
//
//   late sender    a call that completes a receive waits for the enter of the send; of a
//                  partitioned one, of the call that hands over the last partition
//   late receiver  a call that completes a send waits for the enter of the receive's posting, if
//                  the call ends only after that: an eager send returns earlier and did not wait
//
// Both from the thesis, section 2.4.1 (figures 2.3 and 2.4). Whether a send was synchronous cannot
// be known; a send that overlaps its receive's posting by chance is taken for one.
#include "base/parallel.h"
#include "replay/detection.h"
#include "replay/match_messages.h"

namespace culprit::replay {

namespace {

/// The calls of a matched message, whichever side asks.
struct Message {
  CallRef sent, send_completed, recv_posted, recv_completed;
  bool late_sender = false, late_receiver = false;
};

Message message_of(const Run& run, const SendOp& send, const RecvOp& recv) {
  Message m{send.ready.valid() ? send.ready : send.posted, send.completed, recv.posted,
            recv.completed};
  const Call& recv_completed = run.call(m.recv_completed);
  m.late_sender = recv.may_wait && run.call(m.sent).enter > recv_completed.enter;
  if (!m.send_completed.valid()) return m;
  const Call& send_completed = run.call(m.send_completed);
  const Time posted = run.call(m.recv_posted).enter;
  m.late_receiver = send.may_wait && posted > send_completed.enter && send_completed.leave > posted;
  return m;
}

/// What one process found. Its calls may be those of any of its locations.
class Visitor {
 public:
  Visitor(const Run& run, Detection& out) : run_(run), out_(out) {}

  void visit_recvs(LocationId id) {
    for (const RecvOp& recv : run_.at(id).recvs) {
      if (!recv.partner.valid()) continue;
      const Message m = message_of(run_, run_.at(recv.partner).sends[recv.partner_op], recv);
      if (m.late_sender) {
        wait(pattern("mpi.late_sender"), m.recv_completed, m.sent);
        sync(m.recv_completed, m.sent);
      }
      if (m.late_receiver) sync(m.recv_posted, m.send_completed);
    }
  }

  void visit_sends(LocationId id) {
    for (const SendOp& send : run_.at(id).sends) {
      if (!send.partner.valid()) continue;
      const Message m = message_of(run_, send, run_.at(send.partner).recvs[send.partner_op]);
      if (m.late_receiver) {
        wait(pattern("mpi.late_receiver"), m.send_completed, m.recv_posted);
        sync(m.send_completed, m.recv_posted);
      }
      if (m.late_sender) sync(m.sent, m.recv_completed);
    }
  }

 private:
  void wait(Pattern found, CallRef waiter, CallRef cause) {
    const Call& call = run_.call(waiter);
    const Time until = run_.call(cause).enter;
    out_.at(waiter.location)
        .wait(found, call.path, call.enter, call.leave, until, cause.location, until);
  }
  void sync(CallRef own, CallRef partner) {
    const Call& call = run_.call(own);
    out_.at(own.location)
        .sync({call.enter, call.leave, partner.location, run_.call(partner).leave, GroupId::none(),
               0});
  }

  const Run& run_;
  Detection& out_;
};

}  // namespace

void detect_point_to_point(Run& run, unsigned threads, Detection& out) {
  match_messages(run, threads, out.losses);
  const auto& processes = run.definitions->processes;
  parallel_for(processes.size(), threads, [&](size_t p) {
    Visitor visitor(run, out);
    for (LocationId id : processes[p].locations) {
      visitor.visit_recvs(id);
      visitor.visit_sends(id);
    }
  });
}

}  // namespace culprit::replay
