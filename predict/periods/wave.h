// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A period that shows in the spectrum: for series whose phases noise hides.
#pragma once

#include <span>

namespace culprit::predict {

struct Wave {
  double period = 0;  ///< in samples
  double share = 0;   ///< of the variance: what this frequency and its multiples explain
  double chance = 1;
};

/// The frequency near `period` with the most power, refined by a parabola through the logarithms of
/// its spectrum's peak (Hann window, four times padded; Gasior and Gonzalez, BIW 2004). Its chance:
/// the power over that of red noise with the same lag-1 autocorrelation a, (1 - a^2) / (1 + a^2 -
/// 2 a cos(2 pi k / n)) (Torrence and Compo, Bull. AMS 79(1), 1998, equation 16), is exponentially
/// distributed without a period; for the largest of n / 2 frequencies, 1 - (1 - exp(-ratio))^(n /
/// 2). The values are first thinned out to about 16 in a period, so that `a` means the same
/// everywhere.
Wave wave_near(std::span<const double> values, double period);

/// FTIO's second opinion: positions of the autocorrelation's peaks near multiples of `period`, as
/// long as they are above 0.15; 1 - standard deviation / mean of their distances, at least 0. 0 if
/// the first is lower.
double autocorrelation_confidence(std::span<const double> values, double period);

}  // namespace culprit::predict
