// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Two walks over all waits: the first finds the waiting call whose visits define the steps, the
// second adds up costs by step. Sums are made in the order of locations, and then of ranks.
#include "blame/when/cost_series.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "blame/delay/excess.h"
#include "blame/profile/path_kinds.h"
#include "blame/when/steps.h"
#include "blame/when/timing.h"

namespace culprit::blame {

namespace {

using replay::Run;
using replay::Wait;

/// Part of the cost: a call path with less does not define a program's steps, and load of which
/// less cost the locations that share it does not count as moving.
constexpr double kMostly = 0.5;
constexpr double kNearlyAll = 0.8;
/// Part of the cost: where at least this part is at its usual places in each step, changes of the
/// costliest place are near ties, and the load does not move.
constexpr double kUsual = 0.7;
constexpr double kMuchLonger = 2;  ///< times

/// A location and call path that waited for a row.
struct Waiter {
  uint32_t row;
  CallPathId path;
  LocationId location;
  double cost_s;
};

/// Step by step, on the location where all of it is largest.
std::vector<double> largest_excess(const std::vector<StepCost>& costs, size_t steps) {
  std::map<LocationId, double> sums;
  for (const StepCost& cost : costs) sums[cost.location] += cost.excess_s;
  const auto largest = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<double> series(steps);
  for (const StepCost& cost : costs) {
    if (cost.location == largest->first) series[cost.step] = cost.excess_s;
  }
  return series;
}

class Courses {
 public:
  Courses(const Run& run, const replay::WaitGraph& graph, const DelayAnalysis& delays,
          unsigned threads, Budget& budget, std::vector<FoundDistribution>& rows)
      : run_(run),
        graph_(graph),
        delays_(delays),
        threads_(threads),
        budget_(budget),
        rows_(rows),
        row_of_(run.callpaths.size(), kNone),
        parallel_(inside_parallel(run)) {
    for (uint32_t i = 0; i < rows.size(); ++i) {
      row_of_[rows[i].callpath.index()] = i;
      paths_.push_back(rows[i].callpath);
    }
  }

  void find() {
    choose_steps();
    const std::vector<StepCost> costs = sum_steps();
    size_t next = 0;
    for (uint32_t i = 0; i < rows_.size(); ++i) {
      std::vector<StepCost> own;
      while (next < costs.size() && costs[next].row == i) own.push_back(costs[next++]);
      describe(own, steps_[i], rows_[i]);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Calls visit(row, wait, who, cost, excess) for each row that a location's delays have a part
  /// in, wait by wait, in order of their ends.
  template <class Visit>
  void for_each_part(LocationId late, const Visit& visit) const {
    const Column<CausedWait>& caused = delays_.caused[late.index()];
    if (caused.empty()) return;
    ExcessReader excess(run_, graph_, delays_, late, paths_);
    Spender spender(budget_);
    for (uint32_t place = 0; place < caused.size(); ++place) {
      spender.step();
      const CausedWait& cause = caused[place];
      if (cause.late.excess <= Duration::zero()) continue;
      const WaitRef ref = cause.ref;
      const Wait& wait = graph_.wait(ref.location, ref.wait);
      const double a_second =
          cause.share * (waiting_s(cause) + cause.long_s) / cause.denominator_s();
      excess.visit(place, cause, [&](CallPathId path, Duration time) {
        spender.step();
        visit(row_of_[path.index()], wait, ref.location, time.seconds() * a_second, time.seconds());
      });
    }
  }

  /// Concatenates lists made for each own location, in order.
  template <class Item, class Make>
  std::vector<Item> of_all_locations(const Make& make) const {
    std::vector<std::vector<Item>> lists(run_.locations.size());
    parallel_for(lists.size(), threads_, [&](size_t i) { lists[i] = make(run_.locations[i]); });
    std::vector<Item> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    return concatenate(*run_.ranks, all);
  }

  void choose_steps() {
    const std::optional<Steps> marked = marked_steps(run_);
    if (marked) {
      steps_.assign(rows_.size(), *marked);
      return;
    }
    const std::vector<Waiter> waiters =
        of_all_locations<Waiter>([&](LocationId late) { return waiters_for(late); });
    const Steps parts = equal_parts(run_);
    for (uint32_t i = 0; i < rows_.size(); ++i) {
      const Waiter most = most_of(waiters, i);
      std::optional<Steps> steps;
      if (most.cost_s > 0) steps = steps_of_visits(run_, most.location, most.path);
      steps_.push_back(steps ? *steps : parts);
    }
  }

  std::vector<Waiter> waiters_for(LocationId late) const {
    std::map<std::tuple<uint32_t, CallPathId, LocationId>, double> sums;
    for_each_part(late, [&](uint32_t row, const Wait& wait, LocationId who, double cost_s, double) {
      sums[{row, wait.path, who}] += cost_s;
    });
    std::vector<Waiter> list;
    for (const auto& [key, cost_s] : sums) {
      list.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), cost_s});
    }
    return list;
  }

  /// Returns the call path with most waiting for a row, and the location with most of that; none if
  /// no path has most.
  Waiter most_of(const std::vector<Waiter>& waiters, uint32_t row) const {
    std::map<CallPathId, double> by_path;
    std::map<std::pair<CallPathId, LocationId>, double> by_place;
    double all_s = 0;
    for (const Waiter& waiter : waiters) {
      if (waiter.row != row) continue;
      by_path[waiter.path] += waiter.cost_s;
      by_place[{waiter.path, waiter.location}] += waiter.cost_s;
      all_s += waiter.cost_s;
    }
    Waiter most{row, {}, {}, 0};
    for (const auto& [place, cost_s] : by_place) {
      if (by_path[place.first] < kMostly * all_s || cost_s <= most.cost_s) continue;
      most = {row, place.first, place.second, cost_s};
    }
    return most;
  }

  /// Returns the costs of each row, by step and location.
  std::vector<StepCost> sum_steps() const {
    std::vector<StepCost> costs =
        of_all_locations<StepCost>([&](LocationId late) { return steps_of(late); });
    std::stable_sort(costs.begin(), costs.end(), [](const StepCost& a, const StepCost& b) {
      return std::tie(a.row, a.step, a.location) < std::tie(b.row, b.step, b.location);
    });
    return costs;
  }

  /// A wait belongs to the step in which it ends. Waits come in that order.
  std::vector<StepCost> steps_of(LocationId late) const {
    std::vector<std::vector<StepCost>> by_row(rows_.size());
    for_each_part(
        late, [&](uint32_t row, const Wait& wait, LocationId who, double cost_s, double excess_s) {
          std::vector<StepCost>& list = by_row[row];
          const auto step = static_cast<uint32_t>(steps_[row].at(wait.end));
          if (list.empty() || list.back().step != step) list.push_back({row, step, late});
          StepCost& sum = list.back();
          sum.cost_s += cost_s;
          sum.excess_s = std::max(sum.excess_s, excess_s);
          sum.wait_s = std::max(sum.wait_s, (wait.end - wait.begin).seconds());
          if (run_.is_master(who) || parallel_[rows_[row].callpath.index()]) sum.peers_s += cost_s;
        });
    std::vector<StepCost> all;
    for (const auto& list : by_row) all.insert(all.end(), list.begin(), list.end());
    return all;
  }

  /// A wait that lasts for nearly all of the run ends once, but costs all the time; so does one
  /// that is much longer than the steps in which it ends, as that of a rank that has finished.
  bool lasts_longer(const std::vector<StepCost>& costs, const Steps& steps,
                    const Timing& timing) const {
    const Duration once = steps.end(timing.end - 1) - steps.begin(timing.begin);
    const double longest_s =
        std::min(kNearlyAll * run_.wall().seconds(), kMuchLonger * once.seconds());
    return std::any_of(costs.begin(), costs.end(), [&](const StepCost& cost) {
      return cost.step >= timing.begin && cost.step < timing.end && cost.wait_s >= longest_s;
    });
  }

  void describe(const std::vector<StepCost>& costs, const Steps& steps,
                FoundDistribution& row) const {
    std::vector<double> series(steps.size());
    for (const StepCost& cost : costs) series[cost.step] += cost.cost_s;
    Timing timing = find_timing(series);
    if (timing.course == Course::once && lasts_longer(costs, steps, timing)) timing = {};
    row.course = timing.course;
    row.steps_are = steps.kind();
    row.steps = steps.size();
    row.same_place = same_place(costs);
    row.movement = movement_of(costs, row.cost_s);
    if (timing.course == Course::steady) return;
    row.step = steps.number(timing.begin);
    row.period = timing.period;
    row.begin_s = (steps.begin(timing.begin) - run_.begin).seconds();
    row.end_s = (steps.end(timing.end - 1) - run_.begin).seconds();
    if (timing.course == Course::growing || timing.course == Course::shrinking) {
      row.change_s = rise(largest_excess(costs, steps.size()));
    }
  }

  const Run& run_;
  const replay::WaitGraph& graph_;
  const DelayAnalysis& delays_;
  const unsigned threads_;
  Budget& budget_;
  std::vector<FoundDistribution>& rows_;
  std::vector<uint32_t> row_of_;  // by CallPathId
  std::vector<CallPathId> paths_;
  const std::vector<bool> parallel_;  // by CallPathId
  std::vector<Steps> steps_;          // by row
};

}  // namespace

double same_place(const std::vector<StepCost>& costs) {
  std::map<LocationId, double> by_location;
  std::map<uint32_t, double> by_step;
  double all = 0;
  for (const StepCost& cost : costs) {
    by_location[cost.location] += cost.cost_s;
    by_step[cost.step] += cost.cost_s;
    all += cost.cost_s;
  }
  if (all <= 0) return 1;
  double same = 0;
  for (const StepCost& cost : costs) {
    const double weight = by_step[cost.step] / all;
    same += std::min(by_location[cost.location] / all * weight, cost.cost_s / all);
  }
  return same;
}

/// Only locations that share the work count: if a master's work makes its own threads wait, the
/// place cannot move. Where one location has nearly all of the cost, steps of negligible cost say
/// little.
Movement movement_of(const std::vector<StepCost>& costs, double cost_s) {
  std::vector<uint32_t> places;
  std::map<LocationId, double> by_location;
  double peers_s = 0, most_s = 0;
  for (size_t i = 0; i < costs.size(); ++i) {
    const bool new_step = i == 0 || costs[i].step != costs[i - 1].step;
    if (new_step) most_s = 0;
    peers_s += costs[i].peers_s;
    by_location[costs[i].location] += costs[i].peers_s;
    if (costs[i].peers_s <= most_s) continue;
    const auto place = static_cast<uint32_t>(costs[i].location.index());
    if (most_s == 0) places.push_back(place);
    places.back() = place;
    most_s = costs[i].peers_s;
  }
  const bool one_has_it = std::any_of(by_location.begin(), by_location.end(), [&](const auto& sum) {
    return sum.second >= kNearlyAll * peers_s;
  });
  if (one_has_it || peers_s < kMostly * cost_s || same_place(costs) >= kUsual) {
    return Movement::stays;
  }
  return find_movement(places);
}

void find_courses(const Run& run, const replay::WaitGraph& graph, const DelayAnalysis& delays,
                  unsigned threads, Budget& budget, std::vector<FoundDistribution>& rows) {
  Courses(run, graph, delays, threads, budget, rows).find();
}

}  // namespace culprit::blame
