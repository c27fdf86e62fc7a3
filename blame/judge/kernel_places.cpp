// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions are compared on each thread by itself, by page faults a sample: a cause has more in its
// samples than what it takes turns with, since these also find that one when it is not its turn.
#include "blame/judge/kernel_places.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "blame/judge/functions.h"

namespace culprit::blame {
namespace {

/// A function's faults may be another one's below this part of its faults a sample.
constexpr double kClearlyFewer = 0.5;
/// A function to which others are compared has at least this part of its thread's faults.
constexpr double kMatters = 0.1;

/// A function at one call path, with the calls of the system and of libraries that it makes.
struct Place {
  double faults = 0, samples = 0;
  double rate() const { return samples > 0 ? faults / samples : 0; }
};
using Places = std::map<CallPathId, Place>;  ///< of a thread

std::map<LocationId, Places> places_of(const Findings& findings, const Functions& functions) {
  std::map<LocationId, Places> places;
  for (const FoundKernelTime& row : findings.kernel_times) {
    places[row.location][functions.own_path(row.callpath)].faults +=
        static_cast<double>(row.page_faults);
  }
  for (const FoundProfile& row : findings.profile) {
    const auto thread = places.find(row.location);
    if (thread == places.end() || row.samples == 0) continue;
    const auto place = thread->second.find(functions.own_path(row.callpath));
    if (place != thread->second.end()) place->second.samples += static_cast<double>(row.samples);
  }
  return places;
}

/// The place with most faults a sample; none if there are no faults.
CallPathId densest(const Places& places) {
  double all = 0;
  for (const auto& [path, place] : places) all += place.faults;
  CallPathId best;
  double best_rate = 0;
  for (const auto& [path, place] : places) {
    if (place.faults < kMatters * all || place.rate() <= best_rate) continue;
    best = path, best_rate = place.rate();
  }
  return best;
}

/// None if they have different roots.
CallPathId common_path(const Functions& functions, CallPathId a, CallPathId b) {
  std::set<CallPathId> above;
  for (; a.valid(); a = functions.parent(a)) above.insert(a);
  while (b.valid() && !above.contains(b)) b = functions.parent(b);
  return b;
}

/// Where rows of these places belong, if that is not where they are.
std::map<CallPathId, CallPathId> moves_of(const Places& places, const Functions& functions) {
  std::map<CallPathId, CallPathId> moves;
  const CallPathId best = densest(places);
  if (!best.valid()) return moves;
  for (const auto& [path, place] : places) {
    if (place.faults == 0 || place.rate() >= kClearlyFewer * places.at(best).rate()) continue;
    const CallPathId common = common_path(functions, path, best);
    if (common.valid() && common != path) moves[path] = common;
  }
  return moves;
}

std::vector<FoundKernelTime> summed(const std::vector<FoundKernelTime>& rows) {
  std::vector<FoundKernelTime> sums;
  std::map<std::pair<CallPathId, LocationId>, size_t> known;
  for (const FoundKernelTime& row : rows) {
    const auto [at, is_new] = known.try_emplace({row.callpath, row.location}, sums.size());
    if (is_new) {
      sums.push_back(row);
      continue;
    }
    FoundKernelTime& sum = sums[at->second];
    sum.system_s += row.system_s;
    sum.fault_s += row.fault_s;
    sum.page_faults += row.page_faults;
  }
  return sums;
}

}  // namespace

void move_doubtful_page_faults(Findings& findings) {
  if (findings.kernel_times.empty()) return;
  const Functions functions(findings);
  std::vector<FoundKernelTime> rows;
  const auto all = places_of(findings, functions);
  std::map<LocationId, std::map<CallPathId, CallPathId>> moves;
  for (const auto& [location, places] : all) moves[location] = moves_of(places, functions);
  for (FoundKernelTime row : findings.kernel_times) {
    const auto& of_thread = moves.at(row.location);
    const auto move = of_thread.find(functions.own_path(row.callpath));
    if (move != of_thread.end()) {
      // Time in system calls is where samples found it: the instruction says so.
      rows.push_back({move->second, row.location, row.fault_s, row.fault_s, row.page_faults});
      row.system_s -= row.fault_s;
      row.fault_s = 0;
      row.page_faults = 0;
    }
    if (row.system_s > 0 || row.page_faults > 0) rows.push_back(row);
  }
  findings.kernel_times = summed(rows);
}

}  // namespace culprit::blame
