// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/critical_path.h"

#include <algorithm>

namespace culprit::blame {

namespace {

using replay::Activity;

class Walk {
 public:
  Walk(const replay::Run& run, const replay::WaitGraph& graph) : run_(run), graph_(graph) {}

  std::vector<PathSegment> back() {
    go_to(run_.last_to_end(), run_.end);
    size_t hops = 0;
    while (now_ > run_.begin) {
      const Activity& activity = run_.at(here_).activities[at_];
      // Clocks that lie can make locations wait for each other in a circle: then stay.
      if (activity.wait.valid() && hops++ < run_.locations.size()) {
        go_to(graph_.waits[here_.index()][activity.wait.index()].cause, now_);
        continue;
      }
      hops = 0;
      add(activity);
      now_ = activity.begin;
      if (at_ > 0) --at_;
    }
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  /// Stands at the activity of `location` that lasts up to `time`.
  void go_to(LocationId location, Time time) {
    const std::vector<Activity>& all = run_.at(location).activities;
    const auto after = std::lower_bound(all.begin(), all.end(), time,
                                        [](const Activity& a, Time t) { return a.begin < t; });
    here_ = location;
    now_ = time;
    at_ = static_cast<size_t>(after - all.begin()) - 1;
  }

  void add(const Activity& activity) {
    if (!path_.empty() && path_.back().location == here_ && path_.back().path == activity.path &&
        path_.back().begin == now_) {
      path_.back().begin = activity.begin;
      return;
    }
    path_.push_back({here_, activity.path, activity.begin, now_});
  }

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  std::vector<PathSegment> path_;  // latest first
  LocationId here_;
  Time now_;
  size_t at_ = 0;
};

}  // namespace

std::vector<PathSegment> find_critical_path(const replay::Run& run,
                                            const replay::WaitGraph& graph) {
  return Walk(run, graph).back();
}

}  // namespace culprit::blame
