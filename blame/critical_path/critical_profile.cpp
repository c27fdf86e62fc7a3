// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sums by call path over the path's segments and over all activities, then the share of waiting
// that each path's imbalance brings about (thesis, 5.2.3 and 5.2.4).
#include "blame/critical_path/critical_profile.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "blame/profile/path_kinds.h"

namespace culprit::blame {

namespace {

class Profiler {
 public:
  Profiler(const replay::Run& run, const WaitSums& waits, const Profiles& profiles)
      : run_(run), waits_(waits), profiles_(profiles), row_of_(run.callpaths.size(), SIZE_MAX) {}

  CriticalProfile profile(const std::vector<CriticalPlace>& places) {
    sum_path(places);
    sum_activity();
    for (LocationId id : run_.locations) share_waiting(id);
    sum_costs();
    return std::move(result_);
  }

 private:
  /// Of all ranks.
  void sum_path(const std::vector<CriticalPlace>& places) {
    std::vector<CriticalPlace> all = concatenate(*run_.ranks, places);
    std::stable_sort(all.begin(), all.end(), [](const CriticalPlace& a, const CriticalPlace& b) {
      return a.path < b.path;
    });
    for (const CriticalPlace& place : all) {
      size_t& row = row_of_[place.path.index()];
      if (row == SIZE_MAX) {
        row = result_.callpaths.size();
        result_.callpaths.push_back({place.path, Duration::zero()});
      }
      result_.callpaths[row].on_path += place.on_path;
    }
  }

  void sum_activity() {
    std::vector<double> activity(result_.callpaths.size());
    struct {
      size_t threads = 0, streams = 0, masters = 0;
    } counts;
    for (LocationId id : run_.locations) {
      ++(run_.is_stream(id) ? counts.streams : counts.threads);
      counts.masters += run_.is_master(id);
      for (const PathTime& entry : profiles_[id.index()]) {
        const size_t row = row_of_[entry.path.index()];
        if (row != SIZE_MAX) activity[row] += entry.time.seconds();
      }
    }
    counts = reduce(*run_.ranks, counts, [](auto a, const auto& b) {
      a.threads += b.threads, a.streams += b.streams, a.masters += b.masters;
      return a;
    });
    add_up(*run_.ranks, activity);
    const std::vector<bool> parallel = inside_parallel(run_), device = on_streams(run_);
    for (size_t r = 0; r < activity.size(); ++r) {
      CriticalCallPath& row = result_.callpaths[r];
      row.activity_s = activity[r];
      const size_t sharers = device[row.path.index()]     ? counts.streams
                             : parallel[row.path.index()] ? counts.threads
                                                          : counts.masters;
      const double average = activity[r] / static_cast<double>(std::max<size_t>(sharers, 1));
      row.imbalance_s = std::max(row.on_path.seconds() - average, 0.0);
    }
  }

  /// Charges the waiting of one location to the call paths that take more time on the critical path
  /// than on this location.
  void share_waiting(LocationId id) {
    const Duration waiting = total(waits_[id.index()]);
    if (waiting == Duration::zero()) return;
    std::vector<Duration> own(result_.callpaths.size());
    for (const PathTime& entry : profiles_[id.index()]) {
      const size_t row = row_of_[entry.path.index()];
      if (row != SIZE_MAX) own[row] = entry.time;
    }
    Duration excess;
    for (size_t r = 0; r < own.size(); ++r) {
      excess += std::max(result_.callpaths[r].on_path - own[r], Duration::zero());
    }
    if (excess == Duration::zero()) {
      result_.unattributed_s += waiting.seconds();
      return;
    }
    for (size_t r = 0; r < own.size(); ++r) {
      CriticalCallPath& row = result_.callpaths[r];
      if (row.on_path <= own[r]) continue;
      const double cost = (row.on_path - own[r]).seconds() / excess.seconds() * waiting.seconds();
      (own[r] > Duration::zero() ? row.intra_s : row.inter_s) += cost;
      result_.costs_s += cost;
    }
  }

  /// Of all ranks.
  void sum_costs() {
    std::vector<double> sums{result_.costs_s, result_.unattributed_s};
    for (const CriticalCallPath& row : result_.callpaths) {
      sums.push_back(row.intra_s);
      sums.push_back(row.inter_s);
    }
    add_up(*run_.ranks, sums);
    result_.costs_s = sums[0];
    result_.unattributed_s = sums[1];
    for (size_t r = 0; r < result_.callpaths.size(); ++r) {
      result_.callpaths[r].intra_s = sums[2 + 2 * r];
      result_.callpaths[r].inter_s = sums[3 + 2 * r];
    }
  }

  const replay::Run& run_;
  const WaitSums& waits_;
  const Profiles& profiles_;
  std::vector<size_t> row_of_;  // by CallPathId
  CriticalProfile result_;
};

}  // namespace

Profiles profile_activities(const replay::Run& run, const std::vector<PathTimes>& times,
                            unsigned threads) {
  Profiles profiles(run.timelines.size());
  parallel_for(
      run.locations.size(), threads, [&] { return PathSums(run.callpaths.size()); },
      [&](size_t i, PathSums& sums) {
        const LocationId id = run.locations[i];
        sums.clear();
        const replay::Run::Life life = run.life(id);
        times[id.index()].sum(life.begin, life.end, sums);
        for (CallPathId path : sums.paths()) {
          if (!run.between(id, path)) profiles[id.index()].push_back({path, sums[path]});
        }
        std::sort(profiles[id.index()].begin(), profiles[id.index()].end(),
                  [](const PathTime& a, const PathTime& b) { return a.path < b.path; });
      });
  return profiles;
}

CriticalProfile profile_critical_path(const replay::Run& run, const WaitSums& waits,
                                      const std::vector<CriticalPlace>& places,
                                      const Profiles& profiles) {
  return Profiler(run, waits, profiles).profile(places);
}

}  // namespace culprit::blame
