// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The predicted run is compared with the recorded one as culprit diff compares two.
#include "report/prediction/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/printable.h"
#include "blame/algebra/compare.h"
#include "report/page/changes.h"
#include "report/page/displayed.h"
#include "report/page/layout.h"
#include "report/page/names.h"

namespace culprit::report {
namespace {

using blame::Findings;
using predict::Prediction;
using predict::Scenario;

constexpr size_t kRows = 6;
constexpr double kExact = 1e-3;  ///< of the run: what an unchanged run may differ

std::string numbers(const std::set<uint32_t>& set) {
  std::vector<std::string> all;
  for (uint32_t number : set) all.push_back(std::to_string(number));
  return listed(all);
}

void add_factor(std::vector<std::string>& parts, std::string_view what, double factor) {
  if (factor != 1) parts.push_back(fmt::format("{} x{:g}", what, factor));
}

/// Time on the critical path by function, largest first.
std::vector<std::pair<std::string, double>> critical_functions(const Findings& findings) {
  const PageNames names(findings);
  std::map<std::string, double> sums;
  for (const auto& row : findings.critical_path) sums[names.code(row.callpath)] += row.time_s;
  std::vector<std::pair<std::string, double>> list(sums.begin(), sums.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

/// To go on within a sentence.
std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

/// What to think of it.
std::string reliance(const Prediction& prediction, const TimeFormat& time) {
  const double off = prediction.unchanged_wall_s - prediction.wall_s;
  std::string text =
      "Assumed: whatever is not changed keeps its pace; cores, caches and memory do not "
      "get faster or slower by it. ";
  text +=
      std::abs(off) <= kExact * prediction.wall_s
          ? "Executed again with nothing changed, the run takes as long as it took."
          : fmt::format(
                "Executed again with nothing changed, the run takes {} ({} {}): the "
                "prediction is no better than that.",
                time(prediction.unchanged_wall_s), time(std::abs(off)), off > 0 ? "more" : "less");
  if (prediction.forced > 0) {
    text += fmt::format(
        " {} were passed over, since according to the trace they wait for each other "
        "in a circle.",
        counted(prediction.forced, "dependence"));
  }
  return text;
}

Findings compared(const Prediction& prediction) {
  return displayed(blame::difference({&prediction.recorded}, {&prediction.predicted},
                                     {"recorded", "predicted"}));
}

}  // namespace

std::string scenario_words(const Scenario& scenario) {
  std::vector<std::string> parts;
  for (const predict::Scaling& scaling : scenario.scalings) {
    parts.push_back(scaling.with_calls && scaling.factor == 0
                        ? fmt::format("{} removed", scaling.callpaths)
                        : fmt::format("{} x{:g}", scaling.callpaths, scaling.factor));
  }
  for (const std::string& glob : scenario.balanced) parts.push_back(glob + " balanced");
  add_factor(parts, "latency", scenario.latency);
  add_factor(parts, "bandwidth", scenario.bandwidth);
  add_factor(parts, "kernels", scenario.kernels);
  add_factor(parts, "launch latency", scenario.launch_latency);
  std::string text = parts.empty() ? "nothing changed" : listed(parts);
  if (!scenario.ranks.empty()) text += fmt::format(", on rank {}", numbers(scenario.ranks));
  if (!scenario.threads.empty()) text += fmt::format(", on thread {}", numbers(scenario.threads));
  return printable(text);
}

std::string prediction_text(const Prediction& prediction, const Scenario& scenario) {
  const Findings changes = compared(prediction);
  const TimeFormat time(std::max(prediction.wall_s, prediction.predicted_wall_s));
  std::string page =
      wrapped(fmt::format("With {}: {}. Waiting: {} instead of {} (allocated time).",
                          scenario_words(scenario), lower_first(change_of_wall(changes)),
                          time(prediction.predicted.identities.waiting_s),
                          time(prediction.recorded.identities.waiting_s)),
              0);
  page += wrapped(reliance(prediction, time), 0);
  page += change_tables(changes);
  page += "\nTHE NEW CRITICAL PATH\n";
  const auto critical = critical_functions(displayed(prediction.predicted));
  for (size_t i = 0; i < std::min(kRows, critical.size()); ++i) {
    page += fmt::format("  {}  {}\n",
                        right(percent(critical[i].second, prediction.predicted_wall_s), 7),
                        critical[i].first);
  }
  return page;
}

std::string prediction_json(const Prediction& prediction, const Scenario& scenario) {
  using Json = nlohmann::ordered_json;
  Json critical = Json::array(), changes = Json::array();
  for (const auto& [function, time_s] : critical_functions(prediction.predicted)) {
    critical.push_back({{"function", function}, {"time_s", time_s}});
  }
  const Findings found =
      blame::difference({&prediction.recorded}, {&prediction.predicted}, {"recorded", "predicted"});
  for (const blame::FoundChange& row : found.changes) {
    changes.push_back({{"figure", to_string(row.figure)},
                       {"region", row.region},
                       {"before_s", row.before_s},
                       {"after_s", row.after_s}});
  }
  const Json object = {{"scenario", scenario_words(scenario)},
                       {"wall_s", prediction.wall_s},
                       {"predicted_wall_s", prediction.predicted_wall_s},
                       {"unchanged_wall_s", prediction.unchanged_wall_s},
                       {"waiting_s", prediction.recorded.identities.waiting_s},
                       {"predicted_waiting_s", prediction.predicted.identities.waiting_s},
                       {"passed_over", prediction.forced},
                       {"changes", changes},
                       {"critical_path", critical}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace culprit::report
