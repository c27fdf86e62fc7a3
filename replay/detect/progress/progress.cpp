// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits for progress (replay/match/progress/progress.h), of operations that other detectors have
// found. It runs after them, because it needs all other waits of a call.
//
// A call waits until the last return of a process that it needed, if that is later than all else
// that it waited for. First the evidence of all calls is collected by class, then it is judged
// which classes need progress, and then each call of these classes gets its waits.
#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "replay/detect/detection.h"

namespace culprit::replay {

namespace {

/// The judgement on all operations of a class together.
struct Judged {
  std::vector<HeldUp> held;
  uint64_t freed = 0;
  Need need = Need::none;
};
using Classes = std::map<ProgressClass, Judged>;

/// The operations that one call of one location completes, and the time from which it waited only
/// for them.
struct WaitingCall {
  std::span<const Assisted> operations;
  Time since;
};

class WaitingCalls {
 public:
  WaitingCalls(const Detection& out, LocationWaits& at) : out_(out), at_(at) {
    std::sort(at.assisted.begin(), at.assisted.end(), [](const Assisted& a, const Assisted& b) {
      return std::tie(a.call.enter, a.begun, a.who, a.kind) <
             std::tie(b.call.enter, b.begun, b.who, b.kind);
    });
    for (const Assisted& one : at.assisted) late_.emplace(one.call.enter, one.call.enter);
    for (const Wait& wait : at.waits) {
      const auto found = late_.find(wait.begin);
      if (found != late_.end()) found->second = std::max(found->second, wait.end);
    }
  }

  template <class Visit>
  void for_each(const Visit& visit) const {
    const std::span<const Assisted> all = at_.assisted;
    for (size_t i = 0, end; i < all.size(); i = end) {
      const bool asks = all[i].asked != Time::max();
      WaitingCall call{{}, asks ? all[i].asked : late_.at(all[i].call.enter)};
      for (end = i; end < all.size() && all[end].call.enter == all[i].call.enter; ++end) {
        call.since = std::max(call.since, all[end].begun);
      }
      call.operations = all.subspan(i, end - i);
      visit(call);
    }
  }

  /// Null: no other process was silent for long and then came back.
  const Silence* last_return(const WaitingCall& call, const Assisted& one) const {
    return replay::last_return(one, call.since, out_.evidence.usual_time(one.kind), *out_.silences);
  }

 private:
  const Detection& out_;
  LocationWaits& at_;
  std::map<Time, Time> late_;  ///< by enter: until when the call waited for somebody to begin
};

/// Adds the evidence of one location's calls to the classes.
void add_held(const Detection& out, LocationWaits& at, Classes& classes) {
  const WaitingCalls calls(out, at);
  calls.for_each([&](const WaitingCall& call) {
    const Assisted* last = nullptr;
    const Silence* latest = nullptr;
    for (const Assisted& one : call.operations) {
      const Duration tau = out.evidence.usual_time(one.kind);
      if (silent_at_end(one, call.since, tau, *out.silences)) ++classes[one.kind].freed;
      const Silence* back = calls.last_return(call, one);
      if (back == nullptr || (latest != nullptr && latest->end >= back->end)) continue;
      latest = back, last = &one;
    }
    if (last == nullptr) return;
    const Time leave = last->call.leave;
    const Duration silence = latest->end - std::max(call.since, last->since());
    classes[last->kind].held.push_back(
        {last->kind, silence, leave - latest->end, leave - last->begun});
  });
}

/// Judges the classes of all ranks. Collective.
Classes judge_classes(const Run& run, const Classes& own, const Detection& out) {
  struct Freed {
    ProgressClass kind;
    uint64_t count;
  };
  std::vector<HeldUp> held;
  std::vector<Freed> freed;
  for (const auto& [kind, judged] : own) {
    held.insert(held.end(), judged.held.begin(), judged.held.end());
    if (judged.freed > 0) freed.push_back({kind, judged.freed});
  }
  Classes classes;
  for (const HeldUp& one : concatenate(*run.ranks, held)) classes[one.kind].held.push_back(one);
  for (const Freed& one : concatenate(*run.ranks, freed)) classes[one.kind].freed += one.count;
  for (auto& [kind, judged] : classes) {
    const Duration tau = out.evidence.usual_time(kind);
    judged.freed += out.evidence.freed(kind, tau + tau);
    judged.need = judge_need(judged.held, judged.freed, tau, out.evidence.slow_time(kind));
  }
  return classes;
}

/// Records the waits, gates and synchronisation points of one location.
class Teller {
 public:
  Teller(const Classes& classes, Detection& out, LocationId id, Outbox& box)
      : classes_(classes), out_(out), at_(out.at(id)), box_(box) {}

  /// Returns how much of the waiting is uncertain.
  Duration tell() {
    const WaitingCalls calls(out_, at_);
    std::vector<Assisted> gates;
    calls.for_each([&](const WaitingCall& call) {
      const Assisted* last = nullptr;
      const Silence* latest = nullptr;
      for (const Assisted& one : call.operations) {
        if (need(one) == Need::none) continue;
        gates.push_back(one);
        const Silence* back = calls.last_return(call, one);
        if (back == nullptr) continue;
        box_.meet(one.at, back->back, back->end);
        if (latest == nullptr || latest->end < back->end) latest = back, last = &one;
      }
      if (last != nullptr) wait(*last, *latest);
    });
    for (const Assisted& one : gates) add_gate(one);
    return suspected_;
  }

 private:
  Need need(const Assisted& one) const {
    const auto found = classes_.find(one.kind);
    return found == classes_.end() ? Need::none : found->second.need;
  }

  void wait(const Assisted& one, const Silence& silence) {
    const bool polled = one.asked != Time::max();
    const Pattern found = polled ? pattern("mpi.polling") : pattern("mpi.progress");
    const Time begin = one.waits_from();
    at_.wait(found, one.call.path, begin, one.call.leave, silence.end, silence.back);
    if (need(one) == Need::suspected && !polled) suspected_ += silence.end - begin;
  }

  /// Also for a call that came later than the other process: with another schedule it might wait.
  void add_gate(const Assisted& one) {
    const Silence* back = replay::last_return(one, one.since(), Duration::zero(), *out_.silences);
    if (back == nullptr) return;
    at_.progress_gates.push_back({one.call, back->end, back->back, one.bytes});
  }

  const Classes& classes_;
  Detection& out_;
  LocationWaits& at_;
  Outbox& box_;
  Duration suspected_;
};

}  // namespace

void detect_progress(Run& run, unsigned threads, Detection& out) {
  out.evidence.share(*run.ranks);
  std::vector<Classes> found(run.locations.size());
  parallel_for(run.locations.size(), threads,
               [&](size_t i) { add_held(out, out.at(run.locations[i]), found[i]); });
  Classes all;
  for (const Classes& some : found) {
    for (const auto& [kind, judged] : some) {
      Judged& to = all[kind];
      to.held.insert(to.held.end(), judged.held.begin(), judged.held.end());
      to.freed += judged.freed;
    }
  }
  const Classes classes = judge_classes(run, all, out);
  std::vector<Outbox> boxes(run.locations.size());
  std::vector<Duration> suspected(run.locations.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    suspected[i] = Teller(classes, out, run.locations[i], boxes[i]).tell();
    out.at(run.locations[i]).assisted.release();
  });
  Duration own;
  for (const Duration some : suspected) own += some;
  out.suspected = sum(*run.ranks, own);
  out.deliver(boxes, threads);
}

}  // namespace culprit::replay
