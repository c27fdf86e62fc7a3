// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Otsu's idea: of all levels that could divide low values from high ones, the one between whose
// sides most of the variance lies.
#include "predict/periods/phases.h"

#include <algorithm>
#include <cmath>

namespace culprit::predict {
namespace {

constexpr double kFew = 0.05;  ///< of the samples

struct Split {
  double value = 0;          ///< the smallest of the upper side
  double low = 0, high = 0;  ///< means of the sides
  size_t above = 0;
};

/// Otsu's, of sorted values: the split with the largest n1 n2 (mean2 - mean1)^2.
Split otsu(std::span<const double> sorted) {
  double all = 0;
  for (const double value : sorted) all += value;
  Split best;
  double most = 0, below = 0;
  for (size_t i = 1; i < sorted.size(); ++i) {
    below += sorted[i - 1];
    if (sorted[i] == sorted[i - 1]) continue;
    const double n1 = static_cast<double>(i), n2 = static_cast<double>(sorted.size() - i);
    const double low = below / n1, high = (all - below) / n2;
    const double between = n1 * n2 * (high - low) * (high - low);
    if (between > most) most = between, best = {sorted[i], low, high, sorted.size() - i};
  }
  return best;
}

}  // namespace

std::vector<Level> levels_of(std::span<const double> values) {
  constexpr int kCuts = 2;
  std::vector<Level> levels;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double few = kFew * static_cast<double>(sorted.size());
  const double hardly = sorted.front() + 1e-9 * (sorted.back() - sorted.front());
  const auto nothing = std::upper_bound(sorted.begin(), sorted.end(), hardly) - sorted.begin();
  if (static_cast<double>(nothing) >= few && static_cast<size_t>(nothing) < sorted.size()) {
    levels.push_back(
        {std::nextafter(hardly, sorted.back()), std::nextafter(hardly, sorted.back())});
  }
  for (int cuts = 0; cuts <= kCuts; ++cuts) {
    const Split split = otsu(sorted);
    if (split.above == 0) break;
    const double middle = (split.low + split.high) / 2;
    levels.push_back({middle, (split.low + middle) / 2});
    if (static_cast<double>(split.above) > few) break;
    std::replace_if(
        sorted.begin(), sorted.end(), [&](double v) { return v >= split.value; },
        *(sorted.end() - static_cast<std::ptrdiff_t>(split.above) - 1));
  }
  return levels;
}

std::vector<Phase> phases_of(std::span<const double> values, Level level) {
  std::vector<Phase> phases;
  for (size_t i = 0; i < values.size();) {
    if (values[i] < level.enter) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < values.size() && values[i] >= level.leave) ++i;
    if (begin > 0) phases.push_back({begin, i});
  }
  return phases;
}

std::vector<Phase> joined(std::span<const Phase> phases, size_t gap) {
  std::vector<Phase> all;
  for (const Phase& phase : phases) {
    if (!all.empty() && phase.begin - all.back().end < gap) {
      all.back().end = phase.end;
    } else {
      all.push_back(phase);
    }
  }
  return all;
}

size_t natural_gap(std::span<const Phase> phases, size_t least) {
  constexpr double kGrowth = 3;
  std::vector<size_t> gaps;
  for (size_t i = 1; i < phases.size(); ++i) gaps.push_back(phases[i].begin - phases[i - 1].end);
  std::sort(gaps.begin(), gaps.end());
  double most = kGrowth;
  size_t divides = 0;
  for (size_t i = 1; i < gaps.size(); ++i) {
    const size_t left = gaps.size() - i + 1;  // phases, if these gaps and larger ones divide them
    const double growth = static_cast<double>(gaps[i]) / static_cast<double>(gaps[i - 1]);
    if (left >= least && growth >= most) most = growth, divides = gaps[i];
  }
  return divides;
}

std::vector<double> smoothed(std::span<const double> values, size_t width) {
  if (width < 2) return {values.begin(), values.end()};
  std::vector<double> sums(values.size() + 1), means(values.size());
  for (size_t i = 0; i < values.size(); ++i) sums[i + 1] = sums[i] + values[i];
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t begin = i - std::min(i, width / 2);
    const size_t end = std::min(i + (width + 1) / 2, values.size());
    means[i] = (sums[end] - sums[begin]) / static_cast<double>(end - begin);
  }
  return means;
}

}  // namespace culprit::predict
