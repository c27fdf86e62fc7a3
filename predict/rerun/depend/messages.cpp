// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Messages. What completes a receive, by waiting or by testing, comes after the enter of the send.
// A send that is handed over only when its receiver is there (a synchronous or large one) completes
// after the receive's posting. Which sends are, the trace does not tell: those that were seen to
// last until then, and all that are larger than every message whose send returned before its
// receive was posted.
#include <algorithm>
#include <memory>
#include <mutex>

#include "predict/rerun/depend/progress.h"
#include "predict/rerun/dependences.h"
#include "replay/match/find_probed.h"
#include "replay/match/messages.h"

namespace culprit::predict {

namespace {

using replay::Call;
using replay::CallRef;
using replay::MatchedMessage;
using replay::Run;

/// A send and the receive that may hold it back.
struct Held {
  Moment posted, completed;
  uint32_t bytes;
  bool seen;  ///< to last until the receive was posted
};

/// What all processes have in common.
struct Found {
  std::mutex mutex;
  Dependences& dependences;
  std::vector<Held> held;
  Progress of_receives, of_sends;
  uint32_t eager = 0;               ///< bytes of the largest message whose send did not wait for it
  uint32_t held_back = UINT32_MAX;  ///< of the smallest that was seen to
};

Moment moment_in(LocationId location, const Call& call, Time time) {
  return {location, std::clamp(time, call.enter, call.leave), call.enter};
}

/// The messages that one process received.
class Receipts final : public replay::MessageVisitor {
 public:
  Receipts(const Run& run, ProcessId process, Found& all)
      : run_(run), all_(all), probes_(run, process) {}

  void visit(const MatchedMessage& message) override {
    const replay::SentMessage& sent = message.sent;
    const CallRef completed_ref = run_.ref(message.receiver, message.recv.completed);
    const Call completed = run_.call(completed_ref);
    own_.edge({sent.met_at, sent.met.enter, sent.met.enter},
              moment_in(completed_ref.location, completed, sent.met.enter), GateKind::message);
    probes_.received(message);
    add_progress(message, completed_ref);
    if (!sent.completed_at.valid() || !sent.may_wait) return;
    const CallRef posted_ref = run_.ref(message.receiver, message.recv.posted);
    const Time posted = run_.call(posted_ref).enter;
    const Call& sending = sent.completed;
    if (sending.leave <= posted) eager_ = std::max(eager_, message.recv.bytes);
    const bool seen = posted > sending.enter && posted < sending.leave;
    if (seen) held_back_ = std::min(held_back_, message.recv.bytes);
    if (sent.completed_at == posted_ref.location) return;
    held_.push_back({{posted_ref.location, posted, posted},
                     moment_in(sent.completed_at, sending, posted),
                     message.recv.bytes,
                     seen});
  }

  void finish() override {
    probes_.finish([&](const replay::FoundProbe& found) {
      own_.edge({found.sender, found.sent.enter, found.sent.enter},
                moment_in(found.location, found.call, found.sent.enter));
    });
    const std::lock_guard lock(all_.mutex);
    all_.dependences.append(std::move(own_));
    all_.of_receives.append(std::move(of_receives_));
    all_.of_sends.append(std::move(of_sends_));
    all_.held.insert(all_.held.end(), held_.begin(), held_.end());
    all_.eager = std::max(all_.eager, eager_);
    all_.held_back = std::min(all_.held_back, held_back_);
  }

 private:
  /// Each side, where the other began without waiting, and waited later.
  void add_progress(const MatchedMessage& message, const CallRef& completed_ref) {
    const replay::SentMessage& sent = message.sent;
    const CallRef posted_ref = run_.ref(message.receiver, message.recv.posted);
    const Call posted = run_.call(posted_ref), completed = run_.call(completed_ref);
    if (!sent.completed_at.valid() || sent.completed_at == completed_ref.location) return;
    const Time both = std::max(sent.met.enter, posted.enter);
    if (sent.met.leave < sent.completed.enter) {
      of_receives_.add(completed_ref.location, completed, both, sent.completed_at, sent.completed,
                       message.recv.bytes);
    }
    // Who posts a receive of a message that is there already takes it at once.
    if (sent.may_wait && posted.leave < completed.enter && posted.enter < sent.met.enter) {
      of_sends_.add(sent.completed_at, sent.completed, both, completed_ref.location, completed,
                    message.recv.bytes);
    }
  }

  const Run& run_;
  Found& all_;
  replay::ProbeFinder probes_;
  Dependences own_;
  std::vector<Held> held_;
  Progress of_receives_, of_sends_;
  uint32_t eager_ = 0, held_back_ = UINT32_MAX;
};

}  // namespace

void add_messages(const Run& run, unsigned threads, Dependences& found) {
  Found all{{}, found, {}, {}, {}};
  Losses told;  // the detectors tell of them
  replay::match_messages(
      run, threads,
      [&](ProcessId process) { return std::make_unique<Receipts>(run, process, all); }, told);
  for (const Held& held : all.held) {
    const bool large = held.bytes > all.eager && held.bytes >= all.held_back;
    if (held.seen || large) found.edge(held.posted, held.completed, GateKind::message);
  }
  all.of_receives.write(found);
  all.of_sends.write(found);
}

}  // namespace culprit::predict
