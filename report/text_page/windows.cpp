// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Thresholds are at the top: what is smaller than they say is not worth a sentence.

#include "report/text_page/windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "blame/amount.h"
#include "blame/judge/diagnose.h"
#include "blame/judge/summary.h"
#include "report/words/estimates.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::Findings;
using blame::FoundCoverage;
using blame::FoundEstimate;
using blame::FoundWindow;
using blame::Proportion;

constexpr double kWorthSaying = 0.005;  ///< of a whole
constexpr size_t kMostCauses = 5;

constexpr std::string_view kOfWaiting = "the waiting";

std::string traced(const Findings& findings, const FoundCoverage& row, const TimeFormat& time) {
  std::string text;
  if (row.whole_s > 0) {
    text = fmt::format("The first {} were traced as a whole. ", time(row.whole_s));
  }
  if (row.windows == 0) {
    return text +
           "Of the rest there is only a profile, and no window: waiting, its causes and gains are "
           "taken to be in its calls what they are in those of the first part, and the intervals "
           "say how much they may be.";
  }
  return text + fmt::format(
                    "The rest is represented by {}, at moments chosen at random. Figures scaled "
                    "up from them come with an interval that contains the true value in 95 of 100 "
                    "runs; times by call path are measured over the whole run.",
                    windows_in_words(findings));
}

/// Waiting that the intervals cannot contain, or that has no cause in its window.
std::string gaps(const FoundCoverage& row, const Findings& findings, const TimeFormat& time) {
  std::string text;
  const Proportion unseen =
      Proportion::of(Amount<blame::Row>(row.unseen_s), Amount<blame::Row>(row.possible_s));
  if (unseen.known() && unseen.value() >= kWorthSaying) {
    text += fmt::format(
        "{} ({}) of the calls that may wait were at call paths and ranks that no "
        "window saw: the upper ends include it. ",
        time(row.unseen_s), percent(unseen));
  }
  double waiting_s = 0;
  for (const FoundWindow& window : findings.windows) {
    if (window.number > 0) waiting_s += window.waiting_s;
  }
  const Proportion beyond =
      Proportion::of(Amount<blame::Row>(row.beyond_s), Amount<blame::Row>(waiting_s));
  if (beyond.known() && beyond.value() >= kWorthSaying) {
    text +=
        fmt::format("Of the waiting in windows, {} has no cause inside of them. ", percent(beyond));
  }
  return text;
}

/// The window that waited most, as a part of its time.
std::string worst_window(const Findings& findings) {
  const FoundWindow* most = nullptr;
  double share = 0, waiting_s = 0, all_s = 0;
  for (const FoundWindow& window : findings.windows) {
    if (window.allocation_s <= 0) continue;
    waiting_s += window.waiting_s;
    all_s += window.allocation_s;
    const double own = window.waiting_s / window.allocation_s;
    if (most == nullptr || own > share) most = &window, share = own;
  }
  if (most == nullptr || share <= 0) return "";
  return fmt::format(
      "Most waiting is in window {}, which begins {} after the start: {} of its "
      "time, against {} in all of them.",
      most->number, length_in_words(most->begin_s), rounded(Proportion::by_itself(share)),
      rounded(Proportion::by_itself(waiting_s / all_s)));
}

}  // namespace

std::string window_section(const Findings& findings, const PageNames& names,
                           const TimeFormat& time) {
  if (findings.coverage.empty() || blame::is_of_profile_alone(findings)) return "";
  const FoundCoverage& row = findings.coverage.front();
  std::string page = "\nWHAT WAS TRACED, and how surely it stands for the run\n";
  page += wrapped(traced(findings, row, time), 2);
  size_t shown = 0;
  for (const FoundEstimate& each : findings.estimates) {
    if (each.figure != blame::EstimatedFigure::cause) continue;
    if (shown == kMostCauses || each.share < kWorthSaying) break;
    page += wrapped(fmt::format("{}: {}", names.code(each.callpath),
                                bounds_in_words(each, kOfWaiting, findings.run.wall_s)),
                    4);
    ++shown;
  }
  if (row.windows == 0) return page;
  page += wrapped(gaps(row, findings, time) + worst_window(findings), 2);
  if (findings.function_gains.empty()) {
    page += wrapped(
        "What a change would gain is not estimated: a window is too short to tell. "
        "Look at one with --window.",
        2);
  }
  return page;
}

std::string delay_bounds(const Findings& findings, CallPathId callpath) {
  const FoundEstimate* found = find_estimate(findings, blame::EstimatedFigure::delay, callpath);
  return found == nullptr ? "" : bounds_in_words(*found, kOfWaiting, findings.run.wall_s);
}

std::string wait_bounds(const Findings& findings, CallPathId callpath, std::string_view pattern) {
  const FoundEstimate* found =
      find_estimate(findings, blame::EstimatedFigure::waiting, callpath, pattern);
  return found == nullptr ? "" : bounds_in_words(*found, kOfWaiting, findings.run.wall_s);
}

}  // namespace culprit::report
