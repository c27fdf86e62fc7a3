// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Does a series have a period, and which? Two ways lead to one. Its phases (phases.h) come at
// regular distances (regular.h); or, where noise hides the phases, its spectrum has a peak that red
// noise does not explain. If neither is found, the result says so: a series that could be chance is
// aperiodic. docs/periods.md has the formulas, and their error rates.
#pragma once

#include <vector>

#include "predict/periods/regular.h"
#include "predict/periods/series.h"

namespace culprit::predict {

struct PhaseTime {
  double begin_s, end_s;
};

/// A part of the series with a period of its own.
struct Stretch {
  double begin_s, end_s;  ///< the first and the last onset of a phase in it
  Regularity regularity;  ///< in seconds
};

struct Period {
  blame::Periodicity verdict = blame::Periodicity::aperiodic;
  double confidence = 0;           ///< 0 to 1: see docs/periods.md
  double chance = 1;               ///< how likely something as regular is without a period
  double phase_s = 0;              ///< median length of phases
  std::vector<PhaseTime> phases;   ///< those that were compared
  std::vector<Stretch> stretches;  ///< one; or if the period changes, several, in order

  bool found() const {
    return verdict == blame::Periodicity::periodic || verdict == blame::Periodicity::changing;
  }
  /// Returns the regularity of the last interval.
  const Regularity& last() const { return stretches.back().regularity; }
};

/// Fewer samples than this allow no result.
inline constexpr size_t kLeastSamples = 24;

Period find_period(const Series& series);

/// When the next phase begins.
struct Next {
  double begin_s;          ///< expected
  double early_s, late_s;  ///< with 90 % probability in between
};

/// The first that is expected after `now_s`: one period after the last onset, or several, by which
/// the uncertainty grows as that of a sum of distances: Student's quantile x deviation x
/// sqrt(m (1 + m / n)) with m periods to go and n distances seen (the prediction interval of a
/// mean, Hahn and Meeker, Statistical Intervals, 1991, section 4.6, for a sum). Of a found period
/// alone.
Next predict_next(const Series& series, const Period& period, double now_s);

}  // namespace culprit::predict
