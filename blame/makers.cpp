// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/makers.h"

#include <algorithm>
#include <vector>

#include "blame/intervals.h"
#include "replay/exchange.h"

namespace culprit::blame {

namespace {

struct ToldMade {
  LocationId thread, maker;
  Time when;
};

struct Since {
  LocationId thread;
  Time time;
};

}  // namespace

Makers::Makers(const replay::Run& run, const replay::WaitGraph& graph) : run_(run) {
  std::vector<ToldMade> own;
  for (LocationId id : run.locations) {
    for (const replay::Wait& wait : graph.waits[id.index()]) {
      if (replay::is_before_begin(wait.pattern)) own.push_back({id, wait.cause, wait.end});
    }
  }
  for (const ToldMade& told : replay::concatenate(*run.ranks, own)) {
    made_.emplace(told.thread, Made{told.maker, told.when});
  }
}

Time Makers::birth(LocationId id) const {
  const auto made = made_.find(id);
  return made != made_.end() ? made->second.when : run_.births[id.index()];
}

/// Nobody is made by a thread that began later, so this ends.
LocationId Makers::holder(LocationId id, Time time) const {
  while (birth(id) > time) {
    const auto made = made_.find(id);
    if (made == made_.end() || birth(made->second.maker) >= birth(id)) return id;
    id = made->second.maker;
  }
  return id;
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
      makers.for_each_unborn(waits[w].cause, waits[w].begin,
                             [&](LocationId unborn) { own.push_back({unborn, since}); });
    }
  }
  std::vector<Time> first(run.timelines.size(), Time::max());
  for (const Since& since : replay::concatenate(*run.ranks, own)) {
    Time& time = first[since.thread.index()];
    time = std::min(time, since.time);
  }
  for (LocationId id : run.locations) {
    for (replay::Wait& wait : graph.waits[id.index()]) {
      if (!replay::is_before_begin(wait.pattern) || first[id.index()] >= wait.end) continue;
      wait.begin = std::max(wait.begin, first[id.index()]);
      wait.amount = wait.end - wait.begin;
    }
  }
}

}  // namespace culprit::blame
