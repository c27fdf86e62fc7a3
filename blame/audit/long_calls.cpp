// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Only calls of some length are looked at: those are few, and shorter ones are below tau.
#include "blame/audit/long_calls.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

namespace culprit::blame {

namespace {

using replay::kLongCall;
using replay::LongCall;

constexpr double kOrdinary = 3;          ///< times the lower quartile
constexpr double kSlowMessage_s = 1e-4;  ///< between two processes
constexpr double kSlowBytes = 0.5e9;     ///< a second

/// A call from the last thing that it waited for on.
struct Rest {
  CallPathId path;
  RegionId region;
  Time begin, end;
  std::optional<LongCall> size;

  double seconds() const { return (end - begin).seconds(); }
  /// What a slow machine needs.
  double most_s() const {
    if (!size) return INFINITY;
    const auto levels = std::max<int>(1, std::bit_width(std::max(size->members, 1u) - 1));
    return levels * (kSlowMessage_s + static_cast<double>(size->bytes) / kSlowBytes);
  }
  /// Those alike take about as long.
  std::pair<RegionId, int> kind() const {
    return {region, size ? std::bit_width(size->bytes) : -1};
  }
};

std::vector<Rest> rests_of(const replay::Run& run, LocationId id, const Column<replay::Wait>& waits,
                           const Column<LongCall>& sizes, const std::vector<PathKind>& kinds) {
  std::vector<Rest> rests;
  const replay::Activities& life = run.at(id).activities;
  size_t wait = 0, size = 0;
  for (size_t i = 0; i < life.size(); ++i) {
    const CallPathId path = life.path(i);
    if (kinds[path.index()] != PathKind::mpi) continue;
    const Time enter = life.begin(i), end = life.end(i);
    if (end - enter < kLongCall) continue;
    while (wait < waits.size() && waits[wait].end <= enter) ++wait;
    Time begin = enter;
    for (; wait < waits.size() && waits[wait].begin < end; ++wait) {
      begin = std::max(begin, std::min(waits[wait].end, end));
      if (waits[wait].end > end) break;
    }
    while (size < sizes.size() && sizes[size].enter < enter) ++size;
    const bool known = size < sizes.size() && sizes[size].enter == enter;
    rests.push_back({path, run.callpaths[path].region, begin, end,
                     known ? std::optional(sizes[size]) : std::nullopt});
  }
  return rests;
}

/// By kind.
std::map<std::pair<RegionId, int>, double> lower_quartiles(const std::vector<Rest>& rests) {
  std::map<std::pair<RegionId, int>, std::vector<double>> times;
  for (const Rest& rest : rests) times[rest.kind()].push_back(rest.seconds());
  std::map<std::pair<RegionId, int>, double> quartiles;
  for (auto& [kind, list] : times) {
    const auto quarter = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 4);
    std::nth_element(list.begin(), quarter, list.end());
    quartiles[kind] = *quarter;
  }
  return quartiles;
}

}  // namespace

std::vector<Mystery> too_long_calls(const replay::Run& run, LocationId id,
                                    const Column<replay::Wait>& waits,
                                    const Column<LongCall>& sizes,
                                    const std::vector<PathKind>& kinds) {
  const std::vector<Rest> rests = rests_of(run, id, waits, sizes, kinds);
  const auto quartiles = lower_quartiles(rests);
  std::vector<Mystery> found;
  for (const Rest& rest : rests) {
    const double tau = std::max(kLongCall.seconds(),
                                std::min(kOrdinary * quartiles.at(rest.kind()), rest.most_s()));
    const double time_s = rest.seconds() - tau;
    if (time_s > 0) found.push_back({rest.path, rest.begin, rest.end, time_s});
  }
  return found;
}

}  // namespace culprit::blame
