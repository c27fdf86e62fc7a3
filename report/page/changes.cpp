// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Differences carry their sign; a share is that of what was before.

#include "report/page/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "blame/algebra/combine.h"
#include "report/page/layout.h"
#include "report/page/names.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::ChangedFigure;
using blame::Findings;
using blame::FoundChange;
using blame::Proportion;

constexpr size_t kRows = 8;
constexpr double kSame = 0.001;  ///< of what was before: hardly a change
constexpr double kTimes = 10;    ///< of what was before: from here on percentages say little

double delta(const FoundChange& row) {
  return row.after_s - row.before_s;
}

/// Without a sign if it is too small to be shown.
std::string with_sign(double seconds, const TimeFormat& time) {
  const std::string text = time(std::abs(seconds));
  return text.starts_with('<') ? text : (seconds < 0 ? "-" : "+") + text;
}

/// By how much of what was before, either way: of growth more than all.
Proportion change_of(const FoundChange& row) {
  return row.before_s > 0 ? Proportion::by_itself(std::abs(delta(row)) / row.before_s)
                          : Proportion();
}

/// "+0.31 s (+12.3 %)", "+4.10 s (42 times as much)". No share of what is too small to be shown.
std::string amount(const FoundChange& row, const TimeFormat& time) {
  const std::string change = with_sign(delta(row), time);
  if (row.before_s <= 0 || time(row.before_s).starts_with('<') || change.starts_with('<')) {
    return change;
  }
  if (row.after_s >= kTimes * row.before_s) {
    return fmt::format("{} ({:.0f} times as much)", change, row.after_s / row.before_s);
  }
  return fmt::format("{} ({}{})", change, delta(row) < 0 ? "-" : "+", percent(change_of(row)));
}

const FoundChange& of_run(const Findings& findings, ChangedFigure figure) {
  const auto row = std::find_if(
      findings.changes.begin(), findings.changes.end(),
      [&](const FoundChange& each) { return each.figure == figure && each.region.empty(); });
  static const FoundChange kNone;
  return row == findings.changes.end() ? kNone : *row;
}

/// Where nobody can know, it counts.
bool within_noise(const FoundChange& row) {
  return row.noise_s >= 0 && !row.exceeds_noise;
}

/// The largest of functions in one direction that exceeds noise; null: there is none.
const FoundChange* most(const Findings& findings, ChangedFigure figure, bool worse) {
  for (const FoundChange& row : findings.changes) {  // the largest come first
    if (row.figure != figure || row.region.empty() || within_noise(row)) continue;
    if ((delta(row) > 0) == worse) return &row;
  }
  return nullptr;
}

size_t runs(const Findings& findings, blame::InputRole role) {
  return static_cast<size_t>(
      std::count_if(findings.inputs.begin(), findings.inputs.end(),
                    [&](const blame::FoundInput& input) { return input.role == role; }));
}

TimeFormat time_of(const Findings& findings) {
  const FoundChange& wall = of_run(findings, ChangedFigure::wall);
  return TimeFormat(std::max(wall.before_s, wall.after_s));
}

std::string wall_words(const FoundChange& wall, const TimeFormat& time) {
  if (std::abs(delta(wall)) < kSame * wall.before_s) {
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
  const double least = kSame * std::max(all.before_s, all.after_s);
  if ((delta(waiting) > 0) == worse && std::abs(delta(waiting)) > least && !within_noise(waiting)) {
    std::string text = "waiting " + amount(waiting, time);
    const FoundChange* cause = most(findings, ChangedFigure::delay, worse);
    if (cause != nullptr && std::abs(delta(*cause)) > least) {
      text += fmt::format(", {} of it caused by {} ({})", how_much(delta(*cause), delta(waiting)),
                          cause->region, with_sign(delta(*cause), time));
    }
    items.push_back(text);
  }
  const FoundChange* critical = most(findings, ChangedFigure::critical, worse);
  const FoundChange& wall = of_run(findings, ChangedFigure::wall);
  const double least_wall = kSame * std::max(wall.before_s, wall.after_s);  // as the path is
  if (critical != nullptr && std::abs(delta(*critical)) > least_wall) {
    items.push_back(fmt::format("{} {} on the critical path", critical->region,
                                with_sign(delta(*critical), time)));
  }
  if (items.empty()) return "";
  return fmt::format("; {}: {}", worse ? "worse" : "better", listed(items));
}

std::string noise_words(const Findings& findings, const TimeFormat& time, bool any_change) {
  const FoundChange& wall = of_run(findings, ChangedFigure::wall);
  const bool same = !any_change && std::abs(delta(wall)) < kSame * wall.before_s;
  if (same && wall.noise_s < 0) return "";
  const size_t before = runs(findings, blame::InputRole::before);
  const size_t after = runs(findings, blame::InputRole::after);
  if (wall.noise_s < 0) {
    return " Whether that is more than such runs differ anyway cannot be known from so few of "
           "them: give repeats of both (--before, --after).";
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
  if (loss <= kSame * rows[0].after_s) {
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
  if (cause != rows.end() && cause->delay_s > kSame * rows[0].after_s) {
    text += fmt::format("; {} causes {} of the waiting ({})", names.code(cause->callpath),
                        how_much(cause->delay_s, rows[0].waiting_s), time(cause->delay_s));
  }
  return text + ". ";
}

/// What makes them hard to compare comes first.
std::string unlike_words(const Findings& findings) {
  for (const std::string& note : findings.run.notes) {
    if (note.starts_with(blame::kUnlike)) return note + ' ';
  }
  return "";
}

class ChangePage {
 public:
  explicit ChangePage(const Findings& findings) : findings_(findings), time_(time_of(findings)) {}

  std::string write(const std::filesystem::path& experiment) {
    page_ += wrapped(fmt::format("Compared: {} with {}.", names(blame::InputRole::after),
                                 names(blame::InputRole::before)),
                     0);
    page_ += wrapped("Verdict: " + change_sentence(findings_), 0);
    if (findings_.inputs.front().locations != findings_.inputs.back().locations) {
      page_ += wrapped("They did not have the same number of locations.", 0);
    }
    for (const std::string& violation : findings_.identities.violations) {
      page_ +=
          wrapped("ERROR: the sums of a run do not add up. Do not rely on this: " + violation, 0);
    }
    tables();
    if (!experiment.empty()) page_ += fmt::format("\nFull results: {}\n", experiment.string());
    return page_;
  }

  std::string write_tables() {
    tables();
    return page_;
  }

 private:
  void tables() {
    section("THE WHOLE RUN", "",
            {ChangedFigure::wall, ChangedFigure::time, ChangedFigure::waiting});
    scaling();
    section("ROOT CAUSES: waiting caused by", "delay", {ChangedFigure::delay});
    section("CRITICAL PATH", "critical", {ChangedFigure::critical});
    section("WAITING: in", "waiting", {ChangedFigure::waiting});
    section("ALLOCATED TIME: in", "time", {ChangedFigure::time});
  }

  std::string names(blame::InputRole role) const {
    std::vector<std::string> all;
    for (const blame::FoundInput& input : findings_.inputs) {
      if (input.role == role) all.push_back(input.name);
    }
    return listed(all);
  }

  /// Of the whole run, or of functions.
  void section(std::string_view title, std::string_view of_functions,
               std::initializer_list<ChangedFigure> figures) {
    std::vector<const FoundChange*> rows;
    for (const FoundChange& row : findings_.changes) {
      const bool fits = std::find(figures.begin(), figures.end(), row.figure) != figures.end();
      if (fits && row.region.empty() == of_functions.empty()) rows.push_back(&row);
    }
    if (rows.empty()) return;
    page_ += fmt::format("\n{}  (before, after, change)\n", title);
    for (size_t i = 0; i < std::min(rows.size(), kRows); ++i) {
      const FoundChange& row = *rows[i];
      const std::string figures =
          fmt::format("  {} {} {}", right(time_(row.before_s), 12), right(time_(row.after_s), 12),
                      right(amount(row, time_), 29));
      const std::string name =
          fmt::format("{}{}", row.region.empty() ? name_of(row.figure) : row.region,
                      within_noise(row) ? "  (within noise)" : "");
      const bool fits = figures.size() + 2 + name.size() <= page_width();
      page_ += fits ? fmt::format("{}  {}\n", figures, name)
                    : fmt::format("{}\n{}", figures, wrapped(name, 6));
    }
    if (rows.size() > kRows) page_ += fmt::format("  and {} more\n", rows.size() - kRows);
  }

  /// What scaling lost, call path by call path.
  void scaling() {
    const auto& rows = findings_.scaling_losses;
    if (rows.empty()) return;
    page_ += fmt::format("\nSCALING LOSS, {}: in  (ideal, after, loss; of it waiting, causes)\n",
                         to_string(rows[0].scaling));
    const TimeFormat time(rows[0].after_s);
    const PageNames names(findings_);
    for (size_t i = 0; i < std::min(rows.size(), kRows + 1); ++i) {
      const blame::FoundScalingLoss& row = rows[i];
      page_ += fmt::format(
          "  {} {} {} {} {}  {}{}\n", right(time(row.ideal_s), 10), right(time(row.after_s), 10),
          right(with_sign(row.after_s - row.ideal_s, time), 11),
          right(with_sign(row.waiting_s, time), 11), right(with_sign(row.delay_s, time), 11),
          i == 0 ? "the whole run" : names.path(row.callpath, room_behind(62)),
          row.noise_s < 0 || row.exceeds_noise ? "" : "  (within noise)");
    }
    if (rows.size() > kRows + 1) page_ += fmt::format("  and {} more\n", rows.size() - kRows - 1);
  }

  static std::string name_of(ChangedFigure figure) {
    return figure == ChangedFigure::wall   ? "run time"
           : figure == ChangedFigure::time ? "allocated time"
                                           : "waiting";
  }

  const Findings& findings_;
  const TimeFormat time_;
  std::string page_;
};

}  // namespace

std::string change_sentence(const Findings& findings) {
  if (findings.changes.empty()) return "";
  const TimeFormat time = time_of(findings);
  const std::string directions = direction(findings, true, time) + direction(findings, false, time);
  return unlike_words(findings) + scaling_words(findings) +
         wall_words(of_run(findings, ChangedFigure::wall), time) + directions + "." +
         noise_words(findings, time, !directions.empty());
}

std::string change_of_wall(const Findings& findings) {
  return wall_words(of_run(findings, ChangedFigure::wall), time_of(findings));
}

std::string change_tables(const Findings& findings) {
  return ChangePage(findings).write_tables();
}

std::string change_page(const Findings& findings, const std::filesystem::path& experiment) {
  return ChangePage(findings).write(experiment);
}

}  // namespace culprit::report
