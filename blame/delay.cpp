// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Three passes. Intervals and excess vectors: parallel over waiters. Propagation: one walk over all
// waits from the latest to the earliest, scalars only. Costs: parallel over the late locations.
#include "blame/delay.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/parallel.h"
#include "blame/range_tree.h"

namespace culprit::blame {

namespace {

using replay::GroupId;
using replay::Run;
using replay::Sync;
using replay::Wait;
using replay::WaitGraph;

/// Where a location and its partners met last, while walking over its synchronisation points.
class Meetings {
 public:
  struct Place {
    Time own_exit, partner_exit;
  };

  Meetings(const WaitGraph& graph, Time begin) : graph_(graph), begin_(begin) {}

  void add(const Sync& sync) {
    if (sync.partner.valid()) {
      pairs_[sync.partner] = {sync.exit, sync.partner_exit};
      return;
    }
    for (Seen& seen : groups_) {
      if (seen.group == sync.group) {
        seen = {sync.group, sync.instance, sync.exit};
        return;
      }
    }
    groups_.push_back({sync.group, sync.instance, sync.exit});
  }

  /// The last meeting with `partner`; the begin of both lives if they never met.
  Place last(LocationId partner) const {
    Place place{begin_, begin_};
    if (const auto pair = pairs_.find(partner); pair != pairs_.end()) place = pair->second;
    for (const Seen& seen : groups_) {
      if (seen.own_exit < place.own_exit) continue;
      const replay::Group& group = graph_.groups[seen.group.index()];
      const auto member = std::lower_bound(group.members.begin(), group.members.end(), partner);
      if (member == group.members.end() || *member != partner) continue;
      const size_t position = static_cast<size_t>(member - group.members.begin());
      place = {seen.own_exit, group.exits[seen.instance][position]};
    }
    return place;
  }

 private:
  struct Seen {
    GroupId group;
    uint32_t instance;
    Time own_exit;
  };
  const WaitGraph& graph_;
  Time begin_;
  std::unordered_map<LocationId, Place> pairs_;
  std::vector<Seen> groups_;
};

/// A wait by number within the whole run.
struct WaitRef {
  LocationId location;
  uint32_t wait;
};

class Delays {
 public:
  Delays(const Run& run, const WaitGraph& graph, const std::vector<PathTimes>& times)
      : run_(run), graph_(graph), times_(times) {
    result_.causes.resize(run.timelines.size());
    result_.excess.resize(run.timelines.size());
    for (const std::vector<Wait>& waits : graph.waits) {
      std::vector<Duration>& before = waiting_before_.emplace_back(1);
      for (const Wait& wait : waits) before.push_back(before.back() + wait.amount);
    }
  }

  void find_intervals(unsigned threads) {
    parallel_for(run_.locations.size(), threads,
                 [&](size_t i) { find_intervals_of(run_.locations[i]); });
  }
  void propagate();
  void sum_costs(unsigned threads);
  DelayAnalysis take() { return std::move(result_); }

 private:
  void find_intervals_of(LocationId id);
  void measure(LocationId id, const Wait& wait, WaitCause& cause, PathSums& own, PathSums& late);
  void find_inner_waits(const Wait& wait, WaitCause& cause);
  std::vector<WaitRef> latest_first() const;
  void sort_ties(std::vector<WaitRef>& order, size_t begin, size_t end) const;
  void sum_costs_of(LocationId late, const std::vector<WaitRef>& caused,
                    std::vector<DelayCost>& costs, std::map<replay::Pattern, double>& lost) const;

  const Wait& wait(WaitRef ref) const { return graph_.waits[ref.location.index()][ref.wait]; }
  WaitCause& cause(WaitRef ref) { return result_.causes[ref.location.index()][ref.wait]; }
  const WaitCause& cause(WaitRef ref) const {
    return result_.causes[ref.location.index()][ref.wait];
  }

  const Run& run_;
  const WaitGraph& graph_;
  const std::vector<PathTimes>& times_;
  std::vector<std::vector<Duration>> waiting_before_;  // by LocationId: running sums of its waits
  DelayAnalysis result_;
};

// --- intervals --------------------------------------------------------------------------------

void Delays::find_intervals_of(LocationId id) {
  const std::vector<Wait>& waits = graph_.waits[id.index()];
  const std::vector<Sync>& syncs = graph_.syncs[id.index()];
  Meetings meetings(graph_, run_.begin);
  PathSums own(run_.callpaths.size()), late(run_.callpaths.size());
  size_t next = 0;
  result_.causes[id.index()].reserve(waits.size());
  for (const Wait& wait : waits) {
    // A point counts once its operation is over; the wait's own operation is not.
    while (next < syncs.size() && syncs[next].exit <= wait.begin) meetings.add(syncs[next++]);
    const Meetings::Place place = meetings.last(wait.cause);
    WaitCause& cause = result_.causes[id.index()].emplace_back();
    cause.interval_waiter = place.own_exit;
    cause.interval_cause = place.partner_exit;
    cause.interval_end = std::min(wait.cause_time, wait.end);
    measure(id, wait, cause, own, late);
    find_inner_waits(wait, cause);
  }
}

/// Excess vector: what the late location did more than the waiter (equations 4.1 and 4.2).
void Delays::measure(LocationId id, const Wait& wait, WaitCause& cause, PathSums& own,
                     PathSums& late) {
  own.clear(), late.clear();
  times_[wait.cause.index()].sum(cause.interval_cause, cause.interval_end, late);
  times_[id.index()].sum(cause.interval_waiter, wait.begin, own);
  std::vector<Excess>& excess = result_.excess[id.index()];
  cause.first_excess = static_cast<uint32_t>(excess.size());
  for (CallPathId path : late.paths()) {
    const Duration more = late[path] - own[path];
    if (more <= Duration::zero()) continue;
    excess.push_back({path, more});
    cause.excess += more;
  }
  cause.end_excess = static_cast<uint32_t>(excess.size());
}

void Delays::find_inner_waits(const Wait& wait, WaitCause& cause) {
  const std::vector<Wait>& inner = graph_.waits[wait.cause.index()];
  const auto first = std::lower_bound(inner.begin(), inner.end(), cause.interval_cause,
                                      [](const Wait& x, Time t) { return x.begin < t; });
  const auto end = std::upper_bound(first, inner.end(), cause.interval_end,
                                    [](Time t, const Wait& x) { return t < x.end; });
  cause.first_wait = static_cast<uint32_t>(first - inner.begin());
  cause.end_wait = static_cast<uint32_t>(end - inner.begin());
  const std::vector<Duration>& before = waiting_before_[wait.cause.index()];
  cause.waiting = before[cause.end_wait] - before[cause.first_wait];
}

// --- propagation ------------------------------------------------------------------------------

/// All waits, so that each comes after those that it may have caused.
std::vector<WaitRef> Delays::latest_first() const {
  std::vector<WaitRef> order;
  for (LocationId id : run_.locations) {
    for (uint32_t w = 0; w < graph_.waits[id.index()].size(); ++w) order.push_back({id, w});
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](WaitRef a, WaitRef b) { return wait(a).end > wait(b).end; });
  for (size_t i = 0; i < order.size();) {
    size_t j = i + 1;
    while (j < order.size() && wait(order[j]).end == wait(order[i]).end) ++j;
    if (j - i > 1) sort_ties(order, i, j);
    i = j;
  }
  return order;
}

/// Among waits that end at one moment, the only one inside another's interval can be the last wait
/// there. So each has at most one successor, and following these chains from their heads is the
/// order.
void Delays::sort_ties(std::vector<WaitRef>& order, size_t begin, size_t end) const {
  std::map<std::pair<LocationId, uint32_t>, size_t> position;
  for (size_t i = begin; i < end; ++i) position[{order[i].location, order[i].wait}] = i;
  std::vector<size_t> successor(end - begin, SIZE_MAX);
  std::vector<uint32_t> predecessors(end - begin, 0);
  for (size_t i = begin; i < end; ++i) {
    const WaitCause& c = cause(order[i]);
    if (c.end_wait == c.first_wait) continue;
    const auto next = position.find({wait(order[i]).cause, c.end_wait - 1});
    if (next == position.end()) continue;
    successor[i - begin] = next->second;
    ++predecessors[next->second - begin];
  }
  std::vector<WaitRef> sorted;
  std::vector<bool> done(end - begin, false);
  const auto follow = [&](size_t i) {
    while (i != SIZE_MAX && !done[i - begin] && predecessors[i - begin] == 0) {
      done[i - begin] = true;
      sorted.push_back(order[i]);
      i = successor[i - begin];
      if (i != SIZE_MAX) --predecessors[i - begin];
    }
  };
  for (size_t i = begin; i < end; ++i) follow(i);
  for (size_t i = begin; i < end; ++i) {  // a cycle: clocks that lie; any order is as good
    if (!done[i - begin]) sorted.push_back(order[i]);
  }
  std::copy(sorted.begin(), sorted.end(), order.begin() + static_cast<long>(begin));
}

/// From the latest wait to the earliest, each hands on what it cannot explain itself. The factors
/// for all waits inside an interval are added to a range at once, so this is O(log n) a wait.
void Delays::propagate() {
  std::vector<RangeTree> inherited;
  inherited.reserve(run_.timelines.size());
  for (const auto& waits : graph_.waits) inherited.emplace_back(waits.size());
  for (WaitRef ref : latest_first()) {
    const Wait& w = wait(ref);
    WaitCause& c = cause(ref);
    const RangeTree::Value factor = inherited[ref.location.index()].at(ref.wait);
    const double amount = w.amount.seconds();
    c.long_s = amount * factor.sum;
    c.propagating_s = std::min(amount, amount * factor.largest);
    if (c.denominator_s() <= 0) continue;
    inherited[w.cause.index()].add(
        c.first_wait, c.end_wait,
        {(amount + c.long_s) / c.denominator_s(), amount / c.denominator_s()});
  }
}

// --- costs ------------------------------------------------------------------------------------

void Delays::sum_costs_of(LocationId late, const std::vector<WaitRef>& caused,
                          std::vector<DelayCost>& costs,
                          std::map<replay::Pattern, double>& lost) const {
  std::map<std::pair<CallPathId, replay::Pattern>, size_t> row_of;
  for (WaitRef ref : caused) {
    const Wait& w = wait(ref);
    const WaitCause& c = cause(ref);
    const double amount = w.amount.seconds();
    if (c.denominator_s() <= 0) {
      lost[w.pattern] += amount + c.long_s;
      continue;
    }
    for (uint32_t e = c.first_excess; e < c.end_excess; ++e) {
      const Excess& excess = result_.excess[ref.location.index()][e];
      const auto [row, fresh] = row_of.try_emplace({excess.path, w.pattern}, costs.size());
      if (fresh) costs.push_back({late, excess.path, w.pattern, 0, 0});
      const double share = excess.time.seconds() / c.denominator_s();
      costs[row->second].short_s += share * amount;
      costs[row->second].long_s += share * c.long_s;
    }
  }
}

void Delays::sum_costs(unsigned threads) {
  std::vector<std::vector<WaitRef>> caused(run_.timelines.size());
  for (LocationId id : run_.locations) {
    const std::vector<Wait>& waits = graph_.waits[id.index()];
    for (uint32_t w = 0; w < waits.size(); ++w) caused[waits[w].cause.index()].push_back({id, w});
  }
  std::vector<std::vector<DelayCost>> costs(caused.size());
  std::vector<std::map<replay::Pattern, double>> lost(caused.size());
  parallel_for(caused.size(), threads,
               [&](size_t i) { sum_costs_of(LocationId(i), caused[i], costs[i], lost[i]); });
  std::map<replay::Pattern, double> all_lost;
  for (size_t i = 0; i < caused.size(); ++i) {
    result_.costs.insert(result_.costs.end(), costs[i].begin(), costs[i].end());
    for (const auto& [pattern, time] : lost[i]) all_lost[pattern] += time;
  }
  for (const auto& [pattern, time] : all_lost) result_.unattributed.push_back({pattern, time});
}

}  // namespace

DelayAnalysis analyze_delays(const Run& run, const WaitGraph& graph,
                             const std::vector<PathTimes>& times, unsigned threads) {
  Delays delays(run, graph, times);
  delays.find_intervals(threads);
  delays.propagate();
  delays.sum_costs(threads);
  return delays.take();
}

}  // namespace culprit::blame
