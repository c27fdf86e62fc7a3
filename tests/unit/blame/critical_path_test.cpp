// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The critical path against its definition: one walk over activities and waits, step by step.
#include "blame/critical_path/critical_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/blame/random_trace.h"

namespace culprit {
namespace {

using blame::PathSegment;
using replay::Activities;
using replay::Wait;
using testing_support::RandomTrace;

class Oracle {
 public:
  Oracle(const replay::Run& run, const replay::WaitGraph& graph) : run_(run), graph_(graph) {}

  std::vector<PathSegment> back() {
    go_to(run_.last_to_end(), run_.end);
    size_t hops = 0;
    while (now_ > run_.begin) {
      const Activities& life = run_.at(here_).activities;
      while (at_ > 0 && life.begin(at_) >= now_) --at_;
      const Wait* wait = last_wait(life.path(at_), life.begin(at_), now_);
      const replay::Handover* handover = last_handover();
      const bool handed_over =
          handover != nullptr && handover->time == now_ && (wait == nullptr || wait->end < now_);
      if (handed_over && hops++ < run_.locations.size()) {
        go_to(handover->from, now_);
        continue;
      }
      if (handed_over) {
        now_ = now_ - Duration::from_nanos(1);  // a circle: beyond it
        add(life.path(at_), now_, now_ + Duration::from_nanos(1));
        hops = 0;
        continue;
      }
      if (wait != nullptr && wait->end >= now_ && hops++ < run_.locations.size()) {
        go_to(wait->cause, now_);
        continue;
      }
      hops = 0;
      Time begin = life.begin(at_);
      if (wait != nullptr) begin = std::max(begin, wait->end >= now_ ? wait->begin : wait->end);
      if (handover != nullptr && (wait == nullptr || wait->end < now_)) {
        begin = std::max(begin, handover->time);
      }
      add(life.path(at_), begin, now_);
      now_ = begin;
    }
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  /// The last wait here that begins before `now`, at `path` and not over at `since`.
  const Wait* last_wait(CallPathId path, Time since, Time now) const {
    const Column<Wait>& waits = graph_.waits[here_.index()];
    for (const Wait* wait = waits.end(); wait != waits.begin();) {
      --wait;
      if (wait->begin >= now) continue;
      if (!replay::counts_as_waiting(wait->pattern)) continue;  // polling: a handover at its end
      if (wait->end <= since) return nullptr;
      if (wait->path == path) return wait;
    }
    return nullptr;
  }

  /// The last handover here that is not later than now, but for those at which a wait ends or that
  /// lie in one.
  const replay::Handover* last_handover() const {
    const Column<replay::Handover>& handovers = graph_.handovers[here_.index()];
    const Activities& life = run_.at(here_).activities;
    for (const replay::Handover* last = handovers.end(); last != handovers.begin();) {
      --last;
      if (last->time > now_) continue;
      const size_t at = life.before(last->time);
      const Wait* wait = last_wait(life.path(at), life.begin(at), last->time);
      if (wait == nullptr || wait->end < last->time) return last;
    }
    return nullptr;
  }

  void go_to(LocationId location, Time time) {
    here_ = location;
    now_ = time;
    at_ = run_.at(location).activities.before(time);
  }

  void add(CallPathId path, Time begin, Time end) {
    if (!path_.empty() && path_.back().location == here_ && path_.back().path == path) {
      path_.back().begin = begin;
      return;
    }
    path_.push_back({here_, path, begin, end});
  }

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  std::vector<PathSegment> path_;  // latest first
  LocationId here_;
  Time now_;
  size_t at_ = 0;
};

/// Its profile, too, is that of its segments.
void expect_places(const blame::CriticalPath& path, uint32_t seed) {
  std::map<std::pair<LocationId, CallPathId>, Duration> places;
  for (const PathSegment& s : path.segments) places[{s.location, s.path}] += s.end - s.begin;
  ASSERT_EQ(path.places.size(), places.size()) << "seed " << seed;
  size_t i = 0;
  for (const auto& [key, time] : places) {
    const blame::CriticalPlace& place = path.places[i++];
    EXPECT_TRUE(place.location == key.first && place.path == key.second && place.on_path == time)
        << "seed " << seed;
  }
}

TEST(CriticalPath, IsTheWalkFromWaitToCause) {
  size_t segments = 0, hops = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    RandomTrace trace = RandomTrace::make(seed, {.no_ties = seed % 5 == 0});
    if (seed % 3 == 1) trace.make_chaotic(seed);  // then there are circles
    if (seed % 3 == 2) trace.make_skewed(seed, true);
    Alone alone;
    replay::Run run = std::move(replay::read_run(trace, alone, 1)).value();
    const replay::WaitGraph graph = replay::detect_waits(run, 1);
    const std::vector<PathSegment> expected = Oracle(run, graph).back();
    const blame::CriticalPath path = blame::find_critical_path(run, graph, 1 + seed % 3);
    ASSERT_EQ(path.segments.size(), expected.size()) << "seed " << seed;
    for (size_t i = 0; i < expected.size(); ++i) {
      const PathSegment &a = path.segments[i], &b = expected[i];
      ASSERT_TRUE(a.location == b.location && a.path == b.path && a.begin == b.begin &&
                  a.end == b.end)
          << "seed " << seed << " segment " << i;
      hops += i > 0 && expected[i].location != expected[i - 1].location;
    }
    expect_places(path, seed);
    segments += expected.size();
  }
  EXPECT_GT(segments, 50'000u);
  EXPECT_GT(hops, 5'000u);
}

}  // namespace
}  // namespace culprit
