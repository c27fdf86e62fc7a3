// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tests work on ranks (of values, not of processes), so that a few large costs do not decide.
// Thresholds are at the top.
#include "blame/when/timing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "base/statistics.h"

namespace culprit::blame {

namespace {

constexpr double kMostOfIt = 0.8;
constexpr double kShortPart = 0.05;  ///< of the steps
constexpr double kChance = 1e-3;
constexpr double kDiffer = 2;   ///< times, of the means on both sides of a step
constexpr double kRises = 0.5;  ///< of the mean
constexpr double kFitsBetter = 0.8;
constexpr size_t kLeastCycles = 5;
constexpr size_t kLongestPeriod = 256;
constexpr double kLeastOfPeriodic = 0.3;  ///< of the cost
constexpr double kOverChance = 3;         ///< times what one of so many phases has by chance
constexpr double kLeastEffective = 4;
constexpr double kUnlikely = 3.3;  ///< standard deviations

using Series = std::vector<double>;

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double mean(std::span<const double> values) {
  return values.empty() ? 0 : sum(values) / static_cast<double>(values.size());
}

/// Returns the ranks of values, from 1; equal values get the mean of their ranks.
Series ranks_of(std::span<const double> values) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  Series ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    const double rank = static_cast<double>(i + end + 1) / 2;
    for (; i < end; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

/// value = at + slope * (i - middle)
struct Line {
  double at = 0, slope = 0, middle = 0;
  double operator()(size_t i) const { return at + slope * (static_cast<double>(i) - middle); }
};

Line line_through(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  Line line{mean(values), 0, (n - 1) / 2};
  double products = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    products += (static_cast<double>(i) - line.middle) * (values[i] - line.at);
  }
  if (n > 1) line.slope = products / (n * (n * n - 1) / 12);
  return line;
}

/// One mean before a step, and one from it on.
struct Stairs {
  size_t step;
  double before, after;
  double operator()(size_t i) const { return i < step ? before : after; }
};

Stairs stairs_at(std::span<const double> values, size_t step) {
  return {step, mean(values.first(step)), mean(values.subspan(step))};
}

template <class Fit>
double squared_error(std::span<const double> values, const Fit& fit) {
  double error = 0;
  for (size_t i = 0; i < values.size(); ++i) error += std::pow(values[i] - fit(i), 2);
  return error;
}

/// Returns the effective number of independent values, given the correlation of neighbours that the
/// fit leaves.
template <class Fit>
double effective(std::span<const double> ranks, const Fit& fit) {
  const size_t n = ranks.size();
  double products = 0, squares = 0;
  for (size_t i = 0; i < n; ++i) {
    const double left = ranks[i] - fit(i);
    squares += left * left;
    if (i + 1 < n) products += left * (ranks[i + 1] - fit(i + 1));
  }
  const double r = squares > 0 ? std::clamp(products / squares, 0.0, 1.0) : 0;
  return std::max(kLeastEffective, static_cast<double>(n) * (1 - r) / (1 + r));
}

// --- the tests --------------------------------------------------------------------------------

bool happens_once(std::span<const double> costs, Timing& found) {
  const double wanted = kMostOfIt * sum(costs);
  const double longest = std::max(1.0, kShortPart * static_cast<double>(costs.size()));
  double inside = 0;
  size_t first = 0, best = costs.size() + 1;
  for (size_t i = 0; i < costs.size(); ++i) {
    inside += costs[i];
    while (first < i && inside - costs[first] >= wanted) inside -= costs[first++];
    if (inside < wanted || i - first + 1 >= best) continue;
    best = i - first + 1;
    found = {Course::once, first, i + 1, 0};
  }
  return static_cast<double>(best) <= longest;
}

/// The values at one phase of cycles of some length.
struct Phase {
  size_t phase = 0, hits = 0;
};

Phase most_often_largest(std::span<const double> costs, size_t period) {
  std::vector<size_t> hits(period);
  for (size_t begin = 0; begin + period <= costs.size(); begin += period) {
    const auto cycle = costs.subspan(begin, period);
    const auto largest = std::max_element(cycle.begin(), cycle.end());
    if (*largest > 0) ++hits[static_cast<size_t>(largest - cycle.begin())];
  }
  const auto most = std::max_element(hits.begin(), hits.end());
  return {static_cast<size_t>(most - hits.begin()), *most};
}

bool comes_again(std::span<const double> costs, Timing& found) {
  const size_t n = costs.size();
  const double all = sum(costs);
  double best = kChance;
  for (size_t period = 3; period <= std::min(n / kLeastCycles, kLongestPeriod); ++period) {
    const size_t cycles = n / period;
    const auto [phase, hits] = most_often_largest(costs, period);
    if (static_cast<double>(hits) < kMostOfIt * static_cast<double>(cycles)) continue;
    const auto length = static_cast<double>(period);
    double cost = 0;
    for (size_t i = phase; i < n; i += period) cost += costs[i];
    if (cost < std::max(kOverChance / length, kLeastOfPeriodic) * all) continue;
    // By chance at any phase, of any of the lengths that were tried. Where no double is as small,
    // the shortest period stays: longer ones are multiples of it.
    const double chance =
        binomial_tail(cycles, hits, 1 / length) * length * static_cast<double>(n) / kLeastCycles;
    if (chance >= best) continue;
    best = chance;
    found = {Course::every, phase, n, period};
  }
  return best < kChance;
}

/// Finds the step where the ranks before and after differ most, if the difference is significant.
bool has_step(std::span<const double> costs, std::span<const double> ranks, Stairs& found) {
  const size_t n = costs.size();
  const auto count = static_cast<double>(n);
  double below = 0, largest = 0;
  size_t step = 0;
  for (size_t i = 0; i + 1 < n; ++i) {
    below += ranks[i];
    const double k = std::abs(2 * below - static_cast<double>(i + 1) * (count + 1));
    if (k > largest) largest = k, step = i + 1;
  }
  if (step == 0) return false;
  const double k = largest / (count * count);
  const double chance = 2 * std::exp(-6 * effective(ranks, stairs_at(ranks, step)) * k * k);
  found = stairs_at(costs, step);
  const auto [least, most] = std::minmax(found.before, found.after);
  const auto shorter = static_cast<double>(std::min(step, n - step));
  return chance < kChance && most >= kDiffer * least && shorter >= kShortPart * count;
}

bool has_trend(std::span<const double> costs, std::span<const double> ranks, Line& found) {
  const auto n = static_cast<double>(costs.size());
  const Line of_ranks = line_through(ranks);
  const double rho = of_ranks.slope;  // ranks and steps have the same variance
  const double z = std::abs(rho) * std::sqrt(effective(ranks, of_ranks) - 1);
  found = line_through(costs);
  const double rise = std::abs(found.slope) * (n - 1);
  return 2 * normal_probability(-z) < kChance && rise >= kRises * found.at;
}

}  // namespace

Timing find_timing(std::span<const double> costs) {
  const size_t n = costs.size();
  Timing found;
  if (n < kLeastSteps || sum(costs) <= 0) return {};
  if (happens_once(costs, found) || comes_again(costs, found)) return found;
  const Series ranks = ranks_of(costs);
  Stairs stairs{};
  Line line;
  bool step = has_step(costs, ranks, stairs);
  const bool trend = has_trend(costs, ranks, line);
  if (step && trend) {
    step = squared_error(costs, stairs) < kFitsBetter * squared_error(costs, line);
  }
  if (step && stairs.after > stairs.before) return {Course::from, stairs.step, n, 0};
  if (step) return {Course::until, 0, stairs.step, 0};
  if (trend) return {line.slope > 0 ? Course::growing : Course::shrinking, 0, n, 0};
  return {};
}

double rise(std::span<const double> values) {
  return line_through(values).slope;
}

Movement find_movement(std::span<const uint32_t> places) {
  const auto n = static_cast<double>(places.size());
  std::map<uint32_t, double> counts;
  for (uint32_t place : places) ++counts[place];
  double most = 0, chance = 0;  // that two steps have the same place
  for (const auto& [place, count] : counts) {
    most = std::max(most, count);
    chance += count / n * count / n;
  }
  if (places.size() < 2 || most >= kMostOfIt * n) return Movement::stays;
  double repeats = 0;
  for (size_t i = 1; i < places.size(); ++i) repeats += places[i] == places[i - 1];
  const double z = (repeats - (n - 1) * chance) / std::sqrt((n - 1) * chance * (1 - chance));
  return z > kUnlikely ? Movement::moves : z < -kUnlikely ? Movement::turns : Movement::random;
}

}  // namespace culprit::blame
