// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The function that takes a lock calls what is blamed, or is that; where a function of its own
// takes the lock and returns (a wrapper), it is the one that is named.
#include "report/verdict/apart/locks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "blame/judge/functions.h"

namespace culprit::report {
namespace {

using blame::Findings;

constexpr double kMostOfIt = 0.5;

/// Whether most of what it costs is waits for locks.
bool is_of_locks(const blame::Cause& cause, const Findings& findings) {
  std::set<std::string_view> patterns;
  for (const blame::FoundLockBlame& row : findings.lock_blame) patterns.insert(row.pattern);
  double sum_s = 0;
  for (const blame::FoundDelay& row : findings.delays) {
    const bool is_its = std::find(cause.callpaths.begin(), cause.callpaths.end(), row.callpath) !=
                        cause.callpaths.end();
    if (is_its && patterns.contains(row.pattern)) sum_s += row.short_s + row.long_s;
  }
  return sum_s > 0 && sum_s >= kMostOfIt * cause.cost_s;
}

/// The path of the function in which a path lies; no path at the root.
CallPathId function_around(CallPathId path, const Findings& findings) {
  const auto is_code = [&](const blame::FoundCallPath& at) {
    return blame::is_function(at) && !blame::is_in_call_of_system(at);
  };
  while (path.valid() && !is_code(findings.callpaths[path.index()])) {
    path = findings.callpaths[path.index()].parent;
  }
  return path;
}

bool lies_below(CallPathId path, CallPathId ancestor, const Findings& findings) {
  for (; path.valid(); path = findings.callpaths[path.index()].parent) {
    if (path == ancestor) return true;
  }
  return false;
}

/// The path of the function that takes the lock for most of the waits; those that call the cause
/// come first.
CallPathId taker_of(const blame::Cause& cause, const Findings& findings) {
  std::map<CallPathId, double> callers, others;
  for (const blame::FoundLockBlame& row : findings.lock_blame) {
    const bool holds =
        std::any_of(cause.shares.begin(), cause.shares.end(),
                    [&](const blame::Share& share) { return share.location == row.holder; });
    const CallPathId taker =
        holds && row.acquired.valid() ? function_around(row.acquired, findings) : CallPathId();
    if (!taker.valid()) continue;
    (lies_below(cause.costliest, taker, findings) ? callers : others)[taker] += row.time_s;
  }
  const std::map<CallPathId, double>& sums = callers.empty() ? others : callers;
  const auto most = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == sums.end() ? CallPathId() : most->first;
}

}  // namespace

std::string lock_words(const blame::Cause& cause, const Findings& findings,
                       const PageNames& names) {
  if (!is_of_locks(cause, findings)) return "";
  const CallPathId taker = taker_of(cause, findings);
  if (!taker.valid()) return "";
  const std::string name = names.code(taker);
  return name == names.code(cause.example) ? ", under a lock that it takes,"
                                           : fmt::format(", under the lock that {} takes,", name);
}

}  // namespace culprit::report
