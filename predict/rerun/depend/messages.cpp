// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Messages. What completes a receive, by waiting or by testing, comes after the enter of the send.
// A send that is handed over only when its receiver is there completes after the receive's posting.
// Such sends are, first, the synchronous ones, by their names. For others the run itself has
// evidence: sends that were seen to last until then, and all of at least their size that are larger
// than every message whose send returned before its receive was posted. Without evidence, the usual
// limits of MPI libraries decide: very large messages wait, and small ones never do. In between it
// is unknown; then a send is assumed not to wait, and counted.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/ranks/agree.h"
#include "base/ranks/exchange.h"
#include "predict/rerun/depend/routes.h"
#include "predict/rerun/dependences.h"
#include "replay/detect/find_probed.h"
#include "replay/match/messages.h"
#include "trace/mpi_calls.h"

namespace culprit::predict {

namespace {

using replay::Call;
using replay::CallRef;
using replay::MatchedMessage;
using replay::Run;
using trace::MpiTrait;

/// Messages of this size are handed over only when the receiver is there, on one node and between
/// nodes, unless a run shows otherwise: about the largest limit that Open MPI and MPICH set
/// themselves. (On one node Open MPI 4.1 has 4 KiB, MPICH 4.0 8 KiB.)
constexpr std::array<uint64_t, 2> kHandedOver = {64 << 10, 256 << 10};
/// Those of up to this size never are.
constexpr uint64_t kSmall = 4096;

/// A send and the receive that may hold it back.
struct SenderState {
  Moment posted, completed;
  Delivery delivery;
  bool known;  ///< a synchronous one, or seen to last until the receive was posted
  bool seen;   ///< an ordinary one whose call lasted until then
  bool tells;  ///< is known to be an ordinary one: others may be like it
  bool far() const { return delivery.far_hops > 0; }
};

/// When an event came that a call waited for: only the last such event explains how long the call
/// lasted.
struct Arrival {
  LocationId location;
  Time call;  ///< its enter
  Time time;
  auto operator<=>(const Arrival&) const = default;
};

/// The evidence from ordinary sends, on one node or between nodes.
struct EagerEvidence {
  uint64_t eager = 0;               ///< bytes of the largest message whose send did not wait for it
  uint64_t held_back = UINT64_MAX;  ///< of the smallest that was seen to

  void add(const EagerEvidence& other) {
    eager = std::max(eager, other.eager);
    held_back = std::min(held_back, other.held_back);
  }
};

/// The send mode that a call's name implies.
enum class SendMode : uint8_t {
  ordinary,
  synchronous,
  either,  ///< MPI_Start where the program has made synchronous ones: which it starts is unknown
};

/// The findings of all processes together.
struct Found {
  std::mutex mutex;
  Dependences& dependences;
  const Routes& routes;
  std::vector<SendMode> modes;  ///< by RegionId: of sends by this call
  std::vector<SenderState> held;
  std::vector<Arrival> came;
  std::array<EagerEvidence, 2> seen;  ///< as kHandedOver
};

Moment moment_in(LocationId location, const Call& call, Time time) {
  return {location, std::clamp(time, call.enter, call.leave), call.enter};
}

/// Which messages' sends are kept as SenderState. Small ones are most of all there are, and of no
/// interest unless it turns out that the library holds back small ones, too: then they are gone
/// through once more.
enum class Sends : uint8_t { all_but_small, small };

/// The messages that one process received.
class Receipts final : public replay::MessageVisitor {
 public:
  Receipts(const Run& run, ProcessId process, Sends sends, Found& all)
      : run_(run),
        sends_(sends),
        all_(all),
        probes_(run, process),
        own_(part_of(all.dependences)) {}

  void visit(const MatchedMessage& message) override {
    if (sends_ == Sends::small) return hold_send(message);
    const replay::SentMessage& sent = message.sent;
    const CallRef completed_ref = run_.ref(message.receiver, message.recv.completed);
    const Call completed = run_.call(completed_ref);
    own_.edge({sent.met_at, sent.met.enter, sent.met.enter},
              moment_in(completed_ref.location, completed, sent.met.enter), delivery_of(message));
    if (const auto polled = probes_.received(message)) {
      look_at_tests(polled->location, polled->stretch.begin, completed, sent.met_at, sent.met);
    }
    hold_send(message);
    if (sent.met.enter > completed.enter) {
      // If a message and a receiver come at the same time, the message was waited for.
      came_.push_back(
          {completed_ref.location, completed.enter, sent.met.enter + Duration::from_nanos(1)});
    }
  }

  void finish() override {
    if (sends_ == Sends::small) {
      const std::lock_guard lock(all_.mutex);
      all_.held.insert(all_.held.end(), held_.begin(), held_.end());
      return;
    }
    probes_.finish([&](const replay::FoundProbe& found) {
      own_.edge({found.sender, found.sent.enter, found.sent.enter},
                moment_in(found.location, found.call, found.sent.enter));
      if (found.probe.waits) return;
      look_at_tests(found.location, found.probe.polled_since, found.call, found.sender, found.sent);
    });
    wait_in_loops();
    const std::lock_guard lock(all_.mutex);
    all_.dependences.append(std::move(own_));
    all_.held.insert(all_.held.end(), held_.begin(), held_.end());
    all_.came.insert(all_.came.end(), came_.begin(), came_.end());
    for (size_t i = 0; i < seen_.size(); ++i) all_.seen[i].add(seen_[i]);
  }

 private:
  Delivery delivery_of(const MatchedMessage& message) const {
    return all_.routes.message(message.sent.met_at, message.receiver, message.recv.bytes);
  }

  /// A message that was tested for, and when that was done for the first time.
  struct Polled {
    LocationId at, sender;
    Time begin, sent;
    CallPathId test;
  };

  /// Unless its tests interrupt work, its receiver had nothing else to do from the first on.
  void look_at_tests(LocationId at, Time first_test, const Call& success, LocationId sender,
                     const Call& sent) {
    const Time end = std::min(sent.enter, success.leave);
    if (first_test >= end || at == sender) return;
    switch (judge_polling(run_, at, first_test, success)) {
      case PollingLoop::waits:
        return polled_.push_back({at, sender, first_test, end, success.path});
      case PollingLoop::works:
        return working_.push_back(success.path);
      case PollingLoop::unclear:
        return;
    }
  }

  void wait_in_loops() {
    std::sort(working_.begin(), working_.end());
    for (const Polled& loop : polled_) {
      if (std::binary_search(working_.begin(), working_.end(), loop.test)) continue;
      own_.idle.push_back({loop.at, loop.begin, loop.sent});
      own_.edge({loop.sender, loop.sent, loop.sent}, {loop.at, loop.sent, loop.begin});
    }
  }

  void hold_send(const MatchedMessage& message) {
    const replay::SentMessage& sent = message.sent;
    if (!sent.completed_at.valid() || !sent.may_wait) return;
    const CallRef posted_ref = run_.ref(message.receiver, message.recv.posted);
    const Time posted = run_.call(posted_ref).enter;
    const Call& sending = sent.completed;
    const bool held = posted > sending.enter && posted < sending.leave;
    const SendMode mode = mode_of(sent.met.path);
    const Delivery delivery = delivery_of(message);
    if (mode == SendMode::ordinary && sending.leave <= posted) {
      EagerEvidence& seen = seen_[delivery.far_hops];
      seen.eager = std::max(seen.eager, delivery.bytes);
    }
    if (sent.completed_at == posted_ref.location || sending.leave <= posted) return;
    const bool small = mode == SendMode::ordinary && !held && delivery.bytes <= kSmall;
    if (small != (sends_ == Sends::small)) return;
    held_.push_back({{posted_ref.location, posted, posted},
                     moment_in(sent.completed_at, sending, posted),
                     delivery,
                     mode == SendMode::synchronous,
                     held && mode != SendMode::synchronous,
                     mode == SendMode::ordinary});
  }

  SendMode mode_of(CallPathId path) const {
    const RegionId region = run_.callpaths[path].region;
    return region.valid() ? all_.modes[region.index()] : SendMode::ordinary;
  }

  const Run& run_;
  const Sends sends_;
  Found& all_;
  replay::ProbeFinder probes_;
  Dependences own_;
  std::vector<SenderState> held_;
  std::vector<Arrival> came_;
  std::array<EagerEvidence, 2> seen_;
  std::vector<Polled> polled_;
  std::vector<CallPathId> working_;  ///< tests that interrupt work
};

/// Whether each of these was the last that came to its call; `came`: to calls of this rank. A call
/// is judged where its location is. Collective.
std::vector<uint8_t> were_last(const Run& run, const std::vector<Arrival>& asked,
                               std::vector<Arrival> came) {
  std::vector<Column<Arrival>> questions(run.ranks->size());
  for (const Arrival& one : asked) questions[run.owner(one.location)].push_back(one);
  questions = exchange(*run.ranks, std::move(questions));
  for (const Column<Arrival>& list : questions) came.insert(came.end(), list.begin(), list.end());
  std::sort(came.begin(), came.end());
  std::vector<Column<uint8_t>> answers(questions.size());
  for (size_t r = 0; r < questions.size(); ++r) {
    for (const Arrival& one : questions[r]) {
      const auto later = std::upper_bound(came.begin(), came.end(), one);
      const bool is_last =
          later == came.end() || later->location != one.location || later->call != one.call;
      answers[r].push_back(is_last ? 1 : 0);
    }
  }
  answers = exchange(*run.ranks, std::move(answers));
  std::vector<size_t> next(answers.size());
  std::vector<uint8_t> last;
  for (const Arrival& one : asked) {
    const size_t owner = run.owner(one.location);
    last.push_back(answers[owner][next[owner]++]);
  }
  return last;
}

/// Judges the evidence of all ranks. A call that waits for several events lasts until the last of
/// them, so it is evidence for that one only. Collective.
void judge_seen(const Run& run, Found& all) {
  std::vector<Arrival> asked;
  for (const SenderState& held : all.held) {
    if (!held.seen) continue;
    asked.push_back({held.completed.location, held.completed.call, held.completed.time});
  }
  if (any(*run.ranks, !asked.empty())) {
    const std::vector<uint8_t> known = were_last(run, asked, std::move(all.came));
    auto next = known.begin();
    for (SenderState& held : all.held) {
      if (!held.seen) continue;
      held.known = *next++ != 0;
      if (!held.known || !held.tells) continue;
      EagerEvidence& seen = all.seen[held.far() ? 1 : 0];
      seen.held_back = std::min(seen.held_back, held.delivery.bytes);
    }
  }
  for (EagerEvidence& seen : all.seen) {
    seen = reduce(*run.ranks, seen, [](EagerEvidence a, const EagerEvidence& b) {
      a.add(b);
      return a;
    });
  }
}

enum class SendCompletion : uint8_t { at_once, when_there, unknown };

SendCompletion handing_of(const SenderState& held, const EagerEvidence& seen) {
  if (held.known) return SendCompletion::when_there;
  const uint64_t bytes = held.delivery.bytes;
  const uint64_t limit = std::min(seen.held_back, kHandedOver[held.far() ? 1 : 0]);
  if (held.tells && bytes <= seen.eager) return SendCompletion::at_once;
  if (held.tells && bytes <= kSmall && bytes < seen.held_back) return SendCompletion::at_once;
  return bytes >= limit ? SendCompletion::when_there : SendCompletion::unknown;
}

std::vector<SendMode> modes_of(const Run& run) {
  bool makes_synchronous = false;  // traces may define functions that are never called
  for (size_t i = 0; i < run.callpaths.size(); ++i) {
    const RegionId region = run.callpaths[CallPathId(i)].region;
    if (!region.valid()) continue;
    const trace::MpiCall* const call = trace::mpi_call(run.regions[region.index()]);
    makes_synchronous |=
        call != nullptr && call->is(MpiTrait::synchronous) && call->is(MpiTrait::persistent);
  }
  std::vector<SendMode> modes;
  for (const trace::Region& region : run.regions) {
    const bool starts = trace::is_mpi_call(region, MpiTrait::starts);
    const bool synchronous = trace::is_mpi_call(region, MpiTrait::synchronous);
    modes.push_back(synchronous                   ? SendMode::synchronous
                    : starts && makes_synchronous ? SendMode::either
                                                  : SendMode::ordinary);
  }
  return modes;
}

}  // namespace

void add_messages(const Run& run, unsigned threads, Dependences& found) {
  const Routes routes(run);
  Found all{{}, found, routes, modes_of(run), {}, {}, {}};
  Losses told;  // counted by the detectors already
  const auto go_through = [&](Sends sends) {
    replay::match_messages(
        run, threads,
        [&](ProcessId process) { return std::make_unique<Receipts>(run, process, sends, all); },
        told);
  };
  go_through(Sends::all_but_small);
  judge_seen(run, all);
  if (std::min(all.seen[0].held_back, all.seen[1].held_back) <= kSmall) go_through(Sends::small);
  for (const SenderState& held : all.held) {
    switch (handing_of(held, all.seen[held.far() ? 1 : 0])) {
      case SendCompletion::at_once:
        break;
      case SendCompletion::when_there:
        found.edge(held.posted, held.completed, held.delivery);
        break;
      case SendCompletion::unknown:
        found.unknowns.add({1, held.delivery.bytes, held.delivery.bytes, 0, {}});
        break;
    }
  }
}

}  // namespace culprit::predict
