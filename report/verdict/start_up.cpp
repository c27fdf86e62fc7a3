// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parts of start-up are told by their outermost region, since what is called below it is its own
// business.
#include "report/verdict/start_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "blame/diagnose/diagnose.h"

namespace culprit::report {
namespace {

using blame::kWorthALine;  // of the run's length, or of all waiting
constexpr size_t kNamedParts = 3;
constexpr double kPartMatters = 0.05;  ///< of the whole

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
    words.push_back(fmt::format("{} {}", region, time(time_s)));
  }
  return listed(words);
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
