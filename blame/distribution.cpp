// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/distribution.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/parallel.h"
#include "blame/path_kinds.h"

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

/// What some waits cost, by (delay, slice, location). Rows are joined now and then.
class CostTable {
 public:
  struct Row {
    size_t delay;
    SliceCost at;
  };
  void add(size_t delay, const SliceCost& cost) {
    rows_.push_back({delay, cost});
    if (rows_.size() >= limit_) {
      join();
      limit_ = std::max(kOften, 2 * rows_.size());
    }
  }
  void add(const CostTable& other) {
    for (const Row& row : other.rows_) add(row.delay, row.at);
  }
  /// Sums in the order in which they were added.
  void join() {
    const auto key = [](const Row& r) { return std::tie(r.delay, r.at.slice, r.at.location); };
    std::stable_sort(rows_.begin(), rows_.end(),
                     [&](const Row& a, const Row& b) { return key(a) < key(b); });
    size_t kept = 0;
    for (const Row& row : rows_) {
      if (kept > 0 && key(rows_[kept - 1]) == key(row)) {
        rows_[kept - 1].at.cost_s += row.at.cost_s;
      } else {
        rows_[kept++] = row;
      }
    }
    rows_.resize(kept);
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  static constexpr size_t kOften = 4096;
  size_t limit_ = kOften;
  std::vector<Row> rows_;
};

class Distributor {
 public:
  Distributor(const replay::Run& run, const replay::WaitGraph& graph, const DelayAnalysis& delays)
      : run_(run), graph_(graph), delays_(delays), number_(run.callpaths.size(), kNotTop) {}

  std::vector<FoundDistribution> distribute(const Profiles& profiles, unsigned threads) {
    choose_top();
    std::vector<CostTable> tables(run_.locations.size());
    parallel_for(run_.locations.size(), threads,
                 [&](size_t i) { sum_costs(run_.locations[i], tables[i]); });
    CostTable all;
    for (const CostTable& table : tables) all.add(table);
    all.join();
    for (const CostTable::Row& row : all.rows()) slices_[row.delay].push_back(row.at);
    describe(profiles);
    return std::move(found_);
  }

 private:
  static constexpr uint8_t kNotTop = UINT8_MAX;

  /// The call paths that cost most, on all locations.
  void choose_top() {
    std::map<CallPathId, double> costs;
    for (const DelayCost& cost : delays_.costs) costs[cost.path] += cost.short_s + cost.long_s;
    for (const auto& [path, cost] : costs) {
      found_.emplace_back();
      found_.back().callpath = path;
      found_.back().cost_s = cost;
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.cost_s > b.cost_s; });
    found_.resize(std::min(found_.size(), kDelaysWithDistribution));
    for (size_t i = 0; i < found_.size(); ++i) {
      number_[found_[i].callpath.index()] = static_cast<uint8_t>(i);
    }
    slices_.resize(found_.size());
  }

  /// The costs of all waits that `late` caused, at the time of the wait.
  void sum_costs(LocationId late, CostTable& table) const {
    const Column<Excess>& excess = delays_.excess[late.index()];
    for (WaitRef ref : delays_.caused[late.index()]) {
      const replay::Wait& wait = graph_.waits[ref.location.index()][ref.wait];
      const WaitCause& cause = delays_.causes[ref.location.index()][ref.wait];
      for (uint32_t e = cause.first_excess; e < cause.end_excess; ++e) {
        const uint8_t delay = number_[excess[e].path.index()];
        if (delay == kNotTop) continue;
        const double share = excess[e].time.seconds() / cause.denominator_s;
        table.add(delay,
                  {slice_of(wait.begin), late, share * (wait.amount.seconds() + cause.long_s)});
      }
    }
    table.join();
  }

  size_t slice_of(Time time) const {
    const double part = (time - run_.begin).seconds() / run_.wall().seconds();
    return std::min(static_cast<size_t>(part * kSlices), kSlices - 1);
  }

  void describe(const Profiles& profiles) {
    const std::vector<bool> parallel = inside_parallel(run_);
    std::vector<std::vector<double>> loads(found_.size());
    std::vector<double> own(found_.size());
    for (LocationId id : run_.locations) {
      std::fill(own.begin(), own.end(), 0.0);
      for (const PathTime& entry : profiles[id.index()]) {
        const uint8_t delay = number_[entry.path.index()];
        if (delay != kNotTop) own[delay] = entry.time.seconds();
      }
      for (size_t i = 0; i < found_.size(); ++i) {
        const bool shares = parallel[found_[i].callpath.index()] || run_.is_master(id);
        if (shares || own[i] > 0) loads[i].push_back(own[i]);
      }
    }
    for (size_t i = 0; i < found_.size(); ++i) {
      FoundDistribution& row = found_[i];
      row.locations = loads[i].size();
      const Groups groups = find_groups(std::move(loads[i]));
      const Constancy over_time = find_course(slices_[i]);
      row.shape = name(groups.shape);
      row.high = groups.high;
      row.low = groups.low;
      // Load that is even in total, and yet was waited for, was not at any one time.
      const bool moves = groups.shape == Shape::even && over_time.course != Course::burst;
      row.course = name(moves ? Course::moving : over_time.course);
      row.same_place = over_time.same_place;
    }
  }

  static const char* name(Shape shape) {
    constexpr const char* kNames[] = {
        "single", "even", "overloaded minority", "underloaded minority", "clusters", "spread"};
    return kNames[static_cast<size_t>(shape)];
  }
  static const char* name(Course course) {
    constexpr const char* kNames[] = {"burst", "steady", "moving"};
    return kNames[static_cast<size_t>(course)];
  }

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  const DelayAnalysis& delays_;
  std::vector<uint8_t> number_;  // by CallPathId: place in found_
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
                                                 const Profiles& profiles, unsigned threads) {
  return Distributor(run, graph, delays).distribute(profiles, threads);
}

}  // namespace culprit::blame
