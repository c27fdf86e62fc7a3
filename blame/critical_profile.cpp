// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/critical_profile.h"

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "blame/path_kinds.h"

namespace culprit::blame {

namespace {

class Profiler {
 public:
  Profiler(const replay::Run& run, const replay::WaitGraph& graph, const Profiles& profiles)
      : run_(run), graph_(graph), profiles_(profiles), row_of_(run.callpaths.size(), SIZE_MAX) {}

  CriticalProfile profile(const std::vector<PathSegment>& path) {
    sum_path(path);
    sum_activity();
    for (LocationId id : run_.locations) share_waiting(id);
    return std::move(result_);
  }

 private:
  void sum_path(const std::vector<PathSegment>& path) {
    std::map<std::pair<LocationId, CallPathId>, Duration> by_location;
    for (const PathSegment& segment : path) {
      const Duration time = segment.end - segment.begin;
      by_location[{segment.location, segment.path}] += time;
      size_t& row = row_of_[segment.path.index()];
      if (row == SIZE_MAX) {
        row = result_.callpaths.size();
        result_.callpaths.push_back({segment.path, Duration::zero(), Duration::zero()});
      }
      result_.callpaths[row].on_path += time;
    }
    for (const auto& [key, time] : by_location) {
      result_.places.push_back({key.first, key.second, time});
    }
  }

  void sum_activity() {
    size_t masters = 0;
    for (LocationId id : run_.locations) {
      masters += run_.is_master(id);
      for (const PathTime& entry : profiles_[id.index()]) {
        const size_t row = row_of_[entry.path.index()];
        if (row != SIZE_MAX) result_.callpaths[row].activity += entry.time;
      }
    }
    const std::vector<bool> parallel = inside_parallel(run_);
    for (CriticalCallPath& row : result_.callpaths) {
      const size_t locations = parallel[row.path.index()] ? run_.locations.size() : masters;
      const double average =
          row.activity.seconds() / static_cast<double>(std::max<size_t>(locations, 1));
      row.imbalance_s = std::max(row.on_path.seconds() - average, 0.0);
    }
  }

  /// The waiting of one location goes to the call paths that take more time on the critical path
  /// than they take here.
  void share_waiting(LocationId id) {
    Duration waiting;
    for (const replay::Wait& wait : graph_.waits[id.index()]) waiting += wait.amount;
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

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
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
        times[id.index()].sum(run.begin, run.end, sums);
        for (CallPathId path : sums.paths()) profiles[id.index()].push_back({path, sums[path]});
        std::sort(profiles[id.index()].begin(), profiles[id.index()].end(),
                  [](const PathTime& a, const PathTime& b) { return a.path < b.path; });
      });
  return profiles;
}

CriticalProfile profile_critical_path(const replay::Run& run, const replay::WaitGraph& graph,
                                      const std::vector<PathSegment>& path,
                                      const Profiles& profiles) {
  return Profiler(run, graph, profiles).profile(path);
}

}  // namespace culprit::blame
