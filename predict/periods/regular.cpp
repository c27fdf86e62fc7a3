// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Distances are compared with the usual one; those much longer are interruptions, and a few that
// hold several periods are missing moments.
#include "predict/periods/regular.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/statistics.h"

namespace culprit::predict {
namespace {

constexpr double kMostTimes = 3;      ///< periods in a distance that is no interruption
constexpr double kUncountable = 0.4;  ///< so far from whole periods nobody knows how many

/// The lower one of two in the middle: of two kinds of distances it is one, not their mean.
double median_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

struct Moments {
  size_t count = 0;
  double mean = 0, deviation = 0;

  double mean_variance() const { return deviation * deviation / static_cast<double>(count); }
};

/// Returns count, mean and deviation of the values within `width` of `around`.
Moments moments_of(std::span<const double> values, double around, double width) {
  Moments found;
  double squares = 0;
  for (const double value : values) {
    if (std::abs(value - around) > width) continue;
    const double before = found.mean;
    found.mean += (value - before) / static_cast<double>(++found.count);
    squares += (value - before) * (value - found.mean);  // Welford
  }
  if (found.count > 1) found.deviation = std::sqrt(squares / static_cast<double>(found.count - 1));
  return found;
}

/// Of gaps at random with this median, after `dead`: the part of distances within `width` of
/// `usual`.
double share_at_random(double usual, double width, double dead) {
  const double rate = std::numbers::ln2 / (usual - dead);
  const double from = std::max(usual - width - dead, 0.0), to = usual + width - dead;
  return std::exp(-rate * from) - std::exp(-rate * to);
}

/// The part of the simplex of `count` gaps with a fixed sum in which their coefficient of variation
/// is at most `variation`: a ball of count - 1 dimensions, cut by the simplex where it is large.
double simplex_share(size_t count, double variation) {
  const double k = static_cast<double>(count), n = k - 1;
  if (variation <= 0) return 0;
  const double log_ball = n / 2 * std::log(std::numbers::pi) - std::lgamma(n / 2 + 1) +
                          n * std::log(variation / std::sqrt(k));
  const double log_simplex = std::log(k) / 2 - std::lgamma(k);
  return std::min(std::exp(log_ball - log_simplex), 1.0);
}

/// A moment: its number in periods, and when it came.
struct Counted {
  double number = 0, time = 0;
};

/// Least squares of time over number, of several series with one period and offsets of their own.
class Slope {
 public:
  void add(const std::vector<Counted>& moments) {
    Counted mean;
    const double n = static_cast<double>(moments.size());
    for (const Counted& each : moments) mean.number += each.number / n, mean.time += each.time / n;
    for (const Counted& each : moments) {
      products_ += (each.number - mean.number) * (each.time - mean.time);
      squares_ += (each.number - mean.number) * (each.number - mean.number);
    }
  }
  double value(double otherwise) const { return squares_ > 0 ? products_ / squares_ : otherwise; }

 private:
  double products_ = 0, squares_ = 0;
};

/// The usual distance: the mean of those that are like the median, found again from that.
double usual_of(std::span<const double> distances) {
  double usual = median_of(distances);
  for (int i = 0; i < 2; ++i) usual = moments_of(distances, usual, kAlike * usual).mean;
  return usual;
}

}  // namespace

Regularity regularity_of(std::span<const double> distances, double dead) {
  Regularity found;
  found.distances = distances.size();
  if (distances.size() < kLeastDistances) return found;
  const double usual = usual_of(distances);
  if (!(usual > 0)) return found;
  std::vector<Counted> moments = {{}};  // that can be counted from the first of them
  Slope slope;
  for (const double distance : distances) {
    const double times = std::round(distance / usual);
    const double off = std::abs(distance - times * usual);
    if (times > kMostTimes) ++found.interruptions;
    if (times > kMostTimes || off > kUncountable * usual) {
      slope.add(moments);
      moments = {{}};
      continue;
    }
    moments.push_back({moments.back().number + times, moments.back().time + distance});
    if (off > kAlike * usual || times < 1) continue;
    times > 1 ? ++found.multiples : ++found.alike;
    found.missed += static_cast<size_t>(times) - 1;
  }
  slope.add(moments);
  found.period = slope.value(usual);
  found.deviation = moments_of(distances, usual, kAlike * usual).deviation;
  dead = std::min(dead, 0.95 * usual);
  const double narrow = kAlike * (usual - dead);
  for (const double width : {kAlike * usual, narrow}) {
    const size_t hits = moments_of(distances, usual, width).count;
    const double each = share_at_random(usual, width, dead);
    const double chance = binomial_tail(distances.size() - 1, hits > 0 ? hits - 1 : 0, each);
    found.chance = std::min(found.chance, chance);
  }
  if (found.alike == distances.size()) {
    const double variation = found.deviation / (usual - dead);
    found.chance = std::min(found.chance, simplex_share(distances.size(), variation));
  }
  found.chance = std::min(3 * found.chance, 1.0);
  return found;
}

size_t change_in(std::span<const double> distances) {
  constexpr size_t kLeast = 4, kPlaces = 500;
  constexpr double kSignificant = 4, kFewer = 32, kDiffers = 0.1;
  size_t best = 0;
  std::pair<size_t, double> most;  // distances that are like their side's, then t
  // Of very many distances a few hundred places are enough: some phases more or less change
  // nothing.
  const size_t stride = 1 + distances.size() / kPlaces;
  for (size_t at = kLeast; at + kLeast <= distances.size(); at += stride) {
    const auto moments = [](std::span<const double> side) {
      const double usual = median_of(side);
      return moments_of(side, usual, kAlike * usual);
    };
    const Moments before = moments(distances.first(at)), after = moments(distances.subspan(at));
    const size_t least = std::min(before.count, after.count);
    const double differ = std::abs(before.mean - after.mean);
    if (least < kLeast || differ < kDiffers * std::min(before.mean, after.mean)) continue;
    const double variance = before.mean_variance() + after.mean_variance();
    const double t = differ / std::sqrt(variance + 1e-12 * differ * differ);
    if (t <= kSignificant + kFewer / static_cast<double>(least)) continue;
    const std::pair here(before.count + after.count, t);
    if (here > most) most = here, best = at;
  }
  return best;
}

}  // namespace culprit::predict
