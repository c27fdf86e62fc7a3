// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// For each wait for somebody who did not live yet when it began: since when the waiter and the
// maker knew each other. The earliest of these moments is where the thread's time before its birth
// begins to count.
#include "blame/delay/makers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "blame/delay/intervals.h"
#include "replay/ranks/exchange.h"

namespace culprit::blame {

namespace {

/// One location's thread, as its rank tells of it.
struct ToldMade {
  LocationId thread, maker;
  Time since, when;
};

struct Since {
  LocationId thread;
  Time made, time;
};

}  // namespace

Makers::Makers(const replay::Run& run, const replay::WaitGraph& graph) : run_(run) {
  std::vector<ToldMade> own;
  for (LocationId id : run.locations) {
    for (const replay::Wait& wait : graph.waits[id.index()]) {
      if (!replay::is_before_begin(wait.pattern)) continue;
      own.push_back({id, wait.cause, wait.begin, wait.end});
    }
  }
  for (const ToldMade& told : replay::concatenate(*run.ranks, own)) {
    made_[told.thread].push_back({told.since, told.when, told.maker});
  }
}

Time Makers::birth(LocationId id, Time time) const {
  Time last = run_.births[id.index()];
  const auto made = made_.find(id);
  if (made != made_.end()) {
    // Of the first thread it is known better than by its first event.
    if (made->second.front().when <= last) last = made->second.front().when;
    const auto next = std::upper_bound(made->second.begin(), made->second.end(), time,
                                       [](Time t, const Made& one) { return t < one.when; });
    if (next != made->second.begin()) last = std::max(last, std::prev(next)->when);
  }
  return last <= time ? last : Time::min();
}

const Makers::Made* Makers::unborn(LocationId id, Time time) const {
  const auto made = made_.find(id);
  if (made == made_.end()) return nullptr;
  const auto next = std::upper_bound(made->second.begin(), made->second.end(), time,
                                     [](Time t, const Made& one) { return t < one.when; });
  return next != made->second.end() && next->since <= time ? &*next : nullptr;
}

void settle_thread_begins(const replay::Run& run, replay::WaitGraph& graph, unsigned threads) {
  const Makers makers(run, graph);
  if (makers.empty()) return;
  const Intervals intervals(run, graph, threads);
  std::vector<Since> own;
  for (LocationId id : run.locations) {
    const auto& waits = graph.waits[id.index()];
    for (uint32_t w = 0; w < waits.size(); ++w) {
      if (replay::is_before_begin(waits[w].pattern)) continue;
      const Time since = intervals.begin({id, w});
      makers.for_each_unborn(waits[w].cause, waits[w].begin, [&](LocationId unborn, Time made) {
        own.push_back({unborn, made, since});
      });
    }
  }
  std::map<std::pair<LocationId, Time>, Time> first;  // by thread: its location, when it was made
  for (const Since& since : replay::concatenate(*run.ranks, own)) {
    Time& time = first.try_emplace({since.thread, since.made}, Time::max()).first->second;
    time = std::min(time, since.time);
  }
  for (LocationId id : run.locations) {
    for (replay::Wait& wait : graph.waits[id.index()]) {
      if (!replay::is_before_begin(wait.pattern)) continue;
      const auto since = first.find({id, wait.end});
      if (since == first.end() || since->second >= wait.end) continue;
      wait.begin = std::max(wait.begin, since->second);
      wait.amount = wait.end - wait.begin;
    }
  }
}

}  // namespace culprit::blame
