// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Late sender and late receiver, of messages that have been matched.
//
//   late sender    a call that completes a receive waits for the enter of the send; of a
//                  partitioned one, of the call that hands over the last partition
//   wrong order    a late sender, and meanwhile another message was on its way that had been sent
//                  earlier and was received only by a later call
//   refill         a late sender, and the message is the first of a sweep that has turned and comes
//                  from one corner; direction change: from several processes (sweep_fronts.h). A
//                  process that needs all messages of the front gains nothing from another order:
//                  these two take precedence over wrong order
//   probe          MPI_Probe waits for the enter of the send of the message it finds (ours)
//   polling        from the first test that found nothing to the enter of the send: reported
//                  and followed to its cause, but not counted as waiting (ours)
//   late receiver  a call that completes a send waits for the enter of the receive's posting, if
//                  the call ends only after that: an eager send returns earlier and did not wait
//
// A call that completes several messages, or a send and a receive, waits once, for the last of all
// that it had to wait for. Every other late one is a synchronisation point at its own moment.
//
// The others from the thesis, section 2.4.1 (figures 2.3 and 2.4). Small messages may have to wait
// for their receiver, too: Open MPI was seen to hold an MPI_Sendrecv of 800 bytes until then.
// Whether a send was synchronous cannot be known; a send that overlaps its receive's posting by
// chance is taken for a synchronous one.
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/merge_runs.h"
#include "base/parallel.h"
#include "replay/detect/detection.h"
#include "replay/detect/find_probed.h"
#include "replay/detect/message_use.h"
#include "replay/detect/progress/message_helpers.h"
#include "replay/detect/sweep_fronts.h"
#include "replay/match/messages.h"

namespace culprit::replay {

namespace {

/// A call that waited for a late message.
struct Late {
  LocationId at, sender;
  Call call;
  Time sent;
  CallPathId path;  ///< of the send
  CommId comm;
  MessageKind kind;
  bool leads;  ///< a sweep, perhaps
};
/// A late message that a sweep may explain, once the sweeps are known.
struct LateFront {
  Late late;
  Pattern otherwise;
};

void tell(Detection& out, Pattern found, const Late& late, ProcessId corner) {
  const Call& call = late.call;
  LocationWaits& waits = out.at(late.at);
  waits.wait(found, call.path, call.enter, call.leave, late.sent, late.sender);
  if (!corner.valid() && late.kind == MessageKind::data) return;
  waits.message({call.enter, std::min(late.sent, call.leave), late.sender, late.path, late.sender,
                 late.comm, corner, late.kind});
}

/// All messages that one process received.
class Receiver final : public MessageVisitor {
 public:
  /// The data that one receiver leaves behind.
  struct Left {
    Outbox others;
    std::vector<LateFront> fronts;
    std::vector<MessageTally> tallies;
  };

  Receiver(const Run& run, ProcessId process, SweepFronts& sweeps, Detection& out, Left& left)
      : run_(run),
        process_(process),
        sweeps_(sweeps),
        out_(out),
        left_(left),
        probes_(run, process),
        use_(run),
        helpers_(run, process, out, left.others) {}

  void visit(const MatchedMessage& message) override {
    const SentMessage& sent = message.sent;
    const CallRef completed_ref = run_.ref(message.receiver, message.recv.completed);
    const Call completed = run_.call(completed_ref);
    const MessageKind kind = use_.add(message, completed_ref.location, completed);
    sweeps_.received(run_, process_, message);
    received_.push_back({completed.enter, sent.met.enter});
    Time asked = Time::max();
    if (const auto found = probes_.received(message)) {
      polled(found->location, found->stretch);
      asked = found->stretch.begin;
    }
    helpers_.visit(message, asked);
    if (message.recv.may_wait && sent.met.enter > completed.enter) {
      const bool leads = sweeps_.possible() && message.recv.flow != MessageOp::kNoFlow;
      late_.push_back({completed_ref.location, sent.met_at, completed, sent.met.enter,
                       sent.met.path, message.recv.comm, kind, leads});
      meet(completed_ref.location, sent.met_at, std::min(sent.met.enter, completed.leave));
    }
    if (!sent.completed_at.valid() || !sent.may_wait) return;
    const CallRef posted_ref = run_.ref(message.receiver, message.recv.posted);
    const Call posted = run_.call(posted_ref);
    if (posted.enter <= sent.completed.enter || sent.completed.leave <= posted.enter) return;
    wait(sent.completed_at, pattern("mpi.late_receiver"), sent.completed, posted.enter,
         posted_ref.location);
    if (kind != MessageKind::data) {
      more(sent.completed_at, {.begin = sent.completed.enter,
                               .end = posted.enter,
                               .cause = posted_ref.location,
                               .sent = sent.met.path,
                               .sender = sent.met_at,
                               .comm = message.recv.comm,
                               .corner = {},
                               .kind = kind});
    }
    meet(sent.completed_at, posted_ref.location, posted.enter);
  }

  void finish() override {
    probes_.finish([&](const FoundProbe& found) { visit(found); });
    left_.tallies = use_.take();
    out_.add(helpers_.evidence());
    if (late_.empty()) return;
    sort_received();
    prefer_data();
    for (const Late& late : late_) {
      const bool order = earliest_received_after(late.call.leave) < late.sent;
      const Pattern found = order ? pattern("mpi.wrong_order") : pattern("mpi.late_sender");
      if (late.leads) {
        left_.fronts.push_back({late, found});
      } else {
        tell(out_, found, late, ProcessId::none());
      }
    }
  }

 private:
  struct Received {
    Time enter;  ///< of the completing call
    Time sent;
  };

  void visit(const FoundProbe& found) {
    const auto& [location, sender, probe, call, sent] = found;
    if (!probe.waits) {
      polled(location, {probe.polled_since, std::min(sent.enter, call.leave), call.path, sender});
    } else if (sent.enter > call.enter) {
      wait(location, pattern("mpi.probe"), call, sent.enter, sender);
      meet(location, sender, std::min(sent.enter, call.leave));
    }
  }

  void polled(LocationId at, const Polling& stretch) {
    if (stretch.begin >= stretch.end) return;
    out_.at(at).polling(stretch);
    meet(at, stretch.sender, stretch.end);
  }

  /// Sorts by time of receipt; then `sent` becomes the earliest send from that entry on.
  void sort_received() {
    merge_runs(received_.begin(), received_.end(),
               [](const Received& a, const Received& b) { return a.enter < b.enter; });
    for (size_t i = received_.size() - 1; i > 0; --i) {
      received_[i - 1].sent = std::min(received_[i - 1].sent, received_[i].sent);
    }
  }

  /// Where one call sent several messages that another waited for, prefers those with data: without
  /// the empty ones the wait would have been as long.
  void prefer_data() {
    const auto key = [](const Late& late) {
      return std::tuple(late.at, late.sender, late.call.enter, late.sent);
    };
    std::map<decltype(key(late_[0])), bool> has_data;
    for (const Late& late : late_) {
      if (late.kind != MessageKind::data) has_data.emplace(key(late), false);
    }
    if (has_data.empty()) return;
    for (const Late& late : late_) {
      if (late.kind != MessageKind::data) continue;
      if (const auto found = has_data.find(key(late)); found != has_data.end()) {
        found->second = true;
      }
    }
    for (Late& late : late_) {
      if (late.kind != MessageKind::data && has_data[key(late)]) late.kind = MessageKind::data;
    }
  }

  Time earliest_received_after(Time time) const {
    const auto next = std::lower_bound(received_.begin(), received_.end(), time,
                                       [](const Received& r, Time t) { return r.enter < t; });
    return next == received_.end() ? Time::max() : next->sent;
  }

  bool is_own(LocationId at) const { return run_.location(at).process == process_; }

  void wait(LocationId at, Pattern found, const Call& call, Time until, LocationId cause) {
    if (is_own(at)) {
      out_.at(at).wait(found, call.path, call.enter, call.leave, until, cause);
    } else {
      left_.others.wait(at, found, call, until, cause);
    }
  }
  void more(LocationId at, const MessageWait& what) {
    if (is_own(at)) {
      out_.at(at).message(what);
    } else {
      left_.others.message(at, what);
    }
  }
  void meet(LocationId a, LocationId b, Time moment) {
    sync(a, Sync::with(b, moment));
    sync(b, Sync::with(a, moment));
  }
  void sync(LocationId at, const Sync& point) {
    if (is_own(at)) {
      out_.at(at).sync(point);
    } else {
      left_.others.sync(at, point);
    }
  }

  const Run& run_;
  const ProcessId process_;
  SweepFronts& sweeps_;
  Detection& out_;
  Left& left_;
  ProbeFinder probes_;
  MessageUse use_;
  MessageHelpers helpers_;
  Column<Received> received_;
  Column<Late> late_;
};

/// A wait for the front of a sweep becomes a refill or a direction change, if the sweep has turned.
void tell_fronts(const SweepFronts& sweeps, ProcessId process, const std::vector<LateFront>& fronts,
                 Detection& out) {
  for (const auto& [late, otherwise] : fronts) {
    const SweepTurn turn = sweeps.turn(process, late.comm, received_at(late.call));
    const Pattern found = !turn.turned          ? otherwise
                          : turn.corner.valid() ? pattern("mpi.pipeline_refill")
                                                : pattern("mpi.direction_change");
    tell(out, found, late, turn.corner);
  }
}

}  // namespace

void detect_point_to_point(Run& run, unsigned threads, Detection& out) {
  std::vector<Receiver::Left> left(run.definitions->processes.size());
  SweepFronts sweeps(run, threads);
  match_messages(
      run, threads,
      [&](ProcessId process) {
        return std::make_unique<Receiver>(run, process, sweeps, out, left[process.index()]);
      },
      out.losses);
  sweeps.settle(run);
  parallel_for(left.size(), threads,
               [&](size_t p) { tell_fronts(sweeps, ProcessId(p), left[p].fronts, out); });
  std::vector<Outbox> others;
  for (Receiver::Left& of_process : left) {
    others.push_back(std::move(of_process.others));
    out.messages.insert(out.messages.end(), of_process.tallies.begin(), of_process.tallies.end());
  }
  out.deliver(others, threads);
}

}  // namespace culprit::replay
