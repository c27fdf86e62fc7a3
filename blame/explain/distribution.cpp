// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Groups are found by the cut with the least scatter inside the parts (Otsu's criterion, on sorted
// loads).
#include "blame/explain/distribution.h"

#include <algorithm>
#include <cmath>

#include "base/ranks/exchange.h"
#include "blame/profile/path_kinds.h"
#include "blame/when/cost_series.h"

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
  /// Returns the cut of a range into two that leaves the least scatter, and that scatter.
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

class Distributor {
 public:
  Distributor(const replay::Run& run, const DelayAnalysis& delays)
      : run_(run),
        delays_(delays),
        number_(run.callpaths.size(), kNotTop),
        parallel_(inside_parallel(run)) {}

  std::vector<FoundDistribution> distribute(const Profiles& profiles) {
    choose_top();
    describe(profiles);
    return std::move(found_);
  }

 private:
  static constexpr uint8_t kNotTop = UINT8_MAX;

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
    }
  }

  struct PathCost {
    CallPathId path;
    double cost_s;
  };

  /// Returns the costs of all ranks, in order of call path.
  std::vector<PathCost> all_costs(std::vector<double>& own) const {
    const auto list = [](const std::vector<double>& costs) {
      std::vector<PathCost> rows;
      for (size_t i = 0; i < costs.size(); ++i) {
        if (costs[i] > 0) rows.push_back({CallPathId(i), costs[i]});
      }
      return rows;
    };
    const std::vector<PathCost> all = concatenate(*run_.ranks, list(own));
    if (run_.ranks->alone()) return all;
    std::fill(own.begin(), own.end(), 0.0);
    for (const PathCost& cost : all) own[cost.path.index()] += cost.cost_s;
    return list(own);
  }

  void describe(const Profiles& profiles) {
    std::vector<std::vector<double>> loads(found_.size()), helpers(found_.size());
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
        if (shares) {
          loads[i].push_back(own[i]);
        } else if (own[i] > 0) {
          helpers[i].push_back(own[i]);
        }
      }
    }
    for (size_t i = 0; i < found_.size(); ++i) {
      loads[i] = loads_of_sharers(concatenate(*run_.ranks, loads[i]),
                                  concatenate(*run_.ranks, helpers[i]));
      FoundDistribution& row = found_[i];
      row.locations = loads[i].size();
      const Groups groups = find_groups(std::move(loads[i]));
      row.shape = groups.shape;
      row.high = groups.high;
      row.low = groups.low;
    }
  }

  const replay::Run& run_;
  const DelayAnalysis& delays_;
  std::vector<uint8_t> number_;       // by CallPathId: place in found_
  const std::vector<bool> parallel_;  // by CallPathId
  std::vector<FoundDistribution> found_;
};

}  // namespace

std::vector<double> loads_of_sharers(std::vector<double> loads,
                                     const std::vector<double>& helpers) {
  constexpr double kGoodPart = 0.1;  // of the largest load
  double largest = 0, own = 0, others = 0;
  for (const double load : loads) largest = std::max(largest, load), own += load;
  for (const double load : helpers) largest = std::max(largest, load), others += load;
  if (others > own) std::erase_if(loads, [](double load) { return load <= 0; });
  for (const double load : helpers) {
    if (load >= kGoodPart * largest) loads.push_back(load);
  }
  return loads;
}

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

std::vector<FoundDistribution> distribute_delays(const replay::Run& run,
                                                 const replay::WaitGraph& graph,
                                                 const DelayAnalysis& delays,
                                                 const Profiles& profiles, unsigned threads,
                                                 Budget& budget) {
  std::vector<FoundDistribution> rows = Distributor(run, delays).distribute(profiles);
  find_courses(run, graph, delays, threads, budget, rows);
  return rows;
}

}  // namespace culprit::blame
