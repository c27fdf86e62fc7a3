// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Differences carry their sign; a share is that of what was before.

#include "report/text_page/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "blame/algebra/combine.h"
#include "report/verdict/change_words.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::ChangedFigure;
using blame::Findings;
using blame::FoundChange;
using blame::Proportion;

constexpr size_t kRows = 8;

class ChangePage {
 public:
  explicit ChangePage(const Findings& findings)
      : findings_(findings), time_(time_of_changes(findings)) {}

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

  /// Writes a section on the whole run, or on functions.
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
                      right(change_amount(row, time_), 29));
      const std::string name =
          fmt::format("{}{}", row.region.empty() ? name_of(row.figure) : row.region,
                      within_noise(row) ? "  (within noise)" : "");
      const bool fits = figures.size() + 2 + name.size() <= page_width();
      page_ += fits ? fmt::format("{}  {}\n", figures, name)
                    : fmt::format("{}\n{}", figures, wrapped(name, 6));
    }
    if (rows.size() > kRows) page_ += fmt::format("  and {} more\n", rows.size() - kRows);
  }

  /// Writes the losses by scaling, by call path.
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
          right(signed_time(row.after_s - row.ideal_s, time), 11),
          right(signed_time(row.waiting_s, time), 11), right(signed_time(row.delay_s, time), 11),
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

std::string change_tables(const Findings& findings) {
  return ChangePage(findings).write_tables();
}

std::string change_page(const Findings& findings, const std::filesystem::path& experiment) {
  return ChangePage(findings).write(experiment);
}

}  // namespace culprit::report
