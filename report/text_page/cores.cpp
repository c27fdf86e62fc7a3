// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows of little weight are left out; a time is named only if most of the lack falls into a part of
// the run.
#include "report/text_page/cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/cores/core_counter.h"
#include "report/verdict/cores.h"
#include "report/words/names.h"

namespace culprit::report {
namespace {

using blame::CoreTakerKind;
using blame::FoundCoreTime;

constexpr double kWorthARow = 0.05;  ///< of all that was lacked
constexpr size_t kMostRows = 5;
constexpr size_t kMostProcesses = 4;
constexpr double kMostOfIt = 0.8;
/// A longer part of the run is no news.
constexpr double kNews = 0.6;

std::string words_for(const blame::FoundCoreTaker& taker) {
  switch (taker.kind) {
    case CoreTakerKind::others:
      return taker.name.empty()   ? "other programs, unseen from here"
             : taker.process != 0 ? fmt::format("{} (process {})", taker.name, taker.process)
                                  : fmt::format("{} ({})", taker.name,
                                                counted(taker.processes, "process", "processes"));
    case CoreTakerKind::helpers:
      return "culprit, and what starts the program";
    case CoreTakerKind::quota:
      return "nobody: a CPU quota (cgroup) had been used up";
    case CoreTakerKind::hypervisor:
      return "other machines on the same hardware (steal)";
    case CoreTakerKind::binding:
      return "threads of the same process, which is bound to few cores";
    case CoreTakerKind::own:
      return "other threads of the program";
    case CoreTakerKind::unknown:
      break;
  }
  return "somebody: nobody watched " + taker.node;
}

/// The time without a core of a process, by part of the run.
using TimeSeries = std::vector<const FoundCoreTime*>;

double lacked(const TimeSeries& series) {
  double sum = 0;
  for (const FoundCoreTime* part : series) sum += part->core_wait_s;
  return sum;
}

/// Returns the shortest part of the run with most of the process's time without a core.
std::string when(const TimeSeries& series, const TimeFormat& time) {
  const double wanted = kMostOfIt * lacked(series);
  size_t best_begin = 0, best_end = series.size(), begin = 0;
  double inside = 0;
  for (size_t end = 0; end < series.size(); ++end) {
    inside += series[end]->core_wait_s;
    while (inside - series[begin]->core_wait_s >= wanted) inside -= series[begin++]->core_wait_s;
    if (inside >= wanted && end + 1 - begin < best_end - best_begin) {
      best_begin = begin;
      best_end = end + 1;
    }
  }
  const double all_s = series.back()->end_s - series.front()->begin_s;
  const double part_s = series[best_end - 1]->end_s - series[best_begin]->begin_s;
  if (part_s > kNews * all_s) return "";
  return fmt::format(", most of it from {} to {}", time(series[best_begin]->begin_s),
                     time(series[best_end - 1]->end_s));
}

std::string process_lines(const blame::Findings& findings, const TimeFormat& time) {
  std::vector<std::pair<uint32_t, TimeSeries>> processes;
  for (const FoundCoreTime& row : findings.core_times) {
    if (processes.empty() || processes.back().first != row.rank)
      processes.push_back({row.rank, {}});
    processes.back().second.push_back(&row);
  }
  std::stable_sort(processes.begin(), processes.end(), [](const auto& a, const auto& b) {
    return lacked(a.second) > lacked(b.second);
  });
  std::string text;
  for (size_t i = 0; i < std::min(processes.size(), kMostProcesses); ++i) {
    const auto& [rank, series] = processes[i];
    double had_s = 0;
    for (const FoundCoreTime* part : series) had_s += part->on_core_s;
    const double lacked_s = lacked(series);
    const double could_s = had_s + lacked_s;
    if (could_s <= 0) continue;
    const std::string span = when(series, time);
    if (findings.run.ranks < 2 && span.empty()) continue;
    text += wrapped(
        fmt::format("{} {} lacked a core for {} of the time in which its threads could run{}.",
                    unit_of(findings) == "rank" ? "Rank" : "Process", rank,
                    percent(blame::Proportion::by_itself(lacked_s / could_s)), span),
        2);
  }
  return text;
}

/// The functions that lacked a core for longest.
std::string function_lines(const blame::Findings& findings, const CoreShortage& shortage,
                           const TimeFormat& time) {
  std::map<std::string, double> by_function;
  for (const blame::FoundCount& row : findings.counts) {
    if (findings.metrics[row.metric.index()].name != kNoCoreCounter || !row.callpath.valid())
      continue;
    by_function[findings.callpaths[row.callpath.index()].region] += row.value * 1e-9;
  }
  std::vector<std::pair<double, std::string>> largest;
  for (const auto& [name, time_s] : by_function) {
    if (time_s >= kWorthARow * shortage.core_wait_s) largest.emplace_back(time_s, name);
  }
  std::sort(largest.rbegin(), largest.rend());
  if (largest.size() > kMostProcesses) largest.resize(kMostProcesses);
  std::vector<std::string> parts;
  for (const auto& [time_s, name] : largest) {
    parts.push_back(fmt::format("{} ({})", shortened(name, page_width() / 2), time(time_s)));
  }
  return parts.empty() ? "" : wrapped(fmt::format("Without a core were {}.", listed(parts)), 2);
}

}  // namespace

std::string core_section(const blame::Findings& findings, const TimeFormat& time) {
  const CoreShortage shortage = core_shortage(findings);
  if (!shortage.matters() && !shortage.disturbed()) return "";
  std::string text = "\nCORES: who had those that threads lacked\n";
  text += wrapped(fmt::format("Threads could have run for {}, and had no core for {} of it ({}):",
                              time(shortage.runnable_s), time(shortage.core_wait_s),
                              percent(blame::Proportion::by_itself(shortage.share))),
                  2);
  size_t rows = 0;
  for (const blame::FoundCoreTaker& taker : shortage.takers) {
    if (rows++ == kMostRows || taker.time_s < kWorthARow * shortage.core_wait_s) break;
    const double part = std::min(1.0, taker.time_s / shortage.runnable_s);
    text += beside(fmt::format("    {} {}", right(time(taker.time_s), 10),
                               right(percent(blame::Proportion::by_itself(part)), 8)),
                   words_for(taker));
  }
  return text + process_lines(findings, time) + function_lines(findings, shortage, time);
}

}  // namespace culprit::report
