// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Differences carry their sign; a share is that of what was before.
#include "report/verdict/change_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "blame/algebra/combine.h"
#include "report/words/names.h"

namespace culprit::report {

using blame::Amount;
using blame::ChangedFigure;
using blame::Findings;
using blame::FoundChange;
using blame::Proportion;

namespace {

constexpr double kSame = 0.01;     ///< of what was before: no change that is worth a number
constexpr double kTrifle = 0.001;  ///< of the whole: no part that is worth a word
constexpr double kTimes = 10;      ///< of what was before: from here on percentages say little

double delta(const FoundChange& row) {
  return row.after_s - row.before_s;
}

/// Returns the size of a change relative to the value before; above 1 for growth to more than
/// twice.
Proportion change_of(const FoundChange& row) {
  return row.before_s > 0 ? Proportion::by_itself(std::abs(delta(row)) / row.before_s)
                          : Proportion();
}

bool is_same(const FoundChange& row) {
  return std::abs(delta(row)) < kSame * row.before_s;
}

const FoundChange& of_run(const Findings& findings, ChangedFigure figure) {
  const auto row = std::find_if(
      findings.changes.begin(), findings.changes.end(),
      [&](const FoundChange& each) { return each.figure == figure && each.region.empty(); });
  static const FoundChange kNone;
  return row == findings.changes.end() ? kNone : *row;
}

/// The largest of functions in one direction that exceeds noise; null: there is none.
const FoundChange* most(const Findings& findings, ChangedFigure figure, bool worse) {
  for (const FoundChange& row : findings.changes) {  // the largest come first
    if (row.figure != figure || row.region.empty() || within_noise(row) || is_same(row)) continue;
    if ((delta(row) > 0) == worse) return &row;
  }
  return nullptr;
}

size_t runs(const Findings& findings, blame::InputRole role) {
  return static_cast<size_t>(
      std::count_if(findings.inputs.begin(), findings.inputs.end(),
                    [&](const blame::FoundInput& input) { return input.role == role; }));
}

std::string wall_words(const FoundChange& wall, const TimeFormat& time) {
  if (is_same(wall)) {
    return fmt::format("The run takes as long as before ({})", time(wall.after_s));
  }
  return fmt::format("The run takes {} ({}) {}: {} instead of {}", time(std::abs(delta(wall))),
                     percent(change_of(wall)), delta(wall) > 0 ? "longer" : "less",
                     time(wall.after_s), time(wall.before_s));
}

/// "most" is half of it at least.
std::string_view how_much(double part, double whole) {
  return std::abs(part) >= 0.5 * std::abs(whole) ? "most" : "the largest part";
}

/// "worse: ..., better: ...": waiting, the cause whose cost changed most, the function whose own
/// time did.
std::string direction(const Findings& findings, bool worse, const TimeFormat& time) {
  std::vector<std::string> items;
  const FoundChange& waiting = of_run(findings, ChangedFigure::waiting);
  const FoundChange& all = of_run(findings, ChangedFigure::time);
  const double least = kTrifle * std::max(all.before_s, all.after_s);
  const bool differs = !is_same(waiting) && !within_noise(waiting);
  if ((delta(waiting) > 0) == worse && std::abs(delta(waiting)) > least && differs) {
    std::string text = "waiting " + change_amount(waiting, time);
    const FoundChange* cause = most(findings, ChangedFigure::delay, worse);
    if (cause != nullptr && std::abs(delta(*cause)) > least) {
      text += fmt::format(", {} of it caused by {} ({})", how_much(delta(*cause), delta(waiting)),
                          cause->region, signed_time(delta(*cause), time));
    }
    items.push_back(text);
  }
  const FoundChange* critical = most(findings, ChangedFigure::critical, worse);
  const FoundChange& wall = of_run(findings, ChangedFigure::wall);
  const double least_wall = kTrifle * std::max(wall.before_s, wall.after_s);  // as the path is
  if (critical != nullptr && std::abs(delta(*critical)) > least_wall) {
    items.push_back(fmt::format("{} {} on the critical path", critical->region,
                                signed_time(delta(*critical), time)));
  }
  if (items.empty()) return "";
  return fmt::format("; {}: {}", worse ? "worse" : "better", listed(items));
}

std::string noise_words(const Findings& findings, const TimeFormat& time, bool any_change) {
  const FoundChange& wall = of_run(findings, ChangedFigure::wall);
  const bool same = !any_change && is_same(wall);
  if (same && wall.noise_s < 0) return "";
  const size_t before = runs(findings, blame::InputRole::before);
  const size_t after = runs(findings, blame::InputRole::after);
  if (wall.noise_s < 0) {
    return " So few runs cannot be separated from noise: give repeats of both (--before, --after).";
  }
  return fmt::format(" {} the noise between runs (+-{}, from {} before and {} after).",
                     wall.exceeds_noise ? "The run time changed by more than"
                                        : "The change of run time does not exceed",
                     time(wall.noise_s), counted(before, "run"), counted(after, "run"));
}

/// "12.3 % of the allocated time is lost to imperfect weak scaling from 4 to 16 threads: 3.1 s, of
/// which 2.2 s are waiting, most of it in solve/MPI_Recv (1.9 s). " Empty if it was not asked for.
std::string scaling_words(const Findings& findings) {
  const auto& rows = findings.scaling_losses;
  if (rows.empty()) return "";
  const TimeFormat time(rows[0].after_s);
  const double loss = rows[0].after_s - rows[0].ideal_s;
  const std::string what =
      fmt::format("{} scaling from {} to {} threads", to_string(rows[0].scaling),
                  findings.inputs.front().locations, findings.inputs.back().locations);
  if (loss <= kTrifle * rows[0].after_s) {
    return fmt::format("Nothing is lost in {}: {} of allocated time, and {} would be ideal. ", what,
                       time(rows[0].after_s), time(rows[0].ideal_s));
  }
  const PageNames names(findings);
  std::string text =
      fmt::format("{} of the allocated time is lost in {}: {}, of which {} is waiting",
                  percent(Proportion::of(Amount<blame::Allocation>(loss),
                                         Amount<blame::Allocation>(rows[0].after_s))),
                  what, time(loss), time(std::max(0.0, rows[0].waiting_s)));
  if (rows.size() > 1 && rows[1].after_s > rows[1].ideal_s) {
    const double part = rows[1].after_s - rows[1].ideal_s;
    text += fmt::format("; {} of it in {} ({})", how_much(part, loss), names.code(rows[1].callpath),
                        time(part));
  }
  const auto cause =
      std::max_element(rows.begin() + 1, rows.end(),
                       [](const auto& a, const auto& b) { return a.delay_s < b.delay_s; });
  if (cause != rows.end() && cause->delay_s > kTrifle * rows[0].after_s) {
    text += fmt::format("; {} causes {} of the waiting ({})", names.code(cause->callpath),
                        how_much(cause->delay_s, rows[0].waiting_s), time(cause->delay_s));
  }
  return text + ". ";
}

/// Returns the reason why runs are hardly comparable, which comes first.
std::string unlike_words(const Findings& findings) {
  for (const std::string& note : findings.run.notes) {
    if (note.starts_with(blame::kUnlike)) return note + ' ';
  }
  return "";
}

}  // namespace

std::string signed_time(double seconds, const TimeFormat& time) {
  const std::string text = time(std::abs(seconds));
  return text.starts_with('<') ? text : (seconds < 0 ? "-" : "+") + text;
}

std::string change_amount(const FoundChange& row, const TimeFormat& time) {
  if (row.before_s > 0 && is_same(row)) return "the same";
  const std::string change = signed_time(delta(row), time);
  if (row.before_s <= 0 || time(row.before_s).starts_with('<') || change.starts_with('<')) {
    return change;
  }
  if (row.after_s >= kTimes * row.before_s) {
    return fmt::format("{} ({:.0f} times as much)", change, row.after_s / row.before_s);
  }
  return fmt::format("{} ({}{})", change, delta(row) < 0 ? "-" : "+", percent(change_of(row)));
}

bool within_noise(const FoundChange& row) {
  return row.noise_s >= 0 && !row.exceeds_noise;
}

TimeFormat time_of_changes(const Findings& findings) {
  const FoundChange& wall = of_run(findings, ChangedFigure::wall);
  return TimeFormat(std::max(wall.before_s, wall.after_s));
}

std::string change_sentence(const Findings& findings) {
  if (findings.changes.empty()) return "";
  const TimeFormat time = time_of_changes(findings);
  const std::string directions = direction(findings, true, time) + direction(findings, false, time);
  return unlike_words(findings) + scaling_words(findings) +
         wall_words(of_run(findings, ChangedFigure::wall), time) + directions + "." +
         noise_words(findings, time, !directions.empty());
}

std::string change_of_wall(const Findings& findings) {
  return wall_words(of_run(findings, ChangedFigure::wall), time_of_changes(findings));
}

}  // namespace culprit::report
