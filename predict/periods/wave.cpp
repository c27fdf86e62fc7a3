// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Compares the strongest frequency, with its multiples, with the power of noise at any of the
// frequencies tried.
#include "predict/periods/wave.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "predict/periods/phases.h"
#include "predict/periods/spectrum.h"

namespace culprit::predict {
namespace {

constexpr double kInPeriod = 16;  ///< samples that are enough to see a period

/// Means of `factor` values each.
std::vector<double> thinned(std::span<const double> values, size_t factor) {
  std::vector<double> means;
  for (size_t i = 0; i + factor <= values.size(); i += factor) {
    double sum = 0;
    for (size_t j = 0; j < factor; ++j) sum += values[i + j];
    means.push_back(sum / static_cast<double>(factor));
  }
  return means;
}

/// Periods in `n` samples at the peak nearest to `expected`, refined.
double peak_near(std::span<const double> values, double expected) {
  constexpr size_t kPadding = 4;
  const size_t n = values.size(), padded = std::bit_ceil(n * kPadding);
  std::vector<double> windowed(padded);
  for (size_t i = 0; i < n; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    windowed[i] = values[i] * (0.5 - 0.5 * std::cos(turn));
  }
  const std::vector<double> power = power_of(windowed);
  const double scale = static_cast<double>(padded) / static_cast<double>(n);
  const auto bin = [&](double k) {
    return std::clamp(static_cast<size_t>(std::lround(k * scale)), size_t{1}, power.size() - 2);
  };
  size_t peak = bin(expected);
  for (size_t k = bin(expected - 1); k <= bin(expected + 1); ++k) {
    if (power[k] > power[peak]) peak = k;
  }
  const double left = std::log(power[peak - 1] + 1e-300), middle = std::log(power[peak] + 1e-300),
               right = std::log(power[peak + 1] + 1e-300);
  const double bend = left - 2 * middle + right;
  const double shift = bend < 0 ? std::clamp((left - right) / (2 * bend), -0.5, 0.5) : 0;
  return (static_cast<double>(peak) + shift) / scale;
}

}  // namespace

Wave wave_near(std::span<const double> values, double period) {
  Wave wave;
  const size_t factor = std::max<size_t>(1, static_cast<size_t>(period / kInPeriod));
  const std::vector<double> few = without_trend(thinned(values, factor));
  const double n = static_cast<double>(few.size());
  if (few.size() < 24) return wave;
  const double periods = peak_near(few, n * static_cast<double>(factor) / period);
  wave.period = n * static_cast<double>(factor) / periods;
  const std::vector<double> power = power_of(few);
  double variance = 0;  // n^2 / 2 of it: the sum over frequencies
  for (size_t k = 1; k < power.size(); ++k) variance += power[k];
  const double mean = variance / static_cast<double>(power.size() - 1);
  const size_t k = static_cast<size_t>(std::lround(periods));
  if (!(variance > 0) || k < 1 || k >= power.size()) return wave;
  const double a = std::clamp(autocorrelation(few)[1], 0.0, 0.999);
  const double red =
      (1 - a * a) / (1 + a * a - 2 * a * std::cos(2 * std::numbers::pi * periods / n));
  const double ratio = power[k] / mean / red;
  wave.chance = -std::expm1(n / 2 * std::log1p(-std::exp(-ratio)));
  for (size_t harmonic = 1; harmonic <= 4; ++harmonic) {
    const auto at = static_cast<size_t>(std::lround(periods * static_cast<double>(harmonic)));
    for (size_t j = at - 1; j <= at + 1 && j < power.size(); ++j) wave.share += power[j] / variance;
  }
  wave.share = std::min(wave.share, 1.0);
  return wave;
}

double autocorrelation_confidence(std::span<const double> values, double period) {
  constexpr double kLeastHeight = 0.15;
  const auto lags = autocorrelation(smoothed(values, static_cast<size_t>(period / 8)));
  std::vector<double> peaks = {0};
  for (size_t times = 1;; ++times) {
    const double around = peaks.back() + period;
    const auto from = static_cast<size_t>(around - period / 4);
    const auto to = static_cast<size_t>(around + period / 4);
    if (to + 1 >= lags.size()) break;
    const auto peak = std::max_element(lags.begin() + static_cast<std::ptrdiff_t>(from),
                                       lags.begin() + static_cast<std::ptrdiff_t>(to) + 1);
    if (*peak < kLeastHeight) break;
    peaks.push_back(static_cast<double>(peak - lags.begin()));
  }
  if (peaks.size() < 2) return 0;
  double squares = 0;
  const double count = static_cast<double>(peaks.size() - 1), mean = peaks.back() / count;
  for (size_t i = 1; i < peaks.size(); ++i) {
    squares += (peaks[i] - peaks[i - 1] - mean) * (peaks[i] - peaks[i - 1] - mean);
  }
  return std::max(0.0, 1 - std::sqrt(squares / count) / mean);
}

}  // namespace culprit::predict
