// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each section has one figure, and shows what grows most of it. A formula stands with what it does
// not say: the error of its predictions, and the dependences that the runs do not rule out.

#include "report/page/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "report/page/layout.h"
#include "report/page/names.h"
#include "report/page/patterns.h"
#include "report/verdict/causes.h"

namespace culprit::report {
namespace {

using blame::Findings;
using blame::FoundModel;
using blame::FoundModelLead;
using blame::ModelledFigure;

constexpr size_t kRows = 5;
constexpr size_t kNextRuns = 3;
constexpr double kSame = 0.001;  ///< of the value: no growth that matters
constexpr size_t kIndent = 6;

double growth(const FoundModel& row) {
  return row.expected - row.base;
}

bool grows(const FoundModel& row) {
  return growth(row) > kSame * std::abs(row.base) && growth(row) > 0;
}

const FoundModel* run_time(const Findings& findings) {
  for (const FoundModel& row : findings.models) {
    if (row.figure == ModelledFigure::wall) return &row;
  }
  return nullptr;
}

/// Figures in seconds by one unit for the page; those of files as they are.
class Values {
 public:
  explicit Values(const Findings& findings) : time_(longest(findings)) {}
  std::string operator()(const FoundModel& row, double value) const {
    return row.figure == ModelledFigure::other || row.figure == ModelledFigure::visits
               ? fmt::format("{:.4g}", value)
               : time_(value);
  }

 private:
  static double longest(const Findings& findings) {
    const FoundModel* wall = run_time(findings);
    return wall == nullptr ? 1 : wall->base;
  }
  TimeFormat time_;
};

/// The worst of a figure, at a call path; the largest growth stands first. Unless nothing else
/// grows, start-up stands apart, as in other reports, and so do calls that wait: of these it is
/// said who causes it.
const FoundModel* worst(const Findings& findings, ModelledFigure figure) {
  const FoundModel* other = nullptr;
  for (const FoundModel& row : findings.models) {
    if (row.figure != figure || !row.callpath.valid() || !grows(row)) continue;
    const blame::FoundCallPath& path = findings.callpaths[row.callpath.index()];
    if (!path.start_up && !waits_for_others(path.region)) return &row;
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

std::string run_time_words(const FoundModel& wall, const Findings& findings, const Values& value) {
  const std::string expected = value(wall, wall.expected);
  const std::string range =
      fmt::format("95 % of runs: {} to {}", value(wall, wall.low), value(wall, wall.high));
  const std::string change = grows(wall)                                   ? "grows"
                             : growth(wall) < -kSame * std::abs(wall.base) ? "shrinks"
                                                                           : "";
  if (change.empty()) {
    return fmt::format("The run time stays the same from {} to {}: {} ({}).", at_most(findings),
                       at_targets(findings), expected, range);
  }
  return fmt::format("From {} to {} the run time {} from {} to {} ({}).", at_most(findings),
                     at_targets(findings), change, value(wall, wall.base), expected, range);
}

std::string worst_words(const Findings& findings, const Values& value, const PageNames& names) {
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

/// Rows of a figure at call paths.
auto at_callpath(ModelledFigure figure) {
  return [figure](const FoundModel& row) { return row.figure == figure && row.callpath.valid(); };
}

/// Rows that a section does not show: those that grow most stand first.
struct Hidden {
  size_t growing = 0, constant = 0, shrinking = 0;

  void add(const FoundModel& row) {
    ++(grows(row) ? growing : growth(row) < -kSame * std::abs(row.base) ? shrinking : constant);
  }
  /// "3 that grow less, 5 constant, 1 that shrinks"
  std::string words() const {
    std::vector<std::string> parts;
    if (growing > 0) parts.push_back(fmt::format("{} that grow less", growing));
    if (constant > 0) parts.push_back(fmt::format("{} constant", constant));
    if (shrinking > 0) parts.push_back(fmt::format("{} that shrink", shrinking));
    return listed(parts);
  }
};

class ModelPage {
 public:
  explicit ModelPage(const Findings& findings)
      : findings_(findings), names_(findings), value_(findings) {}

  std::string write(const std::filesystem::path& experiment) {
    head();
    section("RUN TIME", [](const FoundModel& row) { return row.figure == ModelledFigure::wall; });
    section("TIME, waiting included: a thread, so that all call paths make the run time",
            at_callpath(ModelledFigure::time));
    section("ROOT CAUSES: waiting caused by, a thread", at_callpath(ModelledFigure::delay));
    section("WAITING, a thread", [](const FoundModel& row) {
      return row.figure == ModelledFigure::waiting && !row.callpath.valid();
    });
    section("WAITING in, a thread", at_callpath(ModelledFigure::waiting));
    section("CRITICAL PATH", at_callpath(ModelledFigure::critical));
    section("IMBALANCE on the critical path", at_callpath(ModelledFigure::imbalance));
    for (const std::string& metric : metrics()) {
      section(metric.empty() ? "FIGURE" : metric, [&](const FoundModel& row) {
        return row.figure == ModelledFigure::other && row.metric == metric;
      });
    }
    next_runs();
    for (const std::string& note : findings_.run.notes) page_ += "\n" + wrapped("Note: " + note, 0);
    if (!experiment.empty()) page_ += fmt::format("\nFull results: {}\n", experiment.string());
    return page_;
  }

 private:
  void head() {
    std::vector<std::string> over;
    for (const auto& row : findings_.model_parameters) {
      over.push_back(fmt::format("{} ({:.6g} to {:.6g}, {} values)", row.name, row.least, row.most,
                                 row.points));
    }
    const std::string whose = findings_.run.program.empty() ? "" : " of " + findings_.run.program;
    const std::string from =
        findings_.run.program.empty() ? "a file" : counted(findings_.inputs.size(), "run");
    page_ += wrapped(fmt::format("Models{} over {}, from {}.", whose, listed(over), from), 0);
    page_ += wrapped("Verdict: " + model_sentence(findings_), 0);
  }

  std::set<std::string> metrics() const {
    std::set<std::string> all;
    for (const FoundModel& row : findings_.models) {
      if (row.figure == ModelledFigure::other) all.insert(row.metric);
    }
    return all;
  }

  template <class Wanted>
  void section(std::string_view title, const Wanted& wanted) {
    std::vector<size_t> rows;
    Hidden hidden;
    size_t all = 0;
    for (size_t i = 0; i < findings_.models.size(); ++i) {
      const FoundModel& row = findings_.models[i];
      if (!wanted(row)) continue;
      ++all;
      const bool lone = row.figure == ModelledFigure::wall || row.figure == ModelledFigure::other;
      if (rows.size() < kRows && (lone || grows(row))) {
        rows.push_back(i);
      } else {
        hidden.add(row);
      }
    }
    if (all == 0) return;
    page_ += fmt::format("\n{}\n", title);
    for (const size_t row : rows) entry(row);
    if (rows.empty()) page_ += fmt::format("  Nothing grows ({}).\n", hidden.words());
    if (!rows.empty() && all > rows.size()) {
      page_ += fmt::format("  Not shown: {}.\n", hidden.words());
    }
  }

  std::string name(const FoundModel& row) const {
    const std::string what(row.pattern.empty() ? "" : pattern_name(row.pattern));
    if (row.callpath.valid()) {
      const std::string path = names_.path(row.callpath, room_behind(46));
      return what.empty() ? path : path + " [" + what + "]";
    }
    return what.empty() ? "the whole run" : what;
  }

  void entry(size_t i) {
    const FoundModel& row = findings_.models[i];
    page_ += fmt::format(
        "  {} -> {} {}  {}\n", right(value_(row, row.base), 10),
        right(value_(row, row.expected), 10),
        left(fmt::format("({} to {})", value_(row, row.low), value_(row, row.high)), 24),
        name(row));
    page_ += wrapped(fmt::format("= {}; {}", row.formula, doubts(i)), kIndent);
  }

  /// How far to trust a formula.
  std::string doubts(size_t i) const {
    const FoundModel& row = findings_.models[i];
    std::string text = fmt::format("error {:.1f} %", row.error_pct);
    text += row.noise_pct < 0 ? ", noise unknown (no repeats)"
                              : fmt::format(", noise {:.1f} %", row.noise_pct);
    for (const FoundModelLead& lead : findings_.model_leads) {
      if (lead.model.index() != i) continue;
      if (lead.slowest == "1" && lead.fastest == "1") {
        text += fmt::format("; {} has no effect", lead.parameter);
      } else if (lead.slowest != lead.fastest) {
        text += fmt::format("; not ruled out: {} to {}",
                            lead.slowest == "1" ? "constant" : lead.slowest,
                            lead.fastest == "1" ? "constant" : lead.fastest);
      }
    }
    return text + ".";
  }

  void next_runs() {
    if (findings_.next_runs.empty()) return;
    page_ += "\nNEXT RUN: what it would remove of the variance of predictions, and its cost\n";
    for (size_t i = 0; i < std::min(findings_.next_runs.size(), kNextRuns); ++i) {
      const auto& row = findings_.next_runs[i];
      page_ += fmt::format("  {}  {} core hours  {}\n",
                           right(percent(blame::Proportion::by_itself(row.gain)), 7),
                           right(fmt::format("{:.3g}", row.cost_s / 3600), 9), row.point);
    }
  }

  const Findings& findings_;
  const PageNames names_;
  const Values value_;
  std::string page_;
};

}  // namespace

std::string model_sentence(const Findings& findings) {
  const Values value(findings);
  const PageNames names(findings);
  const FoundModel* wall = run_time(findings);
  std::string text = wall == nullptr ? "" : run_time_words(*wall, findings, value);
  text += worst_words(findings, value, names) + no_effect_words(findings);
  if (!text.empty() && text.front() == ' ') text.erase(0, 1);
  return text.empty() ? fmt::format("Predicted for {}.", at_targets(findings)) : text;
}

std::string model_page(const Findings& findings, const std::filesystem::path& experiment) {
  return ModelPage(findings).write(experiment);
}

}  // namespace culprit::report
