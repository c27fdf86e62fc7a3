// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The discrete Fourier transform of real values, and what follows from it: power, autocorrelation,
// and the dominant frequencies as FTIO finds them. Values are evenly spaced; nothing here knows
// of time: frequencies are in periods per length, lags in samples.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace culprit::predict {

/// X_k = sum over j of x_j exp(-2 pi i jk / n), for any n in O(n log n): the algorithm of Cooley
/// and Tukey (Math. Comp. 19, 1965), and for n with factors above 5 Bluestein's (Northeast
/// Electronics Research and Engineering Meeting Record 10, 1968).
std::vector<std::complex<double>> fourier(std::span<const double> values);

/// The values less their least-squares line.
std::vector<double> without_trend(std::span<const double> values);

/// |X_k|^2 of the values as they are, for k = 0 .. n / 2.
std::vector<double> power_of(std::span<const double> values);

/// For lags 0 .. n - 1, of the values less their mean: r_l = sum x_j x_{j+l} / sum x_j^2, which
/// falls with the overlap. All 0 for constant values.
std::vector<double> autocorrelation(std::span<const double> values);

/// A frequency that stands out of a spectrum.
struct Dominant {
  size_t periods;     ///< k: in the length of the values
  double confidence;  ///< FTIO's, from 0 to 1
};

/// FTIO's: of |X_k|, k >= 1, those with a z-score above 3 and above 0.8 of the largest, without
/// multiples of others; confidence (z / sum of these z + z / sum of all z > 3) / 2. Tarraf et al.,
/// Capturing Periodic I/O Using Frequency Techniques, IPDPS 2024. In order of
/// frequency. Empty if more than two are left: then none dominates.
std::vector<Dominant> dominant_frequencies(std::span<const double> power);

}  // namespace culprit::predict
