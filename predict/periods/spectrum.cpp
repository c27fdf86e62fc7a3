// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// KissFFT transforms lengths of small factors; it would need n^2 steps for primes, so other lengths
// become convolutions of such a length.
#include "predict/periods/spectrum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <kissfft/kissfft.hh>
#include <numbers>
#include <numeric>

namespace culprit::predict {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> transformed(const std::vector<Complex>& x, bool inverse) {
  std::vector<Complex> y(x.size());
  kissfft<double>(x.size(), inverse).transform(x.data(), y.data());
  return y;
}

bool has_small_factors(size_t n) {
  for (const size_t factor : {2, 3, 5}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

/// jk = (j^2 + k^2 - (k - j)^2) / 2 makes a convolution of it, of a length that may be 2^m.
std::vector<Complex> bluestein(std::span<const double> values) {
  const size_t n = values.size(), padded = std::bit_ceil(2 * n);
  std::vector<Complex> chirp(n), a(padded), b(padded);
  for (size_t i = 0; i < n; ++i) {
    const size_t square = i * i % (2 * n);  // exact, where i * i / n is not
    chirp[i] =
        std::polar(1.0, std::numbers::pi * static_cast<double>(square) / static_cast<double>(n));
    a[i] = values[i] * std::conj(chirp[i]);
    b[i] = chirp[i];
    if (i > 0) b[padded - i] = chirp[i];
  }
  a = transformed(a, false);
  b = transformed(b, false);
  for (size_t i = 0; i < padded; ++i) a[i] *= b[i] / static_cast<double>(padded);
  a = transformed(a, true);
  a.resize(n);
  for (size_t i = 0; i < n; ++i) a[i] *= std::conj(chirp[i]);
  return a;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// z-scores of the amplitudes |X_k| of k >= 1, at k - 1.
std::vector<double> z_scores(std::span<const double> power) {
  std::vector<double> z;
  for (size_t k = 1; k < power.size(); ++k) z.push_back(std::sqrt(power[k]));
  const double mean = mean_of(z);
  double squares = 0;
  for (const double each : z) squares += (each - mean) * (each - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(z.size()));
  for (double& each : z) each = deviation > 0 ? (each - mean) / deviation : 0;
  return z;
}

}  // namespace

std::vector<Complex> fourier(std::span<const double> values) {
  if (values.empty()) return {};
  return has_small_factors(values.size()) ? transformed({values.begin(), values.end()}, false)
                                          : bluestein(values);
}

std::vector<double> without_trend(std::span<const double> values) {
  const double n = static_cast<double>(values.size()), middle = (n - 1) / 2, mean = mean_of(values);
  double slope = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    slope += (static_cast<double>(i) - middle) * (values[i] - mean);
  }
  if (n > 1) slope /= n * (n * n - 1) / 12;
  std::vector<double> rest(values.size());
  for (size_t i = 0; i < rest.size(); ++i) {
    rest[i] = values[i] - mean - slope * (static_cast<double>(i) - middle);
  }
  return rest;
}

std::vector<double> power_of(std::span<const double> values) {
  const std::vector<Complex> x = fourier(values);
  std::vector<double> power;
  for (size_t k = 0; k <= values.size() / 2; ++k) power.push_back(std::norm(x[k]));
  return power;
}

std::vector<double> autocorrelation(std::span<const double> values) {
  const size_t n = values.size();
  const double mean = mean_of(values);
  std::vector<Complex> x(std::bit_ceil(2 * n));
  for (size_t i = 0; i < n; ++i) x[i] = values[i] - mean;
  x = transformed(x, false);
  for (Complex& each : x) each = std::norm(each);  // Wiener-Khinchin
  x = transformed(x, true);
  std::vector<double> r(n);
  for (size_t l = 0; l < n && x[0].real() > 0; ++l) r[l] = x[l].real() / x[0].real();
  return r;
}

std::vector<Dominant> dominant_frequencies(std::span<const double> power) {
  constexpr double kOutlier = 3, kNearLargest = 0.8;
  constexpr size_t kMost = 2;
  if (power.size() < 3) return {};
  const std::vector<double> z = z_scores(power);
  const double largest = *std::max_element(z.begin(), z.end());
  std::vector<Dominant> found;
  double near_sum = 0, all_sum = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    if (z[i] <= kOutlier) continue;
    const size_t k = i + 1;
    const bool harmonic = std::any_of(found.begin(), found.end(),
                                      [&](const Dominant& each) { return k % each.periods == 0; });
    if (harmonic) continue;  // of neither sum, as in FTIO
    all_sum += z[i];
    if (z[i] <= kNearLargest * largest) continue;
    near_sum += z[i];
    found.push_back({k, z[i]});
  }
  if (found.size() > kMost) return {};
  for (Dominant& each : found) {
    each.confidence = (each.confidence / near_sum + each.confidence / all_sum) / 2;
  }
  return found;
}

}  // namespace culprit::predict
