// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See verify.h. Each check is a loop over one structure; Broken keeps the first place of each kind
// of violation and counts the others, so that a thorough fault does not make thousands of
// sentences.
#include "blame/verify.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

namespace culprit::blame {
namespace {

using replay::Run;
using replay::WaitGraph;

class Broken {
 public:
  void add(const std::string& promise, LocationId at, Time time) {
    auto& [place, count] = promises_[promise];
    if (count++ == 0) place = fmt::format("location {} at {:.9f} s", at.index(), seconds(time));
  }
  std::vector<std::string> sentences(std::string_view pass) const {
    std::vector<std::string> sentences;
    for (const auto& [promise, broken] : promises_) {
      sentences.push_back(fmt::format("After the pass '{}', {} ({} times, first: {}).", pass,
                                      promise, broken.second, broken.first));
    }
    return sentences;
  }

 private:
  static double seconds(Time time) { return (time - Time()).seconds(); }
  std::map<std::string, std::pair<std::string, size_t>> promises_;
};

bool is_location(const Run& run, LocationId id) {
  return id.valid() && id.index() < run.timelines.size();
}

void check_wait(const Run& run, LocationId id, const replay::Wait& wait, Broken& broken) {
  if (wait.begin < run.begin || wait.end > run.end) {
    broken.add("a wait lies outside of the run", id, wait.begin);
  }
  if (wait.end <= wait.begin) broken.add("a wait ends before it begins", id, wait.begin);
  if (wait.amount <= Duration::zero() || wait.amount > wait.end - wait.begin) {
    broken.add("a wait is no time, or longer than it lasts", id, wait.begin);
  }
  if (wait.cause == id) broken.add("a location waits for itself", id, wait.begin);
  if (!is_location(run, wait.cause)) broken.add("a wait is for nobody", id, wait.begin);
  const replay::Activities& life = run.at(id).activities;
  const bool placed = wait.activity < life.size() && life.begin(wait.activity) <= wait.begin &&
                      wait.begin < life.end(wait.activity);
  if (!placed) broken.add("a wait is not in the activity that it names", id, wait.begin);
}

void check_sync(const Run& run, const WaitGraph& graph, LocationId id, const replay::Sync& sync,
                Broken& broken) {
  const bool known = sync.of_group() ? sync.group().index() < graph.groups.size()
                                     : is_location(run, sync.partner());
  if (!known) broken.add("a synchronization point is with nobody", id, sync.moment());
}

}  // namespace

std::vector<std::string> verify_timelines(const Run& run) {
  Broken broken;
  for (const LocationId id : run.locations) {
    const replay::Activities& life = run.at(id).activities;
    if (life.empty()) broken.add("a location has no activity", id, run.begin);
    for (size_t i = 0; i < life.size(); ++i) {
      if (life.end(i) < life.begin(i)) {
        broken.add("an activity ends before it begins", id, life.begin(i));
      }
      if (!life.path(i).valid() || life.path(i).index() >= run.callpaths.size()) {
        broken.add("an activity is at no call path", id, life.begin(i));
      }
    }
    if (life.empty()) continue;
    if (life.begin(0) != run.begin || life.end(life.size() - 1) != run.end) {
      broken.add("activities do not fill the run", id, life.begin(0));
    }
  }
  return broken.sentences("read");
}

std::vector<std::string> verify_waits(const Run& run, const WaitGraph& graph) {
  Broken broken;
  for (const LocationId id : run.locations) {
    const auto& waits = graph.waits[id.index()];
    for (size_t i = 0; i < waits.size(); ++i) {
      check_wait(run, id, waits[i], broken);
      if (i > 0 && waits[i].begin < waits[i - 1].end) {
        broken.add("waits of a location overlap", id, waits[i].begin);
      }
    }
    const auto& syncs = graph.syncs[id.index()];
    for (size_t i = 0; i < syncs.size(); ++i) {
      check_sync(run, graph, id, syncs[i], broken);
      if (i > 0 && syncs[i].moment() < syncs[i - 1].moment()) {
        broken.add("synchronization points are not in order", id, syncs[i].moment());
      }
    }
  }
  return broken.sentences("detect waits");
}

std::vector<std::string> verify_delays(const Run& run, const DelayAnalysis& delays) {
  Broken broken;
  for (const DelayCost& cost : delays.costs) {
    if (cost.short_s < 0 || cost.long_s < 0 || !std::isfinite(cost.short_s + cost.long_s)) {
      broken.add("a delay costs less than nothing", cost.location, run.begin);
    }
    if (!run.owns(cost.location)) {
      broken.add("a delay is on another rank's location", cost.location, run.begin);
    }
  }
  for (const UnattributedCost& cost : delays.unattributed) {
    if (cost.time_s < 0) broken.add("less than nothing is unattributed", LocationId(0), run.begin);
  }
  return broken.sentences("delays");
}

std::vector<std::string> verify_path(const Run& run, const CriticalPath& path) {
  Broken broken;
  Time at = run.begin;
  for (const PathSegment& segment : path.segments) {
    if (segment.begin != at) broken.add("the critical path has a gap", segment.location, at);
    if (segment.end < segment.begin) {
      broken.add("the critical path goes back in time", segment.location, segment.begin);
    }
    if (!is_location(run, segment.location)) {
      broken.add("the critical path is nowhere", segment.location, segment.begin);
    }
    at = segment.end;
  }
  if (run.ranks->rank() == 0 && at != run.end) {
    broken.add("the critical path does not reach the run's end", run.last, at);
  }
  return broken.sentences("critical path");
}

}  // namespace culprit::blame
