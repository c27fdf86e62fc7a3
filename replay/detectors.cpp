// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs the detectors, then turns what they found into a WaitGraph: of overlapping candidates the
// latest wins, syncs are sorted, and waits are carved out of the activities.
#include "replay/detection.h"

#include <algorithm>
#include <tuple>

#include "base/parallel.h"

namespace culprit::replay {

namespace {

/// All detectors. A new one is one line here.
constexpr void (*kDetectors[])(Run&, unsigned, Detection&) = {
    detect_point_to_point,   //
    detect_collectives,      //
    detect_mutexes,          //
    detect_openmp_barriers,  //
    detect_idle_threads,     //
    detect_early_end,        //
};

/// Candidates of the same call begin together: keep the one that lasted longest. Candidates of
/// different calls do not overlap in a proper trace; where they do, the later begin yields.
void choose_waits(std::vector<Wait>& waits) {
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    return std::tie(a.begin, b.end, a.cause, a.pattern) <
           std::tie(b.begin, a.end, b.cause, b.pattern);
  });
  std::vector<Wait> chosen;
  for (const Wait& wait : waits) {
    if (!chosen.empty() && wait.begin < chosen.back().end) continue;
    chosen.push_back(wait);
  }
  waits = std::move(chosen);
}

/// What is left of a pool thread's idleness once its waits for forks are known: its master has
/// forked, and it has not begun yet.
void tell_waking_from_idle(const Run& run, Timeline& line) {
  for (Activity& activity : line.activities) {
    if (activity.path == run.idle && !activity.wait.valid()) activity.path = run.waking;
  }
}

/// Splits activities where waits begin and end, and gives those within a wait, at the wait's own
/// call path, its number. Waits that turn out to last no time are dropped.
class Carver {
 public:
  Carver(Timeline& line, std::vector<Wait>& waits, Time end)
      : line_(line), waits_(waits), end_(end) {}

  void carve() {
    if (waits_.empty()) return;
    measure();
    std::erase_if(waits_, [](const Wait& wait) { return wait.amount == Duration::zero(); });
    std::vector<Activity> pieces;
    pieces.reserve(line_.activities.size() + 2 * waits_.size());
    size_t next = 0;
    for (size_t i = 0; i < line_.activities.size(); ++i) {
      split(line_.activities[i], end_of(i), next, pieces);
    }
    line_.activities = std::move(pieces);
  }

 private:
  Time end_of(size_t i) const {
    return i + 1 < line_.activities.size() ? line_.activities[i + 1].begin : end_;
  }

  void measure() {
    size_t first = 0;
    for (Wait& wait : waits_) {
      wait.amount = Duration::zero();
      while (end_of(first) <= wait.begin && first + 1 < line_.activities.size()) ++first;
      for (size_t i = first; i < line_.activities.size(); ++i) {
        const Activity& activity = line_.activities[i];
        if (activity.begin >= wait.end) break;
        if (activity.path != wait.path) continue;
        const Duration overlap =
            std::min(end_of(i), wait.end) - std::max(activity.begin, wait.begin);
        if (overlap > Duration::zero()) wait.amount += overlap;
      }
    }
  }

  void split(const Activity& activity, Time end, size_t& next, std::vector<Activity>& pieces) {
    Time at = activity.begin;
    while (next < waits_.size() && waits_[next].end <= at) ++next;
    for (size_t w = next; at < end; ++w) {
      while (w < waits_.size() && waits_[w].path != activity.path && waits_[w].begin < end) ++w;
      if (w >= waits_.size() || waits_[w].begin >= end) {
        pieces.push_back({at, activity.path, WaitIndex::none()});
        return;
      }
      if (waits_[w].begin > at) {
        pieces.push_back({at, activity.path, WaitIndex::none()});
        at = waits_[w].begin;
      }
      pieces.push_back({at, activity.path, WaitIndex(w)});
      at = std::min(end, waits_[w].end);
    }
  }

  Timeline& line_;
  std::vector<Wait>& waits_;
  Time end_;
};

}  // namespace

void Findings::wait(Pattern pattern, CallPathId path, Time begin, Time leave, Time until,
                    LocationId cause, Time cause_time) {
  if (until <= begin) return;
  if (until > leave) ++clock_violations;
  const Time end = std::min(until, leave);
  if (end <= begin) return;
  waits.push_back({begin, end, end - begin, path, cause, cause_time, pattern});
}

GroupId Detection::group_of(const std::vector<LocationId>& members) {
  const auto [it, fresh] = group_ids_.try_emplace(members, GroupId(groups.size()));
  if (fresh) groups.push_back({members, {}});
  return it->second;
}

uint32_t Detection::add_instance(GroupId group, std::vector<Time> exits) {
  std::vector<std::vector<Time>>& instances = groups[group.index()].exits;
  instances.push_back(std::move(exits));
  return static_cast<uint32_t>(instances.size() - 1);
}

WaitGraph detect_waits(Run& run, unsigned threads) {
  Detection detection(run);
  for (const auto& detect : kDetectors) detect(run, threads, detection);
  WaitGraph graph;
  graph.waits.resize(run.timelines.size());
  graph.syncs.resize(run.timelines.size());
  graph.lock_waits.resize(run.timelines.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    Findings& found = detection.at(id);
    std::stable_sort(found.syncs.begin(), found.syncs.end(),
                     [](const Sync& a, const Sync& b) { return a.enter < b.enter; });
    choose_waits(found.waits);
    Carver(run.at(id), found.waits, run.end).carve();
    tell_waking_from_idle(run, run.at(id));
    graph.waits[id.index()] = std::move(found.waits);
    graph.syncs[id.index()] = std::move(found.syncs);
    graph.lock_waits[id.index()] = std::move(found.lock_waits);
  });
  uint64_t violations = 0;
  for (const Findings& found : detection.by_location) violations += found.clock_violations;
  detection.losses.add("clock_violations", Severity::warning,
                       "operations that ended before the event they waited for, by the clocks: the "
                       "nodes' clocks disagree, waits there are cut short",
                       violations);
  run.losses.merge(detection.losses);
  graph.groups = std::move(detection.groups);
  return graph;
}

}  // namespace culprit::replay
