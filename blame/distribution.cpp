// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Groups are found by the cut with the least scatter inside the parts (Otsu's criterion, on sorted
// loads); a course by how cost is spread over slices of the run.
#include "blame/distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/parallel.h"
#include "blame/delay/excess.h"
#include "blame/path/path_kinds.h"
#include "replay/ranks/exchange.h"

namespace culprit::blame {

namespace {

// --- shapes -----------------------------------------------------------------------------------

/// Sorted values with running sums: the variance of any range in O(1).
class Ranges {
 public:
  explicit Ranges(const std::vector<double>& sorted) {
    const double shift = sorted.empty() ? 0 : sorted.front();  // against cancellation
    for (double value : sorted) {
      sums_.push_back(sums_.back() + (value - shift));
      squares_.push_back(squares_.back() + (value - shift) * (value - shift));
    }
  }
  /// Sum of squared distances from the mean.
  double scatter(size_t begin, size_t end) const {
    if (end - begin < 2) return 0;
    const double sum = sums_[end] - sums_[begin];
    return std::max(squares_[end] - squares_[begin] - sum * sum / static_cast<double>(end - begin),
                    0.0);
  }
  /// Where to cut a range in two so that least scatter is left, and how much that is.
  std::pair<size_t, double> best_cut(size_t begin, size_t end) const {
    std::pair<size_t, double> best{begin, scatter(begin, end)};
    for (size_t cut = begin + 1; cut < end; ++cut) {
      const double left = scatter(begin, cut) + scatter(cut, end);
      if (left < best.second) best = {cut, left};
    }
    return best;
  }

 private:
  std::vector<double> sums_{0}, squares_{0};
};

// --- costs over time --------------------------------------------------------------------------

/// What the delays of one location cost, by place in the list of the costliest.
using DelaySlices = std::array<std::array<double, kSlices>, kDelaysWithDistribution>;

class Distributor {
 public:
  Distributor(const replay::Run& run, const replay::WaitGraph& graph, const DelayAnalysis& delays)
      : run_(run),
        graph_(graph),
        delays_(delays),
        number_(run.callpaths.size(), kNotTop),
        parallel_(inside_parallel(run)) {}

  std::vector<FoundDistribution> distribute(const Profiles& profiles, unsigned threads,
                                            Budget& budget) {
    choose_top();
    std::vector<Costs> by_location(run_.locations.size());
    parallel_for(run_.locations.size(), threads,
                 [&](size_t i) { by_location[i] = sum_costs(run_.locations[i], budget); });
    for (const Costs& costs : by_location) {
      for (size_t d = 0; d < costs.slices.size(); ++d) {
        slices_[d].insert(slices_[d].end(), costs.slices[d].begin(), costs.slices[d].end());
        peers_s_[d] += costs.peers_s[d];
      }
    }
    for (auto& slices : slices_) slices = replay::concatenate(*run_.ranks, slices);
    replay::add_up(*run_.ranks, peers_s_);
    describe(profiles);
    return std::move(found_);
  }

 private:
  static constexpr uint8_t kNotTop = UINT8_MAX;

  /// Of one late location, by place in found_.
  struct Costs {
    std::vector<std::vector<SliceCost>> slices;
    std::array<double, kDelaysWithDistribution>
        peers_s{};  ///< for waits of those who share the work
  };

  /// The call paths that cost most, on all locations.
  void choose_top() {
    std::vector<double> costs(run_.callpaths.size());
    for (const DelayCost& cost : delays_.costs) {
      costs[cost.path.index()] += cost.short_s + cost.long_s;
    }
    for (const PathCost& cost : all_costs(costs)) {
      found_.emplace_back();
      found_.back().callpath = cost.path;
      found_.back().cost_s = cost.cost_s;
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.cost_s > b.cost_s; });
    found_.resize(std::min(found_.size(), kDelaysWithDistribution));
    for (size_t i = 0; i < found_.size(); ++i) {
      number_[found_[i].callpath.index()] = static_cast<uint8_t>(i);
      top_.push_back(found_[i].callpath);
    }
    slices_.resize(found_.size());
  }

  struct PathCost {
    CallPathId path;
    double cost_s;
  };

  /// Of all ranks, in order of call path.
  std::vector<PathCost> all_costs(std::vector<double>& own) const {
    const auto list = [](const std::vector<double>& costs) {
      std::vector<PathCost> rows;
      for (size_t i = 0; i < costs.size(); ++i) {
        if (costs[i] > 0) rows.push_back({CallPathId(i), costs[i]});
      }
      return rows;
    };
    const std::vector<PathCost> all = replay::concatenate(*run_.ranks, list(own));
    if (run_.ranks->alone()) return all;
    std::fill(own.begin(), own.end(), 0.0);
    for (const PathCost& cost : all) own[cost.path.index()] += cost.cost_s;
    return list(own);
  }

  /// The costs of all waits that `late` caused, at the time of the wait.
  Costs sum_costs(LocationId late, Budget& budget) const {
    if (delays_.caused[late.index()].empty()) return {};
    ExcessReader excess(run_, graph_, delays_, late, top_);
    DelaySlices sums{};
    Costs costs;
    Spender spender(budget);
    const Column<WaitRef>& caused = delays_.caused[late.index()];
    for (uint32_t place = 0; place < caused.size(); ++place) {
      spender.step();
      const WaitRef ref = caused[place];
      const replay::Wait& wait = graph_.waits[ref.location.index()][ref.wait];
      const WaitCause& cause = delays_.causes[ref.location.index()][ref.wait];
      if (cause.excess <= Duration::zero()) continue;
      const double cost = (waiting_s(wait) + cause.long_s) / cause.denominator_s(wait.amount);
      const size_t slice = slice_of(wait.begin);
      const bool by_master = run_.is_master(ref.location);
      excess.visit(place, cause, [&](CallPathId path, Duration time) {
        spender.step();
        const uint8_t delay = number_[path.index()];
        const double part = time.seconds() * cost;
        sums[delay][slice] += part;
        if (by_master || parallel_[path.index()]) costs.peers_s[delay] += part;
      });
    }
    costs.slices.resize(found_.size());
    for (size_t d = 0; d < found_.size(); ++d) {
      for (size_t s = 0; s < kSlices; ++s) {
        if (sums[d][s] > 0) costs.slices[d].push_back({s, late, sums[d][s]});
      }
    }
    return costs;
  }

  size_t slice_of(Time time) const {
    const double part = (time - run_.begin).seconds() / run_.wall().seconds();
    return std::min(static_cast<size_t>(part * kSlices), kSlices - 1);
  }

  void describe(const Profiles& profiles) {
    std::vector<std::vector<double>> loads(found_.size());
    std::vector<double> own(found_.size());
    const std::vector<bool> device = on_streams(run_);
    for (LocationId id : run_.locations) {
      std::fill(own.begin(), own.end(), 0.0);
      for (const PathTime& entry : profiles[id.index()]) {
        const uint8_t delay = number_[entry.path.index()];
        if (delay != kNotTop) own[delay] = entry.time.seconds();
      }
      for (size_t i = 0; i < found_.size(); ++i) {
        const size_t path = found_[i].callpath.index();
        const bool shares = device[path]
                                ? run_.is_stream(id)
                                : !run_.is_stream(id) && (parallel_[path] || run_.is_master(id));
        if (shares || own[i] > 0) loads[i].push_back(own[i]);
      }
    }
    for (size_t i = 0; i < found_.size(); ++i) {
      loads[i] = replay::concatenate(*run_.ranks, loads[i]);
      FoundDistribution& row = found_[i];
      row.locations = loads[i].size();
      const Groups groups = find_groups(std::move(loads[i]));
      const Constancy over_time = find_course(slices_[i]);
      row.shape = groups.shape;
      row.high = groups.high;
      row.low = groups.low;
      // Load that is even in total, and for which those who share it waited, was not at any time.
      const bool moves = groups.shape == Shape::even && over_time.course != Course::burst &&
                         peers_s_[i] >= 0.5 * row.cost_s;
      row.course = moves ? Course::moving : over_time.course;
      row.same_place = over_time.same_place;
    }
  }

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  const DelayAnalysis& delays_;
  std::vector<uint8_t> number_;       // by CallPathId: place in found_
  std::vector<CallPathId> top_;       // in that order
  const std::vector<bool> parallel_;  // by CallPathId
  std::vector<double> peers_s_ = std::vector<double>(kDelaysWithDistribution);
  std::vector<FoundDistribution> found_;
  std::vector<std::vector<SliceCost>> slices_;  // by place in found_
};

}  // namespace

Groups find_groups(std::vector<double> loads) {
  const size_t n = loads.size();
  if (n < 2) return {};
  std::sort(loads.begin(), loads.end());
  if (loads.back() - loads.front() <= kEven * std::abs(loads.back())) return {Shape::even};
  const Ranges ranges(loads);
  const double total = ranges.scatter(0, n);
  const auto [cut, left] = ranges.best_cut(0, n);
  const auto explains = [total](double unexplained, double part) {
    return total - unexplained >= part * total;
  };
  if (explains(left, kTwoGroups)) {
    const size_t minority = std::max<size_t>(1, static_cast<size_t>(kMinority * n + 1e-9));
    const Shape shape = n - cut <= minority ? Shape::overloaded_minority
                        : cut <= minority   ? Shape::underloaded_minority
                                            : Shape::clusters;
    return {shape, n - cut, cut};
  }
  if (n >= kLeastOfThree) {
    const auto [lower, lower_left] = ranges.best_cut(0, cut);
    const auto [upper, upper_left] = ranges.best_cut(cut, n);
    const double with_lower = lower_left + ranges.scatter(cut, n);
    const double with_upper = ranges.scatter(0, cut) + upper_left;
    if (explains(std::min(with_lower, with_upper), kThreeGroups)) {
      return with_lower < with_upper ? Groups{Shape::clusters, n - cut, lower}
                                     : Groups{Shape::clusters, n - upper, cut};
    }
  }
  return {Shape::spread};
}

Constancy find_course(std::span<const SliceCost> costs) {
  std::map<LocationId, double> by_location;
  std::vector<double> by_slice(kSlices);
  double all = 0;
  for (const SliceCost& cost : costs) {
    by_location[cost.location] += cost.cost_s;
    by_slice[cost.slice] += cost.cost_s;
    all += cost.cost_s;
  }
  if (all <= 0) return {};
  Constancy result;
  result.same_place = 0;
  // The mean weighs a slice by its part of the cost: min(p(l), p(l,s)) * X(s)/X.
  for (const SliceCost& cost : costs) {
    const double weight = by_slice[cost.slice] / all;
    result.same_place += std::min(by_location[cost.location] / all * weight, cost.cost_s / all);
  }
  const double largest = *std::max_element(by_slice.begin(), by_slice.end());
  result.course = largest >= kBurst * all       ? Course::burst
                  : result.same_place < kMoving ? Course::moving
                                                : Course::steady;
  return result;
}

std::vector<FoundDistribution> distribute_delays(const replay::Run& run,
                                                 const replay::WaitGraph& graph,
                                                 const DelayAnalysis& delays,
                                                 const Profiles& profiles, unsigned threads,
                                                 Budget& budget) {
  return Distributor(run, graph, delays).distribute(profiles, threads, budget);
}

}  // namespace culprit::blame
