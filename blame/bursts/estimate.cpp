// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Strata are joined from the leaves of their tree up. A cost's residual in a window is what the
// window has of it beyond what its time would have at the ratio of all windows; all bounds follow
// from the residuals.

#include "blame/bursts/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/statistics.h"

namespace culprit::blame {
namespace {

constexpr double kHeld = 0.975;       ///< on each side, so that 95 of 100 lie within
constexpr size_t kFewestWindows = 2;  ///< that must have seen a stratum; and for any variance

size_t windows_that_saw(const Stratum& stratum) {
  return static_cast<size_t>(
      std::count_if(stratum.seen_s.begin(), stratum.seen_s.end(), [](double s) { return s > 0; }));
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum;
}

void join(Stratum& into, Stratum& stratum) {
  into.whole_s += stratum.whole_s;
  for (size_t j = 0; j < into.seen_s.size(); ++j) into.seen_s[j] += stratum.seen_s[j];
  stratum.whole_s = 0;
  std::fill(stratum.seen_s.begin(), stratum.seen_s.end(), 0.0);
}

struct Spread {
  double half = 0;
  double degrees = 0;
};

/// Returns half the width of the interval from what windows differ. Infinite for fewer than two.
Spread spread_of(const Strata& strata, const std::vector<double>& z) {
  const auto n = static_cast<double>(strata.windows());
  if (strata.windows() < kFewestWindows) return {std::numeric_limits<double>::infinity(), 0};
  double squares = 0, fourths = 0, differences = 0;
  for (size_t j = 0; j < z.size(); ++j) {
    const double square = z[j] * z[j];
    squares += square;
    fourths += square * square;
    if (j > 0) differences += (z[j] - z[j - 1]) * (z[j] - z[j - 1]);
  }
  if (!(fourths > 0)) return {0, n - 1};
  const double left_out = std::max(0.0, 1 - strata.covered());
  const double variance = left_out * n / (n - 1) * std::max(squares, differences / 2);
  const double degrees = std::clamp(squares * squares / fourths, 1.0, n - 1);
  return {student_quantile(kHeld, degrees) * std::sqrt(variance), degrees};
}

}  // namespace

Strata::Strata(std::vector<Stratum> strata, size_t windows, double covered, bool apart)
    : strata_(std::move(strata)),
      group_(strata_.size()),
      unseen_s_(strata_.size()),
      sums_s_(strata_.size()),
      windows_(windows),
      covered_(covered),
      is_apart_(apart) {
  for (size_t i = 0; i < strata_.size(); ++i) {
    Stratum& each = strata_[i];
    each.seen_s.resize(windows_);
    group_[i] = i;
    const double seen = sum_of(each.seen_s);
    // Two measurements of it need not be the same.
    each.whole_s = std::max(each.whole_s, is_apart_ ? 0 : seen);
    whole_s_ += each.whole_s;
    if (!is_apart_) seen_s_ += seen;
    if (seen <= 0) unseen_s_[i] = each.whole_s;
  }
  const size_t fewest = is_apart_ ? 1 : kFewestWindows;
  for (size_t i = strata_.size(); i-- > 0;) {  // children before their parents
    Stratum& each = strata_[i];
    if (each.parent == kNoStratum || windows_that_saw(each) >= fewest) continue;
    group_[i] = each.parent;
    unseen_s_[each.parent] += unseen_s_[i];
    unseen_s_[i] = 0;
    join(strata_[each.parent], each);
  }
  for (size_t i = 0; i < strata_.size(); ++i) {
    group_[i] = group_[group_[i]];  // that of the parent is settled
    sums_s_[i] = sum_of(strata_[i].seen_s);
    // One window alone does not say how much others would differ.
    const bool vouched = windows_that_saw(strata_[i]) >= kFewestWindows;
    if (!vouched) unseen_s_[i] = strata_[i].whole_s - (is_apart_ ? 0 : sums_s_[i]);
    all_unseen_s_ += unseen_s_[i];
  }
}

double Strata::factor(size_t stratum) const {
  const size_t group = group_[stratum];
  return sums_s_[group] > 0 ? strata_[group].whole_s / sums_s_[group] : 1;
}

ScaledCost& ScaledCost::operator+=(const ScaledCost& other) {
  cost_s += other.cost_s;
  seen_s += other.seen_s;
  unseen_s += other.unseen_s;
  residuals_s.resize(std::max(residuals_s.size(), other.residuals_s.size()));
  for (size_t j = 0; j < other.residuals_s.size(); ++j) residuals_s[j] += other.residuals_s[j];
  return *this;
}

ScaledCost ScaledCost::times(double factor) const {
  ScaledCost product = *this;
  product.cost_s *= factor;
  product.seen_s *= factor;
  product.unseen_s *= factor;
  for (double& residual : product.residuals_s) residual *= factor;
  return product;
}

ScaledCost scale_up(const Strata& strata, std::span<const SeenCost> seen) {
  ScaledCost scaled;
  scaled.residuals_s.resize(strata.windows());
  std::map<size_t, double> cost_by_group;
  for (const SeenCost& each : seen) {
    const double factor = strata.factor(each.stratum);
    cost_by_group[strata.group(each.stratum)] += each.cost_s;
    scaled.cost_s += factor * each.cost_s;
    if (!strata.is_apart()) scaled.seen_s += each.cost_s;
    scaled.residuals_s[each.window] += factor * each.cost_s;
  }
  for (const auto& [group, cost_s] : cost_by_group) {
    const Stratum& stratum = strata.at_group(group);
    const double time_s = sum_of(stratum.seen_s);
    if (time_s <= 0) continue;
    const double ratio = cost_s / time_s, factor = strata.factor(group);
    scaled.unseen_s += ratio * strata.unseen_s(group);
    for (size_t j = 0; j < strata.windows(); ++j) {
      scaled.residuals_s[j] -= factor * ratio * stratum.seen_s[j];
    }
  }
  return scaled;
}

ScaledCost part_of(const ScaledCost& whole, std::span<const double> seen_s,
                   std::span<const double> part_s) {
  double seen = 0, part = 0;
  for (double each : seen_s) seen += each;
  for (double each : part_s) part += each;
  if (!(seen > 0)) return {};
  const double ratio = part / seen, factor = whole.cost_s / seen;
  ScaledCost scaled = whole.times(ratio);  // of what was seen, too
  for (size_t j = 0; j < scaled.residuals_s.size(); ++j) {
    scaled.residuals_s[j] += factor * (part_s[j] - ratio * seen_s[j]);
  }
  return scaled;
}

/// The factor is an estimate, too: where parts come to more than the whole in a window, all of them
/// are too large there by their share of that.
ScaledCost balanced(const ScaledCost& part, const ScaledCost& sum, const ScaledCost& whole) {
  if (!(sum.cost_s > 0) || !(whole.cost_s > 0)) return part;
  const double factor = whole.cost_s / sum.cost_s;
  ScaledCost result = part.times(factor);
  result.seen_s = part.seen_s;
  const double share = result.cost_s / whole.cost_s;
  for (size_t j = 0; j < result.residuals_s.size(); ++j) {
    result.residuals_s[j] += share * (whole.residuals_s[j] - factor * sum.residuals_s[j]);
  }
  return result;
}

Interval interval(const Strata& strata, const ScaledCost& cost) {
  const Spread spread = spread_of(strata, cost.residuals_s);
  const double most_s = cost.seen_s + std::max(0.0, strata.whole_s() - strata.seen_s());
  const double unseen_s = strata.all_unseen_s();
  return {std::max(cost.seen_s, cost.cost_s - cost.unseen_s - spread.half),
          std::min(most_s, cost.cost_s - cost.unseen_s + unseen_s + spread.half), spread.degrees};
}

Interval interval_of_share(const Strata& strata, const ScaledCost& part, double part_known_s,
                           const ScaledCost& whole, double whole_known_s) {
  const double whole_s = whole_known_s + whole.cost_s;
  if (!(whole_s > 0)) return {};
  const double share = (part_known_s + part.cost_s) / whole_s;
  std::vector<double> residuals(strata.windows());
  for (size_t j = 0; j < residuals.size(); ++j) {
    const double of_part = j < part.residuals_s.size() ? part.residuals_s[j] : 0;
    const double of_whole = j < whole.residuals_s.size() ? whole.residuals_s[j] : 0;
    residuals[j] = (of_part - share * of_whole) / whole_s;
  }
  const Spread spread = spread_of(strata, residuals);
  // Of what no window saw, all may be waiting: for others, or for this.
  const double least_s = part_known_s + part.cost_s - part.unseen_s;
  const double widest_s = whole_s - whole.unseen_s + strata.all_unseen_s();
  // Whatever the spread: what was seen is certain, and the rest of the calls is all or nothing.
  const double rest_s = std::max(0.0, strata.whole_s() - strata.seen_s());
  const double all_s = std::max(whole_known_s + whole.seen_s, 0.0) + rest_s;
  const double certain_s = std::max(part_known_s + part.seen_s, 0.0);
  const double least = all_s > 0 ? std::min(certain_s / all_s, share) : 0;
  const double most = all_s > 0 ? std::clamp((certain_s + rest_s) / all_s, share, 1.0) : 1;
  return {std::max(least, least_s / widest_s - spread.half),
          std::min(most, (least_s + strata.all_unseen_s()) / widest_s + spread.half),
          spread.degrees};
}

}  // namespace culprit::blame
