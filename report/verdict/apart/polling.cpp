// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/verdict/apart/polling.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "blame/findings/function_id.h"
#include "blame/judge/diagnose.h"
#include "report/verdict/places.h"
#include "report/words/layout.h"

namespace culprit::report {
namespace {

using blame::FoundCallPath;

/// Returns the locations where the function at `path` caused tests, over all call paths to it.
std::vector<blame::Share> shares_of_code(const blame::Findings& findings, const PageNames& names,
                                         CallPathId path) {
  const FoundCallPath* const code = names.find(path);
  std::map<LocationId, double> by_location;
  for (const blame::FoundPollingCause& row : findings.polling_causes) {
    const FoundCallPath* const other = names.find(row.callpath);
    if (code == nullptr || other == nullptr || function_of(*other) != function_of(*code)) continue;
    by_location[row.location] += row.time_s;
  }
  std::vector<blame::Share> shares;
  for (const auto& [location, time_s] : by_location) shares.push_back({location, time_s});
  std::stable_sort(shares.begin(), shares.end(), [](const blame::Share& a, const blame::Share& b) {
    return a.time_s > b.time_s;
  });
  return shares;
}

}  // namespace

std::string polling_verdict(const blame::Findings& findings, const PageNames& names) {
  const blame::FoundDiagnosis* const row = find_diagnosis(findings, blame::Diagnosis::polling);
  if (row == nullptr) return "";
  const std::string share = fmt::format("{} of the allocated time was polling for messages",
                                        percent(blame::proportion(*row)));
  const std::vector<blame::Share> shares = shares_of_code(findings, names, row->callpath);
  if (shares.empty()) return share + ".";
  return fmt::format("{}, mostly caused by {} {}.", share, names.code(row->callpath),
                     on_places(shares, findings, names));
}

}  // namespace culprit::report
