// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parts of start-up are named by their outermost region, since calls below it are its internals.
#include "report/verdict/apart/start_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "blame/judge/diagnose.h"
#include "blame/profile/start_up.h"
#include "report/verdict/places.h"
#include "trace/pseudo_regions.h"

namespace culprit::report {
namespace {

using blame::kWorthALine;  // of the run's length, or of all waiting
constexpr size_t kNamedParts = 3;
constexpr double kPartMatters = 0.05;  ///< of the whole
constexpr double kSkewMatters = 0.05;  ///< of the run: worth a sentence
constexpr double kSkewIsThere = 0.01;  ///< likewise: worth a section

/// The region of a start-up call path that is start-up itself; below it anything may be called.
const std::string& outermost(const blame::Findings& findings, CallPathId path) {
  CallPathId found = path;
  for (CallPathId at = path; at.valid(); at = findings.callpaths[at.index()].parent) {
    if (findings.callpaths[at.index()].start_up) found = at;
  }
  return findings.callpaths[found.index()].region;
}

}  // namespace

std::string start_up_parts(const blame::Findings& findings, const TimeFormat& time) {
  std::map<std::string, double> sums;
  for (const blame::FoundCriticalCallPath& row : findings.critical_callpaths) {
    if (!findings.callpaths[row.callpath.index()].start_up) continue;
    sums[outermost(findings, row.callpath)] += row.time_s;
  }
  std::vector<std::pair<std::string, double>> parts(sums.begin(), sums.end());
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [region, time_s] : parts) {
    if (words.size() == kNamedParts) break;
    if (time_s < kPartMatters * findings.start_up.wall_s) break;
    const bool imports = trace::pseudo_of(region) == trace::Pseudo::importing;
    const std::string name =
        imports ? fmt::format("import {}", trace::rest_of_family(region)) : region;
    words.push_back(fmt::format("{} {}", name, time(time_s)));
  }
  return listed(words);
}

StartSkew start_skew(const blame::Findings& findings) {
  StartSkew skew;
  for (const blame::FoundWait& row : findings.waits) {
    if (row.pattern != blame::kStartSkew) continue;
    skew.longest_s = std::max(skew.longest_s, row.time_s);
    skew.shortest_s = skew.processes == 0 ? row.time_s : std::min(skew.shortest_s, row.time_s);
    skew.waiting_s += row.time_s;
    ++skew.processes;
  }
  for (const blame::FoundUnattributed& row : findings.unattributed) {
    if (row.pattern == blame::kStartSkew) skew.launch_s += row.time_s;
  }
  skew.causes = causes_of(findings, blame::kStartSkew);
  return skew;
}

std::string start_skew_sentence(const blame::Findings& findings, SkewOrder turn,
                                const std::vector<blame::Cause>& others, const PageNames& names,
                                const TimeFormat& time) {
  const StartSkew skew = start_skew(findings);
  const bool above = others.empty() || skew.cost_s() > others.front().cost_s;
  if (above != (turn == SkewOrder::first)) return "";
  if (skew.longest_s < kSkewMatters * findings.run.wall_s || skew.longest_s <= 0) return "";
  std::string text =
      fmt::format("Start-up: {} waited in MPI_Init, {} ({} of the run) at most,",
                  counted(skew.processes, "process", "processes"), time(skew.longest_s),
                  percent(blame::Proportion::of(blame::Amount<blame::Run>(skew.longest_s),
                                                blame::run_time(findings))));
  if (skew.causes.empty() || skew.launch_s > skew.cost_s()) {
    return text + " for one that was started later.";
  }
  const blame::Cause& first = skew.causes.front();
  return fmt::format("{} for {} {}, which comes before it.", text, name_of(first, names),
                     on_places(first.shares, findings, names));
}

std::string start_skew_section(const blame::Findings& findings, const PageNames& names,
                               const TimeFormat& time) {
  const StartSkew skew = start_skew(findings);
  if (skew.longest_s <= 0 || skew.longest_s < kSkewIsThere * findings.run.wall_s) return "";
  std::string text = fmt::format(
      "Start-up skew: {} waited {} in MPI_Init, {} at most, for others to enter it",
      counted(skew.processes, "process", "processes"), time(skew.waiting_s), time(skew.longest_s));
  std::vector<std::string> words;
  for (const blame::Cause& cause : skew.causes) {
    if (words.size() == kNamedParts || cause.cost_s < kPartMatters * skew.waiting_s) break;
    words.push_back(fmt::format("{} {} {}", name_of(cause, names),
                                on_places(cause.shares, findings, names), time(cause.cost_s)));
  }
  if (skew.launch_s >= kPartMatters * skew.waiting_s && skew.launch_s > 0) {
    words.push_back(fmt::format("later starts of processes {}", time(skew.launch_s)));
  }
  if (!words.empty()) text += fmt::format(". Caused by {}", listed(words));
  return text + ". In no share of the waiting below.";
}

std::string start_up_sentence(const blame::Findings& findings, const TimeFormat& time) {
  const blame::StartUp& sums = findings.start_up;
  const bool long_one = sums.wall_s >= kWorthALine * findings.run.wall_s;
  const bool waited_for = sums.waiting_s >= kWorthALine * findings.identities.waiting_s;
  if (sums.wall_s <= 0 && sums.waiting_s <= 0) return "";
  if (!long_one && !waited_for) return "";
  std::string text =
      fmt::format("Start-up and shutdown: {} of {}", time(sums.wall_s), time(findings.run.wall_s));
  if (const std::string parts = start_up_parts(findings, time); !parts.empty()) {
    text += fmt::format(" ({})", parts);
  }
  if (waited_for) text += fmt::format("; it causes {} of waiting", time(sums.waiting_s));
  return text + ". Not included in the verdict, the delays and the efficiencies.";
}

}  // namespace culprit::report
