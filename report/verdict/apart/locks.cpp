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

#include "blame/findings/function_id.h"
#include "blame/judge/functions.h"

namespace culprit::report {
namespace {

using blame::Findings;

constexpr double kMostOfIt = 0.5;

/// Waits for locks: those of runtimes, of which acquisitions are known, and those of threads.
std::set<std::string_view> lock_patterns(const Findings& findings) {
  std::set<std::string_view> patterns{"thread.lock"};
  for (const blame::FoundLockBlame& row : findings.lock_blame) patterns.insert(row.pattern);
  return patterns;
}

bool is_its(const blame::Cause& cause, CallPathId path) {
  return std::find(cause.callpaths.begin(), cause.callpaths.end(), path) != cause.callpaths.end();
}

/// Whether most of what it costs is waits for locks.
bool is_of_locks(const blame::Cause& cause, const Findings& findings) {
  const std::set<std::string_view> patterns = lock_patterns(findings);
  double sum_s = 0;
  for (const blame::FoundDelay& row : findings.delays) {
    const bool counts = is_its(cause, row.callpath) && patterns.contains(row.pattern);
    if (counts) sum_s += row.short_s + row.long_s;
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

/// Whether a path leads through that function, from wherever it is called.
bool leads_through(CallPathId path, CallPathId function, const Findings& findings) {
  const blame::FunctionId wanted = blame::function_of(findings.callpaths[function.index()]);
  for (; path.valid(); path = findings.callpaths[path.index()].parent) {
    if (blame::function_of(findings.callpaths[path.index()]) == wanted) return true;
  }
  return false;
}

/// The path of the function that takes the lock for most of the waits; those that call the cause
/// come first.
CallPathId taker_of(const blame::Cause& cause, const Findings& findings) {
  std::map<CallPathId, double> callers, others;
  const auto add = [&](CallPathId taken, double time_s) {
    const CallPathId taker = function_around(taken, findings);
    if (!taker.valid()) return;
    (leads_through(cause.costliest, taker, findings) ? callers : others)[taker] += time_s;
  };
  for (const blame::FoundLockBlame& row : findings.lock_blame) {
    const bool holds =
        std::any_of(cause.shares.begin(), cause.shares.end(),
                    [&](const blame::Share& share) { return share.location == row.holder; });
    if (holds) add(row.acquired, row.time_s);
  }
  // Of others, where those who wait want to take the same lock.
  const bool is_known = !callers.empty() || !others.empty();
  const std::set<std::string_view> patterns = lock_patterns(findings);
  for (const blame::FoundVictim& row : findings.victims) {
    const bool counts = is_its(cause, row.delay_callpath) && patterns.contains(row.pattern);
    if (!is_known && counts) add(row.wait_callpath, row.time_s);
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
