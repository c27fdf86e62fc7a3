// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/verdict/polling.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "report/page/layout.h"
#include "report/verdict/causes.h"
#include "report/verdict/places.h"

namespace culprit::report {
namespace {

constexpr double kWorthSaying = 0.05;  ///< of the allocated time
constexpr double kMost = 0.5;

/// A function with what tests are due to it, by location.
struct Polled {
  double time_s = 0;
  CallPathId example;
  std::vector<Share> shares;
};

Polled costliest(const blame::Findings& findings, const PageNames& names, double& sum_s) {
  std::map<std::string, Polled> by_code;
  for (const blame::FoundPollingCause& row : findings.polling_causes) {
    Polled& polled = by_code[names.code(row.callpath)];
    polled.time_s += row.time_s;
    polled.example = row.callpath;
    sum_s += row.time_s;
    const auto known =
        std::find_if(polled.shares.begin(), polled.shares.end(),
                     [&](const Share& share) { return share.location == row.location; });
    if (known == polled.shares.end()) {
      polled.shares.push_back({row.location, row.time_s});
    } else {
      known->time_s += row.time_s;
    }
  }
  Polled most;
  for (auto& [code, polled] : by_code) {
    if (polled.time_s > most.time_s) most = std::move(polled);
  }
  std::stable_sort(most.shares.begin(), most.shares.end(),
                   [](const Share& a, const Share& b) { return a.time_s > b.time_s; });
  return most;
}

}  // namespace

std::string polling_verdict(const blame::Findings& findings, const PageNames& names) {
  double polling_s = 0, caused_s = 0;
  for (const blame::FoundPolling& row : findings.polling) polling_s += row.time_s;
  const double all_s = own_allocation(findings);
  if (all_s <= 0 || polling_s < kWorthSaying * all_s) return "";
  const std::string share =
      fmt::format("{} of the allocated time was polling for messages", percent(polling_s, all_s));
  const Polled most = costliest(findings, names, caused_s);
  if (most.time_s <= 0 || most.time_s < kMost * caused_s) return share + ".";
  return fmt::format("{}, mostly caused by {} {}.", share, names.code(most.example),
                     on_places(most.shares, findings, names));
}

}  // namespace culprit::report
