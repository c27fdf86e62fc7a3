// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each section has one figure, and shows what grows most of it. A formula stands with what it does
// not say: the error of its predictions, and the dependences that the runs do not rule out.

#include "report/text_page/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "report/verdict/model_words.h"
#include "report/words/layout.h"
#include "report/words/names.h"
#include "report/words/patterns.h"

namespace culprit::report {
namespace {

using blame::Findings;
using blame::FoundModel;
using blame::FoundModelLead;
using blame::ModelledFigure;

constexpr size_t kRows = 5;
constexpr size_t kNextRuns = 3;
constexpr size_t kIndent = 6;

/// Rows of a figure at call paths.
auto at_callpath(ModelledFigure figure) {
  return [figure](const FoundModel& row) { return row.figure == figure && row.callpath.valid(); };
}

/// Rows that a section does not show: those that grow most stand first.
struct Hidden {
  size_t growing = 0, uncertain = 0, impossible = 0, constant = 0, shrinking = 0;

  void add(const FoundModel& row, const Findings& findings) {
    ++(exceeds_run(row, findings) ? impossible
       : certainly_grows(row)     ? growing
       : grows(row)               ? uncertain
       : shrinks(row)             ? shrinking
                                  : constant);
  }
  /// "3 that grow less, 5 constant, 1 that shrinks"
  std::string words() const {
    std::vector<std::string> parts;
    const auto add = [&](size_t count, std::string_view what) {
      if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
    };
    add(growing, "that grow less");
    add(uncertain, "whose growth is not certain");
    add(impossible, "with more than the run time predicted");
    add(constant, "constant");
    add(shrinking, "that shrink");
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
      const bool told = certainly_grows(row) && !exceeds_run(row, findings_);
      if (rows.size() < kRows && (lone || told)) {
        rows.push_back(i);
      } else {
        hidden.add(row, findings_);
      }
    }
    if (all == 0) return;
    page_ +=
        fmt::format("\n{}  (at the largest measured values, predicted, 95 % of runs)\n", title);
    for (const size_t row : rows) entry(row);
    if (rows.empty()) page_ += fmt::format("  Nothing certainly grows ({}).\n", hidden.words());
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
  const ModelValues value_;
  std::string page_;
};

}  // namespace

std::string model_page(const Findings& findings, const std::filesystem::path& experiment) {
  return ModelPage(findings).write(experiment);
}

}  // namespace culprit::report
