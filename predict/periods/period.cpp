// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The tries, in order: the values as they are, then smoothed over an eighth of each period that the
// spectrum or the autocorrelation suggests; at each level that may separate phases from the rest;
// with phases joined over short gaps, and as they are. The first that is clearly regular counts.
// Each try is one more chance to be wrong, so p-values are multiplied by their number.
#include "predict/periods/period.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/statistics.h"
#include "predict/periods/phases.h"
#include "predict/periods/spectrum.h"
#include "predict/periods/wave.h"

namespace culprit::predict {
namespace {

using blame::Periodicity;

constexpr double kSignificant = 0.03;  ///< of chances, with all that was tried
constexpr double kClearShare = 0.8;    ///< of distances that are alike
/// Standard deviations as parts of the mean: a series that varies by less than the first is not
/// searched; one that varies by less than the second is only said to hardly vary, if it has no
/// period.
constexpr double kSteady = 0.01, kHardlyVaries = 0.05;
constexpr double kSignificantWave = 0.001;
constexpr double kLeastWaveShare = 0.25;  ///< of the variance
constexpr double kLeastWavePeriods = 5;
constexpr double kLeastPeriod = 4;  ///< samples: of shorter ones all distances look alike

/// Phases that were found in one way, and how regular they are.
struct Try {
  std::vector<Phase> phases;
  std::vector<Stretch> stretches;  ///< in samples
  double chance = 1;

  /// Returns the smallest share of the try's intervals.
  double share() const {
    double least = 1;
    for (const Stretch& each : stretches) least = std::min(least, each.regularity.share());
    return least;
  }
};

double median_length(std::span<const Phase> phases) {
  std::vector<size_t> lengths;
  for (const Phase& phase : phases) lengths.push_back(phase.length());
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return static_cast<double>(*middle);
}

/// Parts of the distances between which they change, each by where it ends.
void find_parts(std::span<const double> distances, size_t first, std::vector<size_t>& ends) {
  const size_t change = change_in(distances);
  if (change == 0) {
    ends.push_back(first + distances.size());
    return;
  }
  find_parts(distances.first(change), first, ends);
  find_parts(distances.subspan(change), first + change, ends);
}

/// Returns the intervals if each of them has a period.
std::optional<Try> in_parts(const std::vector<Phase>& phases, std::span<const double> distances,
                            const std::vector<size_t>& ends, double dead) {
  Try made{phases, {}, 0};
  size_t begin = 0;
  for (const size_t end : ends) {
    const Regularity part = regularity_of(distances.subspan(begin, end - begin), dead);
    if (!part.enough() || part.period < kLeastPeriod) return {};
    made.chance = std::max(made.chance, part.chance);
    made.stretches.push_back(
        {static_cast<double>(phases[begin].begin), static_cast<double>(phases[end].begin), part});
    begin = end;
  }
  made.chance = std::min(1.0, made.chance * static_cast<double>(ends.size()));
  return made;
}

/// `gap`: shorter ones do not divide phases.
std::optional<Try> look_at(const std::vector<Phase>& phases, double gap) {
  if (phases.size() <= kLeastDistances) return {};
  std::vector<double> distances;
  for (size_t i = 1; i < phases.size(); ++i) {
    distances.push_back(static_cast<double>(phases[i].begin - phases[i - 1].begin));
  }
  const double dead = median_length(phases) + gap;
  std::vector<size_t> ends;
  find_parts(distances, 0, ends);
  if (ends.size() > 1) {
    auto parts = in_parts(phases, distances, ends, dead);
    if (parts && parts->chance < kSignificant) return parts;
  }
  return in_parts(phases, distances, {distances.size()}, dead);
}

/// Returns candidate periods of the whole series, in samples: FTIO's dominant frequencies, and the
/// highest peak of the autocorrelation behind its first minimum.
std::vector<double> suggested_periods(std::span<const double> values,
                                      const std::vector<Dominant>& dominant) {
  std::vector<double> periods;
  for (const Dominant& each : dominant) {
    periods.push_back(static_cast<double>(values.size()) / static_cast<double>(each.periods));
  }
  const std::vector<double> lags = autocorrelation(values);
  const size_t most = values.size() / 3;
  size_t at = 1;
  while (at < most && lags[at] > 0) ++at;
  if (at < most) {
    const auto from = lags.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = lags.begin() + static_cast<std::ptrdiff_t>(most);
    periods.push_back(static_cast<double>(std::max_element(from, to) - lags.begin()));
  }
  std::erase_if(periods, [&](double period) {
    return period < kLeastPeriod ||
           period * static_cast<double>(kLeastDistances) > static_cast<double>(values.size());
  });
  return periods;
}

/// All ways to see phases in these values: joined where gaps divide naturally; as they are; joined
/// over a quarter of a period that is suggested.
void look_at_levels(std::span<const double> values, const std::vector<double>& periods,
                    double smoothing, std::vector<Try>& tries, size_t& count) {
  for (const Level& level : levels_of(values)) {
    const std::vector<Phase> fine = phases_of(values, level);
    std::vector<size_t> gaps = {natural_gap(fine, kLeastDistances + 1), 0};
    for (const double period : periods) gaps.push_back(static_cast<size_t>(period / 4));
    std::set<size_t> seen;
    for (const size_t gap : gaps) {
      const std::vector<Phase> phases = joined(fine, gap);
      if (!seen.insert(phases.size()).second) continue;
      ++count;
      if (auto made = look_at(phases, static_cast<double>(gap) + smoothing))
        tries.push_back(std::move(*made));
    }
  }
}

/// Returns the first clear try; else the one with the largest share of equal distances. None:
/// nothing is regular.
std::optional<Try> chosen(std::vector<Try>& tries, size_t count) {
  Try* best = nullptr;
  for (Try& each : tries) {
    each.chance = std::min(1.0, each.chance * static_cast<double>(count));
    if (each.chance >= kSignificant) continue;
    if (each.share() >= kClearShare) return std::move(each);
    if (best == nullptr || each.share() > best->share()) best = &each;
  }
  return best != nullptr ? std::optional(std::move(*best)) : std::nullopt;
}

/// Finds a period from the spectrum only; its phases are the half-periods above the mean.
std::optional<Try> find_wave(std::span<const double> values, const std::vector<double>& periods) {
  for (const double period : periods) {
    const Wave wave = wave_near(values, period);
    const double seen = static_cast<double>(values.size()) / std::max(wave.period, 1.0);
    if (wave.chance * static_cast<double>(periods.size()) >= kSignificantWave) continue;
    if (wave.share < kLeastWaveShare || seen < kLeastWavePeriods) continue;
    const std::vector<double> smooth = smoothed(values, static_cast<size_t>(wave.period / 4));
    Try made{
        joined(phases_of(smooth, levels_of(smooth).back()), static_cast<size_t>(wave.period / 4)),
        {},
        wave.chance * static_cast<double>(periods.size())};
    if (made.phases.size() < 2) continue;
    std::vector<double> distances;
    for (size_t i = 1; i < made.phases.size(); ++i) {
      distances.push_back(static_cast<double>(made.phases[i].begin - made.phases[i - 1].begin));
    }
    Regularity regularity = regularity_of(distances, 0);
    if (!(regularity.deviation > 0)) regularity.deviation = kAlike * wave.period;
    regularity.period = wave.period;
    made.stretches = {{static_cast<double>(made.phases.front().begin),
                       static_cast<double>(made.phases.back().begin), regularity}};
    return made;
  }
  return {};
}

/// FTIO's confidence: the mean of those of the spectrum, the autocorrelation and the distances,
/// over the last interval from onset to onset: there the period divides the length, so its
/// harmonics are distinct from other frequencies. Values above twice the usual height of phases are
/// cut off.
double confidence_of(std::span<const double> values, const Try& made) {
  const Stretch& last = made.stretches.back();
  const auto begin = static_cast<size_t>(last.begin_s), end = static_cast<size_t>(last.end_s);
  std::vector<double> heights;
  for (const Phase& phase : made.phases) {
    heights.push_back(*std::max_element(values.begin() + static_cast<std::ptrdiff_t>(phase.begin),
                                        values.begin() + static_cast<std::ptrdiff_t>(phase.end)));
  }
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::nth_element(heights.begin(), middle, heights.end());
  const double base = *std::min_element(values.begin(), values.end());
  std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(begin),
                           values.begin() + static_cast<std::ptrdiff_t>(end));
  for (double& value : part) value = std::min(value, base + 2 * (*middle - base));
  const double periods = static_cast<double>(part.size()) / last.regularity.period;
  double spectrum = 0;
  for (const Dominant& each : dominant_frequencies(power_of(part))) {
    if (std::abs(static_cast<double>(each.periods) - periods) <= 1) spectrum = each.confidence;
  }
  const double onsets = last.regularity.share() *
                        std::max(0.0, 1 - last.regularity.deviation / last.regularity.period);
  return (spectrum + autocorrelation_confidence(part, last.regularity.period) + onsets) / 3;
}

/// The standard deviation, of the mean.
double variation(std::span<const double> values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double n = static_cast<double>(values.size()), mean = sum / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares == 0 ? 0 : std::sqrt(squares / n) / std::abs(mean);
}

/// Returns the result of a try, in seconds.
Period told(const Series& series, const Try& made) {
  Period period;
  const auto time = [&](double sample) { return series.begin_s + series.step_s * sample; };
  period.chance = made.chance;
  period.phase_s = series.step_s * median_length(made.phases);
  for (const Phase& phase : made.phases) {
    period.phases.push_back(
        {time(static_cast<double>(phase.begin)), time(static_cast<double>(phase.end))});
  }
  for (Stretch each : made.stretches) {
    each.begin_s = time(each.begin_s), each.end_s = time(each.end_s);
    each.regularity.period *= series.step_s, each.regularity.deviation *= series.step_s;
    period.stretches.push_back(each);
  }
  period.verdict = made.stretches.size() > 1 ? Periodicity::changing : Periodicity::periodic;
  return period;
}

/// Returns why there is no period: too few phases at every level to decide, or enough phases that
/// are irregular.
Periodicity why_none(std::span<const double> values) {
  for (const Level& level : levels_of(values)) {
    if (phases_of(values, level).size() > kLeastDistances) return Periodicity::aperiodic;
  }
  return Periodicity::too_few;
}

/// Removes the trend, unless many values equal the smallest: phases then start from a level base
/// anyway. The trend is that of the values within three quartile distances of the median, so that
/// one huge phase does not tilt it.
std::vector<double> level_ground(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  const auto nothing =
      std::upper_bound(sorted.begin(), sorted.end(), sorted.front()) - sorted.begin();
  if (static_cast<double>(nothing) >= 0.05 * static_cast<double>(n)) return values;
  const double median = sorted[n / 2], reach = 3 * (sorted[3 * n / 4] - sorted[n / 4]);
  std::vector<double> clipped = values;
  for (double& value : clipped) value = std::clamp(value, median - reach, median + reach);
  const std::vector<double> level = without_trend(clipped);
  std::vector<double> rest = values;
  for (size_t i = 0; i < n; ++i) rest[i] -= clipped[i] - level[i];
  return rest;
}

}  // namespace

Period find_period(const Series& series) {
  Period none;
  none.verdict = Periodicity::too_few;
  if (series.values.size() < kLeastSamples) return none;
  const double varies = variation(series.values);
  if (varies <= kSteady) {
    none.verdict = Periodicity::steady;
    return none;
  }
  const std::vector<double> values = level_ground(series.values);
  const auto dominant = dominant_frequencies(power_of(values));
  const std::vector<double> periods = suggested_periods(values, dominant);
  std::vector<Try> tries;
  size_t count = 0;
  look_at_levels(values, periods, 0, tries, count);
  for (const double period : periods) {
    const double width = period / 8;
    look_at_levels(smoothed(values, static_cast<size_t>(width)), {period}, width, tries, count);
  }
  auto best = chosen(tries, count);
  if (!best) best = find_wave(values, periods);
  if (!best) {
    none.verdict = varies <= kHardlyVaries ? Periodicity::steady : why_none(values);
    return none;
  }
  Period period = told(series, *best);
  period.confidence = confidence_of(values, *best);
  return period;
}

Next predict_next(const Series& series, const Period& period, double now_s) {
  const Regularity& last = period.last();
  const double since = std::max(now_s - period.stretches.back().end_s, 0.0);
  const double m = std::max(1.0, std::floor(since / last.period) + 1);
  const double n = std::max(static_cast<double>(last.alike), 1.0);
  const double quantile = student_quantile(0.95, std::max(n - 1, 1.0));
  const double deviation = std::max(last.deviation, series.step_s);
  const double reach = quantile * deviation * std::sqrt(m * (1 + m / n));
  const double begin = period.stretches.back().end_s + m * last.period;
  return {begin, begin - reach, begin + reach};
}

}  // namespace culprit::predict
