// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One walk over all waits from the latest to the earliest, scalars only, on one thread (rarely a
// few walks). With several ranks, the first gets all waits, and returns the results.
#include "blame/delay/propagation.h"

#include <algorithm>
#include <utility>

#include "base/tournament.h"
#include "blame/delay/range_sums.h"
#include "replay/ranks/exchange.h"

namespace culprit::blame {

namespace {

using replay::Run;
using replay::Wait;
using replay::WaitGraph;

/// The ties of a wait, among those of its location: from the first to behind the last.
template <class Ties, class WaitOf>
std::pair<size_t, size_t> ties_of(const Ties& ties, uint32_t wait, const WaitOf& wait_of) {
  size_t low = 0, high = ties.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    wait_of(ties[middle]) < wait ? low = middle + 1 : high = middle;
  }
  while (high < ties.size() && wait_of(ties[high]) == wait) ++high;
  return {low, high};
}

/// The waits of a single rank, used in place.
class OwnWaits {
 public:
  OwnWaits(const WaitGraph& graph, DelayAnalysis& delays)
      : graph_(graph), causes_(delays.causes), tied_(delays.tied) {}

  size_t locations() const { return causes_.size(); }
  uint32_t count(size_t location) const {
    return static_cast<uint32_t>(graph_.waits[location].size());
  }
  /// Calls visit(late, amount, cause) for each tie of a wait.
  template <class Visit>
  void for_each_tie(WaitRef ref, const Visit& visit) const {
    const size_t id = ref.location.index();
    const auto [first, end] = ties_of(tied_[id], ref.wait, [](uint32_t wait) { return wait; });
    for (size_t i = first; i < end; ++i) {
      const Wait& tie = graph_.ties[id][i];
      visit(tie.cause, tie.amount, causes_[id][graph_.waits[id].size() + i]);
    }
  }
  Time end(WaitRef ref) const { return wait(ref).end; }
  Duration amount(WaitRef ref) const { return wait(ref).amount; }
  replay::Pattern pattern(WaitRef ref) const { return wait(ref).pattern; }
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
  const std::vector<Column<uint32_t>>& tied_;
};

/// The part of a wait that propagation needs.
struct Link {
  Time end;
  Duration amount;
  LocationId location, late;
  replay::Pattern pattern;
  WaitCause cause;
  uint32_t tied = kNoTie;  ///< of a tie, the wait
  static constexpr uint32_t kNoTie = UINT32_MAX;
};

/// The waits of all ranks, gathered on the first.
class GatheredWaits {
 public:
  explicit GatheredWaits(size_t locations) : links_(locations), ties_(locations) {}

  void add(const Link& link) {
    (link.tied == Link::kNoTie ? links_ : ties_)[link.location.index()].push_back(link);
  }
  template <class Visit>
  void for_each_tie(WaitRef ref, const Visit& visit) const {
    const Column<Link>& ties = ties_[ref.location.index()];
    const auto [first, end] = ties_of(ties, ref.wait, [](const Link& tie) { return tie.tied; });
    for (size_t i = first; i < end; ++i) visit(ties[i].late, ties[i].amount, ties[i].cause);
  }

  size_t locations() const { return links_.size(); }
  uint32_t count(size_t location) const { return static_cast<uint32_t>(links_[location].size()); }
  Time end(WaitRef ref) const { return link(ref).end; }
  Duration amount(WaitRef ref) const { return link(ref).amount; }
  replay::Pattern pattern(WaitRef ref) const { return link(ref).pattern; }
  LocationId late(WaitRef ref) const { return link(ref).late; }
  WaitCause& cause(WaitRef ref) { return links_[ref.location.index()][ref.wait].cause; }
  const WaitCause& cause(WaitRef ref) const { return link(ref).cause; }
  void prefetch(WaitRef ref) const { __builtin_prefetch(&link(ref)); }

 private:
  const Link& link(WaitRef ref) const { return links_[ref.location.index()][ref.wait]; }
  std::vector<Column<Link>> links_, ties_;  // by LocationId
};

/// Sweeps from the latest wait to the earliest. The waits that inherit from a wait mostly come
/// later in that order, because waits inside its interval end before it does. Where one does not
/// (it reaches beyond the interval's end, because tasks ran within it or clocks are wrong), its
/// inheritance is left for another sweep.
template <class Waits>
class Propagation {
 public:
  Propagation(Waits& waits, Followed followed)
      : waits_(waits),
        followed_(followed),
        left_(waits.locations()),
        done_from_(waits.locations()),
        latest_(waits.locations()) {
    start_sweep();
  }

  /// Each wait passes on the cost that it cannot explain itself. Cost that circulates endlessly is
  /// returned.
  PatternSums propagate() {
    sweep();
    for (size_t n = 0; n < kMostSweeps && !late_.empty(); ++n) {
      start_sweep();
      inherit_late();
      sweep();
    }
    PatternSums lost{};
    for (const Late& late : late_) {
      lost[static_cast<size_t>(waits_.pattern(late.wait))] +=
          late.factor * waits_.amount(late.wait).seconds();
    }
    return lost;
  }

 private:
  /// The cost that a wait inherits after its turn.
  struct Late {
    WaitRef wait;
    double factor;
  };
  static constexpr size_t kMostSweeps = 16;

  void start_sweep();
  void inherit_late();
  void sweep();
  void show_next(size_t id);
  void take_latest();
  void sort_ties();
  size_t successor_of(WaitRef ref, Time end) const;
  RangeSums::Value take_inherited(WaitRef ref);
  void hand_on(WaitRef ref);
  void hand_to(LocationId late, Duration amount, const WaitCause& cause, RangeSums::Value what);
  void give(WaitRef inner, Duration part, RangeSums::Value factor);
  void raise(WaitRef inner, RangeSums::Value by);
  void propagates(WaitCause& cause, Duration amount, double factor) const;

  /// Mirrors a time, so that an earlier time becomes a later one.
  static Time mirrored(Time time) { return Time::from_nanos(-time.nanos()); }

  double& sum_of(WaitCause& cause) const {
    return followed_ == Followed::waiting ? cause.long_s : cause.polling_s;
  }
  /// Returns the wait's own time, which it passes on.
  double own_s(WaitRef ref) const {
    const bool waiting = replay::counts_as_waiting(waits_.pattern(ref));
    const bool is_followed = waiting == (followed_ == Followed::waiting);
    return first_sweep_ && is_followed ? waits_.amount(ref).seconds() : 0;
  }

  Waits& waits_;
  const Followed followed_;
  std::vector<uint32_t>
      left_;  // by LocationId: the number of waits that are neither done nor being processed
  std::vector<uint32_t> done_from_;   // by LocationId: from there on they are done
  EarliestOf latest_;                 // of those left, by mirrored ends
  std::vector<RangeSums> inherited_;  // by LocationId: sums of the factors for its waits
  bool first_sweep_ = true;
  std::vector<Column<RangeSums::Value>> later_;  // the lowest level of these, in later sweeps
  std::vector<Late> late_;
  std::vector<WaitRef> ties_;  // those that end at one moment, by location
  std::vector<WaitRef> sorted_;
  std::vector<size_t> successor_;
  std::vector<uint32_t> predecessors_;
  std::vector<bool> done_;
};

template <class Waits>
void Propagation<Waits>::start_sweep() {
  inherited_.clear();
  inherited_.reserve(waits_.locations());
  for (size_t id = 0; id < waits_.locations(); ++id) {
    left_[id] = done_from_[id] = waits_.count(id);
    inherited_.emplace_back(left_[id]);
    show_next(id);
  }
}

template <class Waits>
void Propagation<Waits>::inherit_late() {
  first_sweep_ = false;
  later_.clear();
  later_.resize(waits_.locations());
  for (size_t id = 0; id < later_.size(); ++id) later_[id].resize(left_[id]);
  for (const Late& late : late_) {
    later_[late.wait.location.index()][late.wait.wait].sum += late.factor;
  }
  late_.clear();
}

template <class Waits>
void Propagation<Waits>::sweep() {
  while (latest_.time() != Time::max()) {
    take_latest();
    if (ties_.size() > 1) sort_ties();
    for (const WaitRef ref : ties_) hand_on(ref);
  }
}

/// Waits of a location do not overlap: the last is the latest.
template <class Waits>
void Propagation<Waits>::show_next(size_t id) {
  if (left_[id] == 0) return latest_.set(id, Time::max());
  latest_.set(id, mirrored(waits_.end({LocationId(id), left_[id] - 1})));
}

/// At most one wait per location can end at one moment.
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

/// Returns the position among `ties_` of the last wait inside this one's interval, if it is one of
/// them.
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
  // The remaining waits form circles, each waiting for the next, because clocks are wrong. Any
  // order will do.
  for (size_t i = 0; i < ties_.size(); ++i) {
    for (size_t at = i; !done_[at]; at = successor_[at]) {
      done_[at] = true;
      sorted_.push_back(ties_[at]);
    }
  }
  ties_.swap(sorted_);
}

/// Until a wait's turn comes in the first sweep, its own long_s and propagating_s are sums of
/// factors.
template <class Waits>
RangeSums::Value Propagation<Waits>::take_inherited(WaitRef ref) {
  const size_t id = ref.location.index();
  if (!first_sweep_) return inherited_[id].at(ref.wait, later_[id][ref.wait]);
  WaitCause& c = waits_.cause(ref);
  double largest = 0;
  if (followed_ == Followed::waiting) largest = std::exchange(c.propagating_s, 0.0);
  return inherited_[id].at(ref.wait, {std::exchange(sum_of(c), 0.0), largest});
}

/// The factors for all waits that lie wholly in an interval are added to a range at once.
template <class Waits>
void Propagation<Waits>::hand_on(WaitRef ref) {
  const RangeSums::Value factor = take_inherited(ref);
  done_from_[ref.location.index()] = ref.wait;
  WaitCause& c = waits_.cause(ref);
  const Duration amount = waits_.amount(ref);
  const double own = own_s(ref);
  const double inherited = amount.seconds() * factor.sum;
  sum_of(c) += inherited;
  propagates(c, amount, factor.largest);
  if (own + inherited == 0) return;
  const RangeSums::Value what{own + inherited, own};
  hand_to(waits_.late(ref), amount, c, {c.share * what.sum, c.share * what.largest});
  waits_.for_each_tie(ref, [&](LocationId late, Duration tied, const WaitCause& tie) {
    const double share = tie.share * tied.seconds() / amount.seconds();
    hand_to(late, tied, tie, {share * what.sum, share * what.largest});
  });
}

/// Passes cost on to the waits of a late location.
template <class Waits>
void Propagation<Waits>::hand_to(LocationId late, Duration amount, const WaitCause& c,
                                 RangeSums::Value what) {
  if (c.first_wait == c.end_wait) return;
  const double share = c.more / c.denominator_s(amount);
  const RangeSums::Value by{what.sum * share, what.largest * share};
  give({late, c.first_wait}, c.first_part, by);
  if (c.end_wait - c.first_wait == 1) return;
  inherited_[late.index()].add(
      c.first_wait + 1, c.end_wait - 1, by,
      [&](size_t i, RangeSums::Value value) { raise({late, static_cast<uint32_t>(i)}, value); });
  give({late, c.end_wait - 1}, c.last_part, by);
}

/// Passes cost on to a wait of which only a part lies in the interval.
template <class Waits>
void Propagation<Waits>::give(WaitRef inner, Duration part, RangeSums::Value factor) {
  const Duration amount = waits_.amount(inner);
  if (part != amount) {
    const double fraction = part.seconds() / amount.seconds();
    factor.sum *= fraction;
    factor.largest *= fraction;
  }
  if (inner.wait < done_from_[inner.location.index()]) return raise(inner, factor);
  propagates(waits_.cause(inner), amount, factor.largest);
  if (factor.sum > 0) late_.push_back({inner, factor.sum});
}

template <class Waits>
void Propagation<Waits>::raise(WaitRef inner, RangeSums::Value by) {
  if (!first_sweep_) return RangeSums::raise(later_[inner.location.index()][inner.wait], by);
  WaitCause& c = waits_.cause(inner);
  sum_of(c) += by.sum;
  if (followed_ == Followed::waiting) c.propagating_s = std::max(c.propagating_s, by.largest);
}

template <class Waits>
void Propagation<Waits>::propagates(WaitCause& cause, Duration amount, double factor) const {
  if (followed_ != Followed::waiting) return;
  const double part = std::max(cause.propagating_s, amount.seconds() * factor);
  cause.propagating_s = std::min(amount.seconds(), part);
}

/// Sends waits to the first rank, which propagates, and takes back what it found.
PatternSums propagate_gathered(const Run& run, const WaitGraph& graph, DelayAnalysis& delays,
                               Followed followed) {
  std::vector<Column<WaitCause>>& causes = delays.causes;
  replay::Transport& ranks = *run.ranks;
  std::vector<Column<Link>> links(ranks.size());
  for (LocationId id : run.locations) {
    const size_t waits = graph.waits[id.index()].size();
    for (size_t w = 0; w < waits + graph.ties[id.index()].size(); ++w) {
      const Wait& wait = graph.wait(id, static_cast<uint32_t>(w));
      links[0].push_back({wait.end, wait.amount, id, wait.cause, wait.pattern,
                          causes[id.index()][w],
                          w < waits ? Link::kNoTie : delays.tied[id.index()][w - waits]});
    }
  }
  links = replay::exchange(ranks, std::move(links));
  std::vector<Column<WaitCause>> answers(ranks.size());
  PatternSums lost{};
  if (ranks.rank() == 0) {
    std::vector<Column<LocationId>> asked(ranks.size());
    GatheredWaits all(run.timelines.size());
    for (size_t r = 0; r < links.size(); ++r) {
      for (const Link& link : links[r]) {
        all.add(link);
        if (link.tied == Link::kNoTie) asked[r].push_back(link.location);
      }
      links[r].release();
    }
    lost = Propagation(all, followed).propagate();
    std::vector<uint32_t> next(run.timelines.size());
    for (size_t r = 0; r < asked.size(); ++r) {
      answers[r].reserve(asked[r].size());
      for (LocationId id : asked[r]) answers[r].push_back(all.cause({id, next[id.index()]++}));
    }
  }
  answers = replay::exchange(ranks, std::move(answers));
  const WaitCause* answer = answers[0].begin();
  for (LocationId id : run.locations) {
    for (size_t w = 0; w < graph.waits[id.index()].size(); ++w) causes[id.index()][w] = *answer++;
  }
  return lost;
}

}  // namespace

PatternSums propagate_waits(const Run& run, const WaitGraph& graph, DelayAnalysis& delays,
                            Followed followed) {
  if (!run.ranks->alone()) return propagate_gathered(run, graph, delays, followed);
  OwnWaits waits(graph, delays);
  return Propagation(waits, followed).propagate();
}

}  // namespace culprit::blame
