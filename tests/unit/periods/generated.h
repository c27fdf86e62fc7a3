// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Series whose answer is known, because they were made so. The same seed makes the same series.
#pragma once

#include <array>
#include <cstddef>

#include "predict/periods/series.h"

namespace culprit::predict {

/// Phases of height 1 on ground 0, or with noise on ground 2.
struct Pulses {
  double period = 1;
  double duty = 0.1;    ///< length of a phase, of the period
  double jitter = 0;    ///< standard deviation of an onset, of the period
  bool drifts = false;  ///< each onset is off from the one before, and not from a grid
  double noise = 0;     ///< standard deviation of what each sample has besides
  double missing = 0;   ///< probability that a phase does not come
  size_t phases = 20;
  double samples = 100;     ///< in a period
  double start_up = 0;      ///< this part of the series, at its begin, is 20 higher
  double interruption = 0;  ///< in the middle nothing comes for so many periods
  double change = 1;        ///< in the second half the period is so many times as long
  double trend = 0;         ///< so much higher at the end than at the begin
};

/// `mean_distance`: of the onsets that came, the first to the last; where one is missing, none
/// counts.
Series pulses(const Pulses& how, unsigned seed, double* mean_distance = nullptr);

/// 1 + sine, with noise.
Series sine(double period, size_t periods, double noise, unsigned seed);

/// What has no period.
enum class Aperiodic {
  white_noise,
  random_walk,
  red_noise,      ///< autoregressive
  poisson,        ///< bursts of one length at random
  poisson_mixed,  ///< bursts of any length and height at random
  lognormal,      ///< distances of 1 sigma = 1 in their logarithm
  poisson_noise,  ///< bursts at random, with noise
  one_burst,
  two_bursts,
  trend,
  decay,
  step,
  even_gaps,    ///< distances anywhere from 0.3 to 1.7 of the mean
  long_bursts,  ///< bursts as long as the mean gap, which is random
};
inline constexpr std::array kAperiodic = {
    Aperiodic::white_noise,   Aperiodic::random_walk,   Aperiodic::red_noise,
    Aperiodic::poisson,       Aperiodic::poisson_mixed, Aperiodic::lognormal,
    Aperiodic::poisson_noise, Aperiodic::one_burst,     Aperiodic::two_bursts,
    Aperiodic::trend,         Aperiodic::decay,         Aperiodic::step,
    Aperiodic::even_gaps,     Aperiodic::long_bursts};

Series aperiodic(Aperiodic kind, unsigned seed);

}  // namespace culprit::predict
