// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Only calls of some length are looked at: those are few, and shorter ones are below tau.
#include "blame/audit/long_calls.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "replay/match/progress/usual_time.h"

namespace culprit::blame {

namespace {

using replay::kLongCall;
using replay::LongCall;

constexpr double kByte = 2;  ///< nanoseconds: 0.5 GB/s
constexpr int kWithoutSize = -1;

/// The rest of a call after the last event that it waited for.
struct Rest {
  CallPathId path;
  RegionId region;
  Time begin, end;
  std::optional<LongCall> size;

  double seconds() const { return (end - begin).seconds(); }
  /// Returns the time that a slow machine needs for the call.
  double most_nanos() const {
    if (!size) return INFINITY;
    return replay::slow_nanos(size->members, static_cast<double>(size->bytes), kByte);
  }
  /// Calls of one kind (same function, similar size) should take about as long.
  std::pair<RegionId, int> kind() const {
    return {region, size ? std::bit_width(size->bytes) : kWithoutSize};
  }
};

/// A location's calls.
struct Calls {
  std::vector<Rest> rests;                  ///< of those of some length
  std::map<RegionId, uint64_t> short_ones;  ///< how many were none
};

Calls calls_of(const replay::Run& run, LocationId id, const Column<replay::Wait>& waits,
               const Column<LongCall>& sizes, const std::vector<PathKind>& kinds) {
  Calls calls;
  const replay::Activities& life = run.at(id).activities;
  size_t wait = 0, size = 0;
  for (size_t i = 0; i < life.size(); ++i) {
    const CallPathId path = life.path(i);
    if (kinds[path.index()] != PathKind::mpi) continue;
    const Time enter = life.begin(i), end = life.end(i);
    const RegionId region = run.callpaths[path].region;
    if (end - enter < kLongCall) {
      ++calls.short_ones[region];
      continue;
    }
    while (wait < waits.size() && waits[wait].end <= enter) ++wait;
    Time begin = enter;
    for (; wait < waits.size() && waits[wait].begin < end; ++wait) {
      begin = std::max(begin, std::min(waits[wait].end, end));
      if (waits[wait].end > end) break;
    }
    while (size < sizes.size() && sizes[size].enter < enter) ++size;
    const bool known = size < sizes.size() && sizes[size].enter == enter;
    calls.rests.push_back(
        {path, region, begin, end, known ? std::optional(sizes[size]) : std::nullopt});
  }
  return calls;
}

/// Returns lower quartiles by kind. All calls of a function without a size are of one kind,
/// including short ones.
std::map<std::pair<RegionId, int>, double> lower_quartiles(const Calls& calls) {
  std::map<std::pair<RegionId, int>, std::vector<double>> times;
  for (const Rest& rest : calls.rests) times[rest.kind()].push_back(rest.seconds());
  std::map<std::pair<RegionId, int>, double> quartiles;
  for (auto& [kind, list] : times) {
    const auto quarter = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 4);
    std::nth_element(list.begin(), quarter, list.end());
    quartiles[kind] = *quarter;
    const auto shorter = calls.short_ones.find(kind.first);
    const bool is_short = kind.second == kWithoutSize && shorter != calls.short_ones.end() &&
                          3 * shorter->second >= list.size();
    if (is_short) quartiles[kind] = kLongCall.seconds();
  }
  return quartiles;
}

}  // namespace

std::vector<Mystery> too_long_calls(const replay::Run& run, LocationId id,
                                    const Column<replay::Wait>& waits,
                                    const Column<LongCall>& sizes,
                                    const std::vector<PathKind>& kinds) {
  const Calls calls = calls_of(run, id, waits, sizes, kinds);
  const auto quartiles = lower_quartiles(calls);
  std::vector<Mystery> found;
  for (const Rest& rest : calls.rests) {
    const double quartile = 1e9 * quartiles.at(rest.kind());
    const double tau = 1e-9 * replay::usual_nanos(quartile, rest.most_nanos());
    const double time_s = rest.seconds() - tau;
    if (time_s > 0) found.push_back({rest.path, rest.begin, rest.end, time_s});
  }
  return found;
}

}  // namespace culprit::blame
