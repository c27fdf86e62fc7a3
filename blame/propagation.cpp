// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One walk over all waits from the latest to the earliest, scalars only, on one thread. Of several
// ranks, the first gets all waits, and gives back what it found.
#include "blame/propagation.h"

#include <algorithm>

#include "base/tournament.h"
#include "blame/range_sums.h"
#include "replay/exchange.h"

namespace culprit::blame {

namespace {

using replay::Run;
using replay::Wait;
using replay::WaitGraph;

/// The only rank's waits, as they lie.
class OwnWaits {
 public:
  OwnWaits(const WaitGraph& graph, std::vector<Column<WaitCause>>& causes)
      : graph_(graph), causes_(causes) {}

  size_t locations() const { return causes_.size(); }
  uint32_t count(size_t location) const { return static_cast<uint32_t>(causes_[location].size()); }
  Time end(WaitRef ref) const { return wait(ref).end; }
  Duration amount(WaitRef ref) const { return wait(ref).amount; }
  LocationId late(WaitRef ref) const { return wait(ref).cause; }
  WaitCause& cause(WaitRef ref) const { return causes_[ref.location.index()][ref.wait]; }
  void prefetch(WaitRef ref) const {
    __builtin_prefetch(&wait(ref));
    __builtin_prefetch(&cause(ref), 1);
  }

 private:
  const Wait& wait(WaitRef ref) const { return graph_.waits[ref.location.index()][ref.wait]; }
  const WaitGraph& graph_;
  std::vector<Column<WaitCause>>& causes_;
};

/// What matters of a wait here.
struct Link {
  Time end;
  Duration amount;
  LocationId location, late;
  WaitCause cause;
};

/// All ranks' waits, on the first.
class GatheredWaits {
 public:
  explicit GatheredWaits(size_t locations) : links_(locations) {}

  void add(const Link& link) { links_[link.location.index()].push_back(link); }

  size_t locations() const { return links_.size(); }
  uint32_t count(size_t location) const { return static_cast<uint32_t>(links_[location].size()); }
  Time end(WaitRef ref) const { return link(ref).end; }
  Duration amount(WaitRef ref) const { return link(ref).amount; }
  LocationId late(WaitRef ref) const { return link(ref).late; }
  WaitCause& cause(WaitRef ref) { return links_[ref.location.index()][ref.wait].cause; }
  const WaitCause& cause(WaitRef ref) const { return link(ref).cause; }
  void prefetch(WaitRef ref) const { __builtin_prefetch(&link(ref)); }

 private:
  const Link& link(WaitRef ref) const { return links_[ref.location.index()][ref.wait]; }
  std::vector<Column<Link>> links_;  // by LocationId
};

template <class Waits>
class Propagation {
 public:
  explicit Propagation(Waits& waits)
      : waits_(waits), left_(waits.locations()), latest_(waits.locations()) {
    inherited_.reserve(waits.locations());
    for (size_t id = 0; id < waits.locations(); ++id) {
      left_[id] = waits.count(id);
      inherited_.emplace_back(left_[id]);
      show_next(id);
    }
  }

  /// From the latest wait to the earliest, each hands on what it cannot explain itself.
  void propagate() {
    while (latest_.time() != Time::max()) {
      take_latest();
      if (ties_.size() > 1) sort_ties();
      for (const WaitRef ref : ties_) hand_on(ref);
    }
  }

 private:
  void show_next(size_t id);
  void take_latest();
  void sort_ties();
  size_t successor_of(WaitRef ref, Time end) const;
  void cut_circle(WaitRef ref);
  void hand_on(WaitRef ref);

  /// Earlier is later.
  static Time mirrored(Time time) { return Time::from_nanos(-time.nanos()); }

  Waits& waits_;
  std::vector<uint32_t> left_;        // by LocationId: waits that are not done
  EarliestOf latest_;                 // of them, by mirrored ends
  std::vector<RangeSums> inherited_;  // by LocationId: sums of the factors for its waits
  std::vector<WaitRef> ties_;         // those that end at one moment, by location
  std::vector<WaitRef> sorted_;
  std::vector<size_t> successor_;
  std::vector<uint32_t> predecessors_;
  std::vector<bool> done_;
};

/// Waits of a location do not overlap: the last is the latest.
template <class Waits>
void Propagation<Waits>::show_next(size_t id) {
  if (left_[id] == 0) return latest_.set(id, Time::max());
  latest_.set(id, mirrored(waits_.end({LocationId(id), left_[id] - 1})));
}

/// Of one location there can be one only.
template <class Waits>
void Propagation<Waits>::take_latest() {
  constexpr uint32_t kAhead = 4;
  ties_.clear();
  const Time time = latest_.time();
  do {
    const size_t id = latest_.member();
    ties_.push_back({LocationId(id), --left_[id]});
    if (left_[id] > kAhead) waits_.prefetch({LocationId(id), left_[id] - kAhead});
    show_next(id);
  } while (latest_.time() == time);
}

/// Where the last wait inside this one's interval stands among the ties, if it does.
template <class Waits>
size_t Propagation<Waits>::successor_of(WaitRef ref, Time end) const {
  const WaitCause& c = waits_.cause(ref);
  if (c.end_wait == c.first_wait) return SIZE_MAX;
  const WaitRef last{waits_.late(ref), c.end_wait - 1};
  if (waits_.end(last) != end) return SIZE_MAX;
  const auto found =
      std::lower_bound(ties_.begin(), ties_.end(), last.location,
                       [](WaitRef tie, LocationId location) { return tie.location < location; });
  const bool there =
      found != ties_.end() && found->location == last.location && found->wait == last.wait;
  return there ? static_cast<size_t>(found - ties_.begin()) : SIZE_MAX;
}

/// Among waits that end at one moment, the only one inside another's interval can be the last wait
/// there. So each has at most one successor, and following these chains from their heads is the
/// order.
template <class Waits>
void Propagation<Waits>::sort_ties() {
  const Time end = waits_.end(ties_.front());
  successor_.clear();
  for (size_t i = 0; i < ties_.size(); ++i) {
    const size_t next = successor_of(ties_[i], end);
    if (next == SIZE_MAX) continue;
    if (successor_.empty()) {
      successor_.assign(ties_.size(), SIZE_MAX);
      predecessors_.assign(ties_.size(), 0);
    }
    successor_[i] = next;
    ++predecessors_[next];
  }
  if (successor_.empty()) return;
  sorted_.clear();
  done_.assign(ties_.size(), false);
  for (size_t i = 0; i < ties_.size(); ++i) {
    for (size_t at = i; at != SIZE_MAX && !done_[at] && predecessors_[at] == 0;) {
      done_[at] = true;
      sorted_.push_back(ties_[at]);
      at = successor_[at];
      if (at != SIZE_MAX) --predecessors_[at];
    }
  }
  // What is left are circles, each waiting for the next: clocks lie. Any order is as good.
  for (size_t i = 0; i < ties_.size(); ++i) {
    for (size_t at = i; !done_[at]; at = successor_[at]) {
      done_[at] = true;
      sorted_.push_back(ties_[at]);
      if (successor_[at] == i) cut_circle(ties_[at]);
    }
  }
  ties_.swap(sorted_);
}

/// The last wait inside this one's interval comes before it in the order: what it were to inherit
/// would be lost. It is taken out of the interval.
template <class Waits>
void Propagation<Waits>::cut_circle(WaitRef ref) {
  WaitCause& c = waits_.cause(ref);
  --c.end_wait;
  c.waiting = Duration::zero();
  for (uint32_t i = c.first_wait; i < c.end_wait; ++i) {
    c.waiting += waits_.amount({waits_.late(ref), i});
  }
}

/// Until a wait's turn comes, its own long_s and propagating_s are sums of factors. The factors for
/// all waits inside an interval are added to a range at once.
template <class Waits>
void Propagation<Waits>::hand_on(WaitRef ref) {
  WaitCause& c = waits_.cause(ref);
  const RangeSums::Value factor =
      inherited_[ref.location.index()].at(ref.wait, {c.long_s, c.propagating_s});
  const double amount = waits_.amount(ref).seconds();
  c.long_s = amount * factor.sum;
  c.propagating_s = std::min(amount, amount * factor.largest);
  const double denominator = c.denominator_s();
  if (denominator <= 0) return;
  const LocationId late = waits_.late(ref);
  inherited_[late.index()].add(c.first_wait, c.end_wait,
                               {(amount + c.long_s) / denominator, amount / denominator},
                               [&](size_t i, RangeSums::Value by) {
                                 WaitCause& inner = waits_.cause({late, static_cast<uint32_t>(i)});
                                 inner.long_s += by.sum;
                                 inner.propagating_s = std::max(inner.propagating_s, by.largest);
                               });
}

/// Sends waits to the first rank, which propagates, and takes back what it found.
void propagate_gathered(const Run& run, const WaitGraph& graph,
                        std::vector<Column<WaitCause>>& causes) {
  replay::Transport& ranks = *run.ranks;
  std::vector<Column<Link>> links(ranks.size());
  for (LocationId id : run.locations) {
    for (size_t w = 0; w < graph.waits[id.index()].size(); ++w) {
      const Wait& wait = graph.waits[id.index()][w];
      links[0].push_back({wait.end, wait.amount, id, wait.cause, causes[id.index()][w]});
    }
  }
  links = replay::exchange(ranks, std::move(links));
  std::vector<Column<WaitCause>> answers(ranks.size());
  if (ranks.rank() == 0) {
    std::vector<Column<LocationId>> asked(ranks.size());
    GatheredWaits all(run.timelines.size());
    for (size_t r = 0; r < links.size(); ++r) {
      for (const Link& link : links[r]) {
        all.add(link);
        asked[r].push_back(link.location);
      }
      links[r].release();
    }
    Propagation(all).propagate();
    std::vector<uint32_t> next(run.timelines.size());
    for (size_t r = 0; r < asked.size(); ++r) {
      answers[r].reserve(asked[r].size());
      for (LocationId id : asked[r]) answers[r].push_back(all.cause({id, next[id.index()]++}));
    }
  }
  answers = replay::exchange(ranks, std::move(answers));
  const WaitCause* answer = answers[0].begin();
  for (LocationId id : run.locations) {
    for (WaitCause& cause : causes[id.index()]) cause = *answer++;
  }
}

}  // namespace

void propagate_waits(const Run& run, const WaitGraph& graph,
                     std::vector<Column<WaitCause>>& causes) {
  if (!run.ranks->alone()) return propagate_gathered(run, graph, causes);
  OwnWaits waits(graph, causes);
  Propagation(waits).propagate();
}

}  // namespace culprit::blame
