// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One walk over all waits from the latest to the earliest, scalars only. Only the order is made in
// parallel.
#include "blame/propagation.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/parallel.h"
#include "blame/range_sums.h"

namespace culprit::blame {

namespace {

using replay::Run;
using replay::Wait;
using replay::WaitGraph;

class Propagation {
 public:
  Propagation(const Run& run, const WaitGraph& graph, DelayAnalysis& delays, unsigned threads)
      : run_(run), graph_(graph), result_(delays), threads_(threads) {}

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

  const Wait& wait(WaitRef ref) const { return graph_.waits[ref.location.index()][ref.wait]; }
  WaitCause& cause(WaitRef ref) { return result_.causes[ref.location.index()][ref.wait]; }

  const Run& run_;
  const WaitGraph& graph_;
  DelayAnalysis& result_;
  unsigned threads_;
};

/// All waits, so that each comes after those that it may have caused.
Column<Propagation::Ended> Propagation::latest_first() {
  Column<Ended> order;
  size_t count = 0;
  for (LocationId id : run_.locations) count += graph_.waits[id.index()].size();
  order.reserve(count);
  for (LocationId id : run_.locations) {
    const Column<Wait>& waits = graph_.waits[id.index()];
    for (uint32_t w = static_cast<uint32_t>(waits.size()); w > 0; --w) {
      order.push_back({waits[w - 1].end, {id, w - 1}});
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
void Propagation::sort_ties(std::span<Ended> ties) {
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
    const WaitCause& c = cause(ties[i].wait);
    if (c.end_wait == c.first_wait) continue;
    const WaitRef last{wait(ties[i].wait).cause, c.end_wait - 1};
    if (wait(last).end != ties[i].end) continue;
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
void Propagation::cut_circle(WaitRef ref) {
  WaitCause& c = cause(ref);
  --c.end_wait;
  const Wait& w = wait(ref);
  Duration waiting, excess;
  for (uint32_t i = c.first_wait; i < c.end_wait; ++i) waiting += wait({w.cause, i}).amount;
  const Column<Excess>& all = result_.excess[w.cause.index()];
  for (uint32_t e = c.first_excess; e < c.end_excess; ++e) excess += all[e].time();
  c.waiting_s = waiting.seconds();
  c.denominator_s = excess.seconds() + c.waiting_s;
}

/// From the latest wait to the earliest, each hands on what it cannot explain itself. The factors
/// for all waits inside an interval are added to a range at once.
void Propagation::propagate() {
  std::vector<RangeSums> inherited;
  inherited.reserve(run_.timelines.size());
  for (const auto& waits : graph_.waits) inherited.emplace_back(waits.size());
  for (const Ended& ended : latest_first()) {
    const WaitRef ref = ended.wait;
    const Wait& w = wait(ref);
    WaitCause& c = cause(ref);
    const RangeSums::Value factor = inherited[ref.location.index()].at(ref.wait);
    const double amount = w.amount.seconds();
    c.long_s = amount * factor.sum;
    c.propagating_s = std::min(amount, amount * factor.largest);
    if (c.denominator_s <= 0) continue;
    inherited[w.cause.index()].add(
        c.first_wait, c.end_wait,
        {(amount + c.long_s) / c.denominator_s, amount / c.denominator_s});
  }
}

}  // namespace

void propagate_waits(const Run& run, const WaitGraph& graph, DelayAnalysis& delays,
                     unsigned threads) {
  Propagation(run, graph, delays, threads).propagate();
}

}  // namespace culprit::blame
