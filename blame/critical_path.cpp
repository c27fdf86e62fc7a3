// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/critical_path.h"

#include <algorithm>

namespace culprit::blame {

namespace {

using replay::Activities;
using replay::Wait;

class Walk {
 public:
  Walk(const replay::Run& run, const replay::WaitGraph& graph) : run_(run), graph_(graph) {}

  std::vector<PathSegment> back() {
    go_to(run_.last_to_end(), run_.end);
    size_t hops = 0;
    while (now_ > run_.begin) {
      const Activities& life = run_.at(here_).activities;
      while (at_ > 0 && life.begin(at_) >= now_) --at_;
      const Wait* wait = last_wait(life.path(at_), life.begin(at_));
      // Clocks that lie can make locations wait for each other in a circle: then stay.
      if (wait != nullptr && wait->end >= now_ && hops++ < run_.locations.size()) {
        go_to(wait->cause, now_);
        continue;
      }
      hops = 0;
      Time begin = life.begin(at_);
      if (wait != nullptr) begin = std::max(begin, wait->end >= now_ ? wait->begin : wait->end);
      add(life.path(at_), begin);
      now_ = begin;
    }
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  /// The last wait here that begins before now, at `path` and not over at `since`.
  const Wait* last_wait(CallPathId path, Time since) const {
    const Column<Wait>& waits = graph_.waits[here_.index()];
    const Wait* wait = std::lower_bound(waits.begin(), waits.end(), now_,
                                        [](const Wait& w, Time t) { return w.begin < t; });
    while (wait != waits.begin()) {
      --wait;
      if (wait->end <= since) return nullptr;
      if (wait->path == path) return wait;
    }
    return nullptr;
  }

  /// Stands at the activity of `location` that lasts up to `time`.
  void go_to(LocationId location, Time time) {
    here_ = location;
    now_ = time;
    at_ = run_.at(location).activities.before(time);
  }

  void add(CallPathId path, Time begin) {
    if (!path_.empty() && path_.back().location == here_ && path_.back().path == path &&
        path_.back().begin == now_) {
      path_.back().begin = begin;
      return;
    }
    path_.push_back({here_, path, begin, now_});
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
