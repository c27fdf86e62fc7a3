// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Words for rows of Findings::distributions.
#include "report/verdict/when.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace culprit::report {
namespace {

using blame::Course;
using blame::FoundDistribution;
using blame::Movement;
using blame::StepKind;

constexpr double kMostOfIt = 0.5;
/// Of the run: a trend that changes less in all of it is no reason to look for one.
constexpr double kTrendMatters = 0.01;

/// "10th".
std::string ordinal(uint64_t number) {
  const uint64_t last = number % 10;
  const bool teens = number % 100 >= 11 && number % 100 <= 13;
  const std::string_view ending = teens       ? "th"
                                  : last == 1 ? "st"
                                  : last == 2 ? "nd"
                                  : last == 3 ? "rd"
                                              : "th";
  return fmt::format("{}{}", number, ending);
}

/// Returns what a trend adds up to over all steps, each of which changes by as much.
double sum_of_trend(const FoundDistribution& row) {
  const auto steps = static_cast<double>(row.steps);
  return std::abs(row.change_s) * steps * steps / 2;
}

/// "2 ms more each step"; the amount is unknown where steps are not the program's own. Where the
/// load moves, the change on one location is no growth of the whole.
std::string change(const FoundDistribution& row, double wall_s) {
  if (row.movement != Movement::stays) return "";
  if (row.change_s != 0 && sum_of_trend(row) < kTrendMatters * wall_s) return "";
  const std::string_view more = row.course == Course::growing ? "more" : "less";
  const double by_s = std::abs(row.change_s);
  if (row.steps_are == StepKind::slice || by_s <= 0) {
    return fmt::format(", {0} and {0} over time", more);
  }
  const auto [unit, name] = by_s >= 1      ? std::pair(1.0, "s")
                            : by_s >= 1e-3 ? std::pair(1e-3, "ms")
                                           : std::pair(1e-6, "us");
  const double by = by_s / unit;
  constexpr double kShown = 0.5;  // a change that would be shown as none
  if (by < kShown) return fmt::format(", {0} and {0} over time", more);
  return fmt::format(", {:.{}f} {} {} each step", by,
                     by < 10 && std::abs(by - std::round(by)) >= 0.05 ? 1 : 0, name, more);
}

bool is_on_streams(const FoundDistribution& row, const blame::Findings& findings) {
  return std::any_of(findings.profile.begin(), findings.profile.end(), [&](const auto& part) {
    return part.callpath == row.callpath &&
           !findings.locations[part.location.index()].stream.empty();
  });
}

/// Whether those who are late in it, several, are threads of one rank.
bool is_within_a_rank(const FoundDistribution& row, const blame::Findings& findings) {
  std::set<LocationId> late;
  std::set<uint32_t> ranks;
  for (const blame::FoundDelay& delay : findings.delays) {
    if (delay.callpath != row.callpath) continue;
    late.insert(delay.location);
    ranks.insert(findings.locations[delay.location.index()].rank);
  }
  return ranks.size() == 1 && late.size() > 1;
}

}  // namespace

const FoundDistribution* over_time(const blame::Findings& findings, const blame::Cause& cause) {
  if (cause.costliest_s < kMostOfIt * cause.cost_s) return nullptr;
  const auto found =
      std::find_if(findings.distributions.begin(), findings.distributions.end(),
                   [&](const FoundDistribution& row) { return row.callpath == cause.costliest; });
  return found == findings.distributions.end() ? nullptr : &*found;
}

std::string when_words(const FoundDistribution& row, const blame::Findings& findings,
                       const TimeFormat& time) {
  const bool counted = row.steps_are != StepKind::slice;
  switch (row.course) {
    case Course::steady:
      return "";
    case Course::once:
      return fmt::format(", once, at {}{}", time(row.begin_s),
                         counted ? fmt::format(" (iteration {})", row.step) : "");
    case Course::every:
      return counted ? fmt::format(", every {} step", ordinal(row.period))
                     : fmt::format(", again and again, every {}",
                                   time((row.end_s - row.begin_s) / static_cast<double>(row.steps) *
                                        static_cast<double>(row.period)));
    case Course::from:
      return fmt::format(", from {} on", time(row.begin_s));
    case Course::until:
      return fmt::format(", until {}", time(row.end_s));
    case Course::growing:
    case Course::shrinking:
      return change(row, findings.run.wall_s);
  }
  return "";
}

std::string movement_words(const FoundDistribution& row, const blame::Findings& findings) {
  const bool are_ranks = findings.run.ranks > 1 && !is_within_a_rank(row, findings);
  const std::string_view who = are_ranks                      ? "rank"
                               : is_on_streams(row, findings) ? "stream"
                                                              : "thread";
  switch (row.movement) {
    case Movement::stays:
      return "";
    case Movement::moves:
      return fmt::format(", which moves from {0} to {0}", who);
    case Movement::turns:
      return fmt::format(", in which {}s take turns", who);
    case Movement::random:
      return fmt::format(", now one {0}, now another", who);
  }
  return "";
}

}  // namespace culprit::report
