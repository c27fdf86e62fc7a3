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
#include "blame/judge/diagnose.h"
#include "report/table/selection.h"
#include "report/text_page/changes.h"
#include "report/verdict/change_words.h"
#include "report/words/displayed.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {
namespace {

using blame::Findings;
using predict::Prediction;
using predict::Scenario;

constexpr size_t kRows = 6;
constexpr double kExact = 1e-3;   ///< of the run: what an unchanged run may differ
constexpr double kPolled = 1e-2;  ///< of the allocated time: what polling is worth a word

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

std::string noise_words(const predict::NoiseChange& change) {
  if (change.factor < 0) {
    return fmt::format(
        "{} of its noise",
        change.factor == -1 ? "none" : percent(blame::Proportion::by_itself(1 + change.factor)));
  }
  const predict::Distribution& length = change.noise.length;
  return length.samples() > 0
             ? "noise as measured" +
                   (change.factor == 1 ? "" : fmt::format(" x{:g}", change.factor))
             : fmt::format("noise {} {:g} times per second of work", predict::to_text(length),
                           change.noise.per_second_of_work);
}

const char* where(predict::LinkKind kind) {
  return kind == predict::LinkKind::same_node ? "within nodes" : "between nodes";
}

std::string link_words(predict::LinkKind kind, const predict::Link& link) {
  const double bytes = link.bytes_per_second();
  return fmt::format("messages {} that take {:.3g} us{}", where(kind),
                     static_cast<double>(link.latency.nanos()) * 1e-3,
                     bytes > 0 ? fmt::format(" and come at {:.3g} GB/s", bytes * 1e-9) : "");
}

/// Returns the words on links that are missing in the machines' files.
std::string unknown_links_words(const Prediction& prediction, const Scenario& scenario) {
  std::string text;
  const bool scaled = scenario.latency != 1 || scenario.bandwidth != 1;
  for (const predict::LinkKind kind : prediction.unknown_links) {
    text += fmt::format("Messages {} {}: no such link is known of {}. ", where(kind),
                        scaled ? "are scaled as they were recorded" : "take what they took",
                        scenario.perturbation.moved ? "both machines" : "the machine");
  }
  if (scenario.perturbation.moved && scenario.perturbation.noise.empty()) {
    text += "Noise stays what it was: it is not known of both machines.";
  }
  return text;
}

/// Returns a text with a lower-case first letter, to continue a sentence.
std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

/// Returns the words on unknown facts that the prediction takes as recorded, as far as they matter.
std::string untold_words(const Prediction& prediction, const TimeFormat& time) {
  const predict::Unknowns& unknowns = prediction.unknowns;
  std::vector<std::string> parts;
  const double polled = unknowns.polled.seconds();
  if (polled > kPolled * prediction.recorded.run.allocation_s) {
    parts.push_back(fmt::format("polled for {}, which may be waiting or work", time(polled)));
  }
  if (unknowns.choices > 0) {
    parts.push_back(fmt::format("chose among messages {} (MPI_Waitany and the like)",
                                counted(unknowns.choices, "time")));
  }
  std::string text;
  if (!parts.empty()) text = fmt::format("The run {}: taken as recorded. ", listed(parts));
  if (unknowns.sends > 0) {
    text += fmt::format(
        "Whether {} of {} to {} bytes would wait for late receivers is not known: taken as if "
        "not.",
        counted(unknowns.sends, "send"), unknowns.least_bytes, unknowns.most_bytes);
  }
  return text;
}

/// Returns the words on the reliability of the prediction.
std::string reliance(const Prediction& prediction, const Scenario& scenario,
                     const TimeFormat& time) {
  const double off = prediction.unchanged_wall_s - prediction.wall_s;
  std::string text =
      "Assumed: whatever is not changed keeps its pace; cores, caches and memory do not "
      "get faster or slower by it. ";
  const bool removes =
      std::any_of(scenario.scalings.begin(), scenario.scalings.end(),
                  [](const predict::Scaling& one) { return one.with_calls && one.factor == 0; });
  if (removes) text += "Calls of MPI in what is removed take no time, but still meet the others. ";
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

/// Returns words on random results with their interval.
std::string repeats_words(const predict::Sampled& sampled, const TimeFormat& time) {
  if (sampled.repeats < 2) return "";
  return fmt::format(
      "Mean of {} executions: {}, with 95 % between {} and {}; {} to {} in all. But "
      "for the run time, the tables are of the first.",
      sampled.repeats, time(sampled.mean_s), time(sampled.low_s), time(sampled.high_s),
      time(sampled.least_s), time(sampled.most_s));
}

/// How many messages come one after the other where it counts.
std::string sensitivity_table(const Prediction& prediction) {
  const auto& [rows, left_out] = prediction.sensitivities;
  if (rows.empty()) return "";
  const PageNames names(prediction.recorded);
  std::string page =
      "\nLATENCY: by so many times of it the run gets longer, if each message takes it longer\n";
  for (const predict::Sensitivity& row : rows) {
    page += fmt::format(
        "  {}  {}  of {}\n", right(fmt::format("{:.1f}", row.by_latency), 10),
        row.callpath.valid() ? names.path(row.callpath, room_behind(34)) : "the whole run",
        counted(row.transfers, "transfer"));
  }
  if (left_out > 0) {
    page += fmt::format("  Not executed one by one: {} with fewer transfers.\n",
                        counted(left_out, "call path"));
  }
  return page;
}

Findings compared(const Prediction& prediction) {
  const Findings* const before[] = {&prediction.recorded};
  const Findings* const after[] = {&prediction.predicted};
  const std::string names[] = {"recorded", "predicted"};
  Findings changes = blame::difference(before, after, names);
  for (blame::FoundChange& row : changes.changes) {  // the mean, where there are several
    if (row.figure == blame::ChangedFigure::wall) row.after_s = prediction.predicted_wall_s;
  }
  return changes;
}

std::string_view over_words(const std::optional<predict::Over>& over) {
  if (!over) return "";
  switch (*over) {
    case predict::Over::ranks:
      return " over ranks";
    case predict::Over::threads:
      return " over threads";
    case predict::Over::all:
      return " over all threads";
  }
  return "";
}

}  // namespace

std::string scenario_words(const Scenario& scenario) {
  std::vector<std::string> code, parts;
  for (const predict::Scaling& scaling : scenario.scalings) {
    code.push_back(scaling.with_calls && scaling.factor == 0
                       ? fmt::format("{} removed", scaling.callpaths)
                       : fmt::format("{} x{:g}", scaling.callpaths, scaling.factor));
  }
  for (const std::string& glob : scenario.balanced) {
    code.push_back(glob + " balanced" + std::string(over_words(scenario.over)));
  }
  if (!code.empty()) {
    std::string where;
    if (!scenario.ranks.empty())
      where += fmt::format(" on rank {}", ranks_in_words(scenario.ranks));
    if (!scenario.threads.empty())
      where += fmt::format(" on thread {}", ranks_in_words(scenario.threads));
    parts.push_back(listed(code) + where);
  }
  add_factor(parts, "latency", scenario.latency);
  add_factor(parts, "bandwidth", scenario.bandwidth);
  add_factor(parts, "kernels", scenario.kernels);
  add_factor(parts, "launch latency", scenario.launch_latency);
  for (const predict::NoiseChange& noise : scenario.perturbation.noise) {
    parts.push_back(noise_words(noise));
  }
  for (const auto kind : predict::kLinkKinds) {
    const auto& link = scenario.perturbation.link(kind);
    if (link && link->wanted != link->recorded) parts.push_back(link_words(kind, link->wanted));
  }
  if (scenario.perturbation.message_delay) {
    parts.push_back(fmt::format("each message {} later",
                                predict::to_text(*scenario.perturbation.message_delay)));
  }
  return printable(parts.empty() ? "nothing changed" : listed(parts));
}

std::string prediction_text(const Prediction& prediction, const Scenario& scenario) {
  const Findings changes = displayed(compared(prediction));
  const TimeFormat time(std::max(prediction.wall_s, prediction.predicted_wall_s));
  std::string page =
      wrapped(fmt::format("With {}: {}. Waiting: {} instead of {} (allocated time).",
                          scenario_words(scenario), lower_first(change_of_wall(changes)),
                          time(prediction.predicted.identities.waiting_s),
                          time(prediction.recorded.identities.waiting_s)),
              0);
  page += wrapped(repeats_words(prediction.sampled, time), 0);
  page += wrapped(reliance(prediction, scenario, time), 0);
  page += wrapped(unknown_links_words(prediction, scenario), 0);
  page += wrapped(untold_words(prediction, time), 0);
  page += change_tables(changes);
  page += sensitivity_table(prediction);
  page += "\nTHE NEW CRITICAL PATH\n";
  const auto critical = critical_functions(displayed(prediction.predicted));
  for (size_t i = 0; i < std::min(kRows, critical.size()); ++i) {
    page += fmt::format(
        "  {}  {}\n",
        right(percent(blame::Proportion::of(blame::Amount<blame::Run>(critical[i].second),
                                            blame::run_time(prediction.predicted))),
              7),
        critical[i].first);
  }
  return page;
}

std::string prediction_json(const Prediction& prediction, const Scenario& scenario) {
  using Json = nlohmann::ordered_json;
  Json critical = Json::array(), changes = Json::array(), sensitivities = Json::array();
  Json kept_links = Json::array();
  for (const predict::LinkKind kind : prediction.unknown_links) kept_links.push_back(name_of(kind));
  for (const predict::Sensitivity& row : prediction.sensitivities.rows) {
    sensitivities.push_back(
        {{"callpath", row.callpath.valid()
                          ? Json(prediction.recorded.callpaths[row.callpath.index()].name)
                          : Json()},
         {"transfers", row.transfers},
         {"by_latency", row.by_latency}});
  }
  for (const auto& [function, time_s] : critical_functions(prediction.predicted)) {
    critical.push_back({{"function", function}, {"time_s", time_s}});
  }
  for (const blame::FoundChange& row : compared(prediction).changes) {
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
                       {"polled_as_recorded_s", prediction.unknowns.polled.seconds()},
                       {"choices_as_recorded", prediction.unknowns.choices},
                       {"sends_of_unknown_kind", prediction.unknowns.sends},
                       {"links_as_recorded", kept_links},
                       {"repeats", prediction.sampled.repeats},
                       {"predicted_wall_low_s", prediction.sampled.low_s},
                       {"predicted_wall_high_s", prediction.sampled.high_s},
                       {"latency_sensitivities", sensitivities},
                       {"changes", changes},
                       {"critical_path", critical}};
  return printable_json(object.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace culprit::report
