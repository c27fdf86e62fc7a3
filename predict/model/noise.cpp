// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The power is chosen by the likelihood of the repeats' differences from their means, and only
// where there are enough of these.
#include "predict/model/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace culprit::predict {
namespace {

constexpr double kFloor = 1e-3;  ///< of the largest size
/// Fewer degrees of freedom, or a smaller logarithm of the ratio of likelihoods, prove no power.
constexpr double kLeastDegrees = 5;
constexpr double kLeastProof = 2;

double squares_around_mean(const Sample& sample) {
  const double middle = mean(sample);
  double sum = 0;
  for (const double value : sample.values) sum += (value - middle) * (value - middle);
  return sum;
}

/// Logarithm of the likelihood of the repeats, by the scale that fits them best.
double likelihood(std::span<const Sample> samples, std::span<const double> sizes, Noise& noise) {
  double logarithms = 0;
  noise.squares = noise.degrees = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto degrees = static_cast<double>(samples[i].values.size() - 1);
    const double variance = noise.variance(sizes[i]);
    noise.squares += squares_around_mean(samples[i]) / variance;
    noise.degrees += degrees;
    logarithms += degrees * std::log(variance) / 2;
  }
  if (noise.degrees <= 0 || noise.squares <= 0) return 0;
  return -logarithms - noise.degrees / 2 * std::log(noise.squares / noise.degrees);
}

}  // namespace

double mean(const Sample& sample) {
  return std::accumulate(sample.values.begin(), sample.values.end(), 0.0) /
         static_cast<double>(sample.values.size());
}

double Noise::variance(double size) const {
  return std::pow(std::max(std::abs(size), floor), 2 * power);
}

Noise noise_of(std::span<const Sample> samples, std::span<const double> sizes) {
  double largest = 0;
  for (const double size : sizes) largest = std::max(largest, std::abs(size));
  Noise best{.power = 1, .floor = kFloor * largest};
  double most = likelihood(samples, sizes, best) + kLeastProof;
  if (best.degrees < kLeastDegrees) return best;
  for (const double power : {0.5, 0.0}) {
    Noise other{.power = power, .floor = best.floor};
    const double proof = likelihood(samples, sizes, other);
    if (proof > most) most = proof, best = other;
  }
  return best;
}

}  // namespace culprit::predict
