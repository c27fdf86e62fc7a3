// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Intervals are rounded outwards, so that none is said to be narrower than it is.

#include "report/words/estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/words/layout.h"

namespace culprit::report {
namespace {

constexpr double kLopsided = 2;  ///< times the other side: then both ends are said
constexpr double kLeast = 0.1;   ///< percent; no interval is said to be narrower

/// Tenths where they matter.
std::string number(double percent, bool tenths) {
  return fmt::format("{:.{}f}", percent, tenths ? 1 : 0);
}

}  // namespace

const blame::FoundEstimate* find_estimate(const blame::Findings& findings,
                                          blame::EstimatedFigure figure, CallPathId callpath,
                                          std::string_view pattern) {
  const auto found =
      std::find_if(findings.estimates.begin(), findings.estimates.end(), [&](const auto& each) {
        return each.figure == figure && each.callpath == callpath && each.pattern == pattern;
      });
  return found == findings.estimates.end() ? nullptr : &*found;
}

std::string with_interval(double part, double low, double high) {
  const double value = 100 * part;
  const double below = std::max(0.0, value - 100 * low), above = std::max(0.0, 100 * high - value);
  const double half = std::max({below, above, kLeast});
  const bool tenths = half < 1 || value < 10;
  const bool lopsided = std::min(below, above) * kLopsided < half && half >= 1;
  if (lopsided) {
    return fmt::format("{} % ({} to {} %)", number(value, tenths), number(100 * low, tenths),
                       number(100 * high, tenths));
  }
  // Rounded up: the interval that is said holds no less than the one that was found.
  const double said = tenths ? std::ceil(half * 10 - 1e-9) / 10 : std::ceil(half - 1e-9);
  return fmt::format("{} +- {} %", number(value, tenths), number(said, tenths));
}

std::string bounds_in_words(const blame::FoundEstimate& estimate, std::string_view whole,
                            double run_s) {
  const TimeFormat time(run_s);
  return fmt::format("between {} and {}, {} of {}", time(estimate.low_s), time(estimate.high_s),
                     with_interval(estimate.share, estimate.share_low, estimate.share_high), whole);
}

std::string windows_in_words(const blame::Findings& findings) {
  if (findings.coverage.empty() || findings.coverage.front().windows == 0) return "";
  const blame::FoundCoverage& row = findings.coverage.front();
  const double part = findings.run.wall_s > 0 ? row.windows_s / findings.run.wall_s : 0;
  return fmt::format("{} that cover{} {} of {}", counted(row.windows, "window"),
                     row.windows == 1 ? "s" : "", rounded(blame::Proportion::by_itself(part)),
                     length_in_words(findings.run.wall_s));
}

std::string length_in_words(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kFew = 2;
  if (seconds >= kFew * kHour) return fmt::format("{:.1f} h", seconds / kHour);
  if (seconds >= kFew * kMinute) return fmt::format("{:.0f} min", seconds / kMinute);
  return TimeFormat(seconds)(seconds);
}

}  // namespace culprit::report
