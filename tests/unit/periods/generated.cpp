// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "generated.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace culprit::predict {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  double normal() { return normal_(engine_); }
  double even() { return even_(engine_); }
  double gap(double mean) { return -mean * std::log(1 - even()); }

 private:
  std::mt19937 engine_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> even_;
};

/// What of each sample lies in [begin, end), in samples.
void add_burst(std::vector<double>& values, double begin, double end, double height) {
  for (auto i = static_cast<size_t>(std::max(begin, 0.0)); i < values.size(); ++i) {
    const double at = static_cast<double>(i);
    if (at >= end) break;
    values[i] += height * (std::min(end, at + 1) - std::max(begin, at));
  }
}

/// Bursts with random gaps: gap() and length() and height() are asked for each.
template <class Gap, class Length, class Height>
void add_bursts(std::vector<double>& values, const Gap& gap, const Length& length,
                const Height& height) {
  const double end = static_cast<double>(values.size());
  for (double at = gap(); at < end;) {
    const double long_ = length();
    add_burst(values, at, at + long_, height());
    at += long_ + gap();
  }
}

}  // namespace

Series pulses(const Pulses& how, unsigned seed, double* mean_distance) {
  Dice dice(seed);
  Series made;
  made.step_s = how.period / how.samples;
  const double period = how.samples;  // in samples
  std::vector<double> onsets;
  double grid = period * (0.3 + 0.4 * dice.even());
  for (size_t i = 0; i < how.phases; ++i) {
    const double usual = i >= how.phases / 2 ? period * how.change : period;
    const double off = how.jitter * usual * dice.normal();
    if (how.drifts && i > 0) grid += off;
    if (dice.even() >= how.missing) onsets.push_back(how.drifts ? grid : grid + off);
    grid += usual;
    if (i == how.phases / 2) grid += how.interruption * usual;
  }
  if (mean_distance != nullptr) {
    *mean_distance =
        made.step_s * (onsets.back() - onsets.front()) / static_cast<double>(onsets.size() - 1);
  }
  made.values.resize(static_cast<size_t>(grid));
  const double n = static_cast<double>(made.values.size());
  for (const double onset : onsets) {
    add_burst(made.values, onset, onset + how.duty * period, 1);
  }
  for (size_t i = 0; i < made.values.size(); ++i) {
    const double at = static_cast<double>(i) / n;
    if (how.noise > 0) made.values[i] += 2 + how.noise * dice.normal();
    made.values[i] += how.trend * at;
    if (at < how.start_up) made.values[i] += 20;
  }
  return made;
}

Series sine(double period, size_t periods, double noise, unsigned seed) {
  constexpr size_t kSamples = 100;
  Dice dice(seed);
  Series made;
  made.step_s = period / kSamples;
  const double phase = 2 * std::numbers::pi * dice.even();
  for (size_t i = 0; i < kSamples * periods + kSamples / 3; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / kSamples + phase;
    made.values.push_back(1 + std::sin(turn) + noise * dice.normal());
  }
  return made;
}

Series aperiodic(Aperiodic kind, unsigned seed) {
  Dice dice(seed);
  Series made;
  made.step_s = 0.01;
  std::vector<double>& values = made.values;
  values.resize(1000 + static_cast<size_t>(3000 * dice.even()));
  const double n = static_cast<double>(values.size()), usual = n / (5 + 40 * dice.even());
  const auto fill = [&](const auto& value) {
    for (size_t i = 0; i < values.size(); ++i) values[i] += value(static_cast<double>(i) / n);
  };
  const auto at_random = [&] { return dice.gap(usual); };
  double walk = 0;
  const double memory = kind == Aperiodic::red_noise ? 0.5 + 0.49 * dice.even() : 1;
  const double length = 1 + 0.1 * usual * dice.even(), where = 0.2 + 0.6 * dice.even();
  switch (kind) {
    case Aperiodic::white_noise:
      fill([&](double) { return 2 + dice.normal(); });
      break;
    case Aperiodic::random_walk:
    case Aperiodic::red_noise:
      fill([&](double) { return walk = memory * walk + dice.normal(); });
      break;
    case Aperiodic::poisson_noise:
      fill([&](double) { return 1 + 0.2 * dice.normal(); });
      [[fallthrough]];
    case Aperiodic::poisson:
      add_bursts(values, at_random, [&] { return length; }, [] { return 1; });
      break;
    case Aperiodic::poisson_mixed:
      add_bursts(
          values, at_random, [&] { return 1 + usual * dice.even() * dice.even() / 2; },
          [&] { return 10 * dice.even(); });
      break;
    case Aperiodic::lognormal:
      add_bursts(
          values, [&] { return usual * std::exp(dice.normal()); }, [] { return 5; },
          [] { return 1; });
      break;
    case Aperiodic::one_burst:
    case Aperiodic::two_bursts:
      add_burst(values, where * n, where * n + 100, 1);
      if (kind == Aperiodic::two_bursts) add_burst(values, 0.1 * n, 0.1 * n + 70, 1);
      break;
    case Aperiodic::trend:
      fill([&](double at) { return at + 0.05 * dice.normal(); });
      break;
    case Aperiodic::decay:
      fill([&](double at) { return std::exp(-5 * at) + 0.02 * dice.normal(); });
      break;
    case Aperiodic::step:
      fill([&](double at) { return (at < where ? 1 : 3) + 0.1 * dice.normal(); });
      break;
    case Aperiodic::even_gaps:
      add_bursts(
          values, [&] { return usual * (0.3 + 1.4 * dice.even()) - 1; }, [] { return 1; },
          [] { return 1; });
      break;
    case Aperiodic::long_bursts:
      add_bursts(values, at_random, [&] { return usual; }, [] { return 1; });
      break;
  }
  return made;
}

}  // namespace culprit::predict
