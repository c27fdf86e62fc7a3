// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One walk over all waits from the latest to the earliest, scalars only. Only the order is made in
// parallel. Of several ranks, the first gets all waits, and gives back what it found.
#include "blame/propagation.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/parallel.h"
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
  WaitCause& cause(WaitRef ref) { return causes_[ref.location.index()][ref.wait]; }

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

 private:
  const Link& link(WaitRef ref) const { return links_[ref.location.index()][ref.wait]; }
  std::vector<Column<Link>> links_;  // by LocationId
};

template <class Waits>
class Propagation {
 public:
  Propagation(Waits& waits, unsigned threads) : waits_(waits), threads_(threads) {}

  void propagate();

 private:
  /// A wait and when it ended.
  struct Ended {
    Time end;
    WaitRef wait;
  };

  Column<Ended> latest_first();
  void sort_ties(std::span<Ended> ties);
  void cut_circle(WaitRef ref);

  Waits& waits_;
  unsigned threads_;
};

/// All waits, so that each comes after those that it may have caused.
template <class Waits>
auto Propagation<Waits>::latest_first() -> Column<Ended> {
  Column<Ended> order;
  size_t count = 0;
  for (size_t id = 0; id < waits_.locations(); ++id) count += waits_.count(id);
  order.reserve(count);
  for (size_t id = 0; id < waits_.locations(); ++id) {
    for (uint32_t w = waits_.count(id); w > 0; --w) {
      const WaitRef ref{LocationId(id), w - 1};
      order.push_back({waits_.end(ref), ref});
    }
  }
  parallel_sort(order.begin(), order.end(), threads_, [](const Ended& a, const Ended& b) {
    return std::tuple(b.end, a.wait.location, a.wait.wait) <
           std::tuple(a.end, b.wait.location, b.wait.wait);
  });
  for (size_t i = 0, j; i < order.size(); i = j) {
    j = i + 1;
    while (j < order.size() && order[j].end == order[i].end) ++j;
    if (j - i > 1) sort_ties({order.begin() + i, order.begin() + j});
  }
  return order;
}

/// Among waits that end at one moment, the only one inside another's interval can be the last wait
/// there. So each has at most one successor, and following these chains from their heads is the
/// order.
template <class Waits>
void Propagation<Waits>::sort_ties(std::span<Ended> ties) {
  const auto position = [&](LocationId location, uint32_t wait) {
    const auto found = std::lower_bound(ties.begin(), ties.end(), std::tuple(location, wait),
                                        [](const Ended& e, const auto& key) {
                                          return std::tuple(e.wait.location, e.wait.wait) < key;
                                        });
    const bool there =
        found != ties.end() && found->wait.location == location && found->wait.wait == wait;
    return there ? static_cast<size_t>(found - ties.begin()) : SIZE_MAX;
  };
  std::vector<size_t> successor;
  std::vector<uint32_t> predecessors;
  for (size_t i = 0; i < ties.size(); ++i) {
    const WaitCause& c = waits_.cause(ties[i].wait);
    if (c.end_wait == c.first_wait) continue;
    const WaitRef last{waits_.late(ties[i].wait), c.end_wait - 1};
    if (waits_.end(last) != ties[i].end) continue;
    const size_t next = position(last.location, last.wait);
    if (next == SIZE_MAX) continue;
    successor.resize(ties.size(), SIZE_MAX);
    predecessors.resize(ties.size());
    successor[i] = next;
    ++predecessors[next];
  }
  if (successor.empty()) return;
  std::vector<Ended> sorted;
  std::vector<bool> done(ties.size());
  for (size_t i = 0; i < ties.size(); ++i) {
    for (size_t at = i; at != SIZE_MAX && !done[at] && predecessors[at] == 0;) {
      done[at] = true;
      sorted.push_back(ties[at]);
      at = successor[at];
      if (at != SIZE_MAX) --predecessors[at];
    }
  }
  // What is left are circles, each waiting for the next: clocks lie. Any order is as good.
  for (size_t i = 0; i < ties.size(); ++i) {
    for (size_t at = i; !done[at]; at = successor[at]) {
      done[at] = true;
      sorted.push_back(ties[at]);
      if (successor[at] == i) cut_circle(ties[at].wait);
    }
  }
  std::copy(sorted.begin(), sorted.end(), ties.begin());
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

/// From the latest wait to the earliest, each hands on what it cannot explain itself. The factors
/// for all waits inside an interval are added to a range at once.
template <class Waits>
void Propagation<Waits>::propagate() {
  std::vector<RangeSums> inherited;
  inherited.reserve(waits_.locations());
  for (size_t id = 0; id < waits_.locations(); ++id) inherited.emplace_back(waits_.count(id));
  for (const Ended& ended : latest_first()) {
    const WaitRef ref = ended.wait;
    WaitCause& c = waits_.cause(ref);
    const RangeSums::Value factor = inherited[ref.location.index()].at(ref.wait);
    const double amount = waits_.amount(ref).seconds();
    c.long_s = amount * factor.sum;
    c.propagating_s = std::min(amount, amount * factor.largest);
    const double denominator = c.denominator_s();
    if (denominator <= 0) continue;
    inherited[waits_.late(ref).index()].add(
        c.first_wait, c.end_wait, {(amount + c.long_s) / denominator, amount / denominator});
  }
}

/// Sends waits to the first rank, which propagates, and takes back what it found.
void propagate_gathered(const Run& run, const WaitGraph& graph,
                        std::vector<Column<WaitCause>>& causes, unsigned threads) {
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
    Propagation(all, threads).propagate();
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

void propagate_waits(const Run& run, const WaitGraph& graph, std::vector<Column<WaitCause>>& causes,
                     unsigned threads) {
  if (!run.ranks->alone()) return propagate_gathered(run, graph, causes, threads);
  OwnWaits waits(graph, causes);
  Propagation(waits, threads).propagate();
}

}  // namespace culprit::blame
