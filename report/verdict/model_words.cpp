// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A model of the run time, and of what grows worst with a parameter, each in a sentence.
#include "report/verdict/model_words.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "blame/judge/causes.h"
#include "report/words/names.h"

namespace culprit::report {

using blame::Findings;
using blame::FoundModel;
using blame::ModelledFigure;

namespace {

constexpr double kSame = 0.001;       ///< of the value: no growth that matters
constexpr double kTooWrong_pct = 25;  ///< a formula with a larger error says nothing for sure

const FoundModel* run_time(const Findings& findings) {
  for (const FoundModel& row : findings.models) {
    if (row.figure == ModelledFigure::wall) return &row;
  }
  return nullptr;
}

double time_unit(const Findings& findings) {
  const FoundModel* wall = run_time(findings);
  return wall == nullptr ? 1 : wall->base;
}

/// The worst of a figure whose growth is certain, at a call path; the largest growth stands first.
/// Unless nothing else grows, start-up stands apart, as in other reports, and so do calls that
/// wait: of these it is said who causes it.
const FoundModel* worst(const Findings& findings, ModelledFigure figure) {
  const FoundModel* other = nullptr;
  for (const FoundModel& row : findings.models) {
    if (row.figure != figure || !row.callpath.valid()) continue;
    if (!certainly_grows(row) || exceeds_run(row, findings)) continue;
    const blame::FoundCallPath& path = findings.callpaths[row.callpath.index()];
    if (!path.start_up && !blame::waits_for_others(path)) return &row;
    if (other == nullptr) other = &row;
  }
  return other;
}

std::string at_targets(const Findings& findings) {
  std::vector<std::string> words;
  for (const auto& row : findings.model_parameters) {
    words.push_back(fmt::format("{} {:.6g}", row.name, row.target));
  }
  return listed(words);
}

std::string at_most(const Findings& findings) {
  std::vector<std::string> words;
  for (const auto& row : findings.model_parameters) {
    words.push_back(fmt::format("{} {:.6g}", row.name, row.most));
  }
  return listed(words);
}

std::string run_time_words(const FoundModel& wall, const Findings& findings,
                           const ModelValues& value) {
  const std::string expected = value(wall, wall.expected);
  const std::string range =
      fmt::format("95 % of runs: {} to {}", value(wall, wall.low), value(wall, wall.high));
  const std::string change = grows(wall) ? "grows" : shrinks(wall) ? "shrinks" : "";
  if (!change.empty() && !is_certain(wall)) {
    return fmt::format("The runs do not tell whether the run time {} from {} to {}: {} ({}).",
                       change, at_most(findings), at_targets(findings), expected, range);
  }
  if (change.empty()) {
    return fmt::format("The run time stays the same from {} to {}: {} ({}).", at_most(findings),
                       at_targets(findings), expected, range);
  }
  return fmt::format("From {} to {} the run time {} from {} to {} ({}).", at_most(findings),
                     at_targets(findings), change, value(wall, wall.base), expected, range);
}

std::string worst_words(const Findings& findings, const ModelValues& value,
                        const PageNames& names) {
  std::vector<std::string> items;
  const auto add = [&](ModelledFigure figure, const char* what) {
    const FoundModel* row = worst(findings, figure);
    if (row == nullptr) return;
    items.push_back(
        fmt::format("{} {} (+{})", what, names.code(row->callpath), value(*row, growth(*row))));
  };
  add(ModelledFigure::time, "time in");
  add(ModelledFigure::delay, "waiting caused by");
  add(ModelledFigure::imbalance, "imbalance of");
  return items.empty() ? "" : fmt::format(" What grows worst: {}.", listed(items));
}

std::string no_effect_words(const Findings& findings) {
  std::string text;
  for (const auto& row : findings.model_parameters) {
    if (!row.has_effect) {
      text += fmt::format(" {} has no effect on any figure, as far as noise lets see.", row.name);
    }
  }
  return text;
}

}  // namespace

double growth(const FoundModel& row) {
  return row.expected - row.base;
}

bool grows(const FoundModel& row) {
  return growth(row) > kSame * std::abs(row.base) && growth(row) > 0;
}

bool shrinks(const FoundModel& row) {
  return growth(row) < -kSame * std::abs(row.base);
}

bool is_certain(const FoundModel& row) {
  const bool right = row.error_pct >= 0 && row.error_pct <= kTooWrong_pct;
  return right && (growth(row) > 0 ? row.low > row.base : row.high < row.base);
}

bool certainly_grows(const FoundModel& row) {
  return grows(row) && is_certain(row);
}

bool exceeds_run(const FoundModel& row, const Findings& findings) {
  const FoundModel* const wall = run_time(findings);
  const bool is_time = row.figure != ModelledFigure::other && row.figure != ModelledFigure::visits;
  return is_time && wall != nullptr && &row != wall && row.expected > wall->expected;
}

ModelValues::ModelValues(const Findings& findings) : time_(time_unit(findings)) {}

std::string ModelValues::operator()(const FoundModel& row, double value) const {
  return row.figure == ModelledFigure::other || row.figure == ModelledFigure::visits
             ? fmt::format("{:.4g}", value)
             : time_(value);
}

std::string model_sentence(const Findings& findings) {
  const ModelValues value(findings);
  const PageNames names(findings);
  const FoundModel* wall = run_time(findings);
  std::string text = wall == nullptr ? "" : run_time_words(*wall, findings, value);
  text += worst_words(findings, value, names) + no_effect_words(findings);
  if (!text.empty() && text.front() == ' ') text.erase(0, 1);
  return text.empty() ? fmt::format("Predicted for {}.", at_targets(findings)) : text;
}

}  // namespace culprit::report
