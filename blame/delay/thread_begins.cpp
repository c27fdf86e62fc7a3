// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// For each wait for a thread that had not started yet, finds the last synchronisation of the waiter
// and the thread's creator. The earliest of these moments is where the thread's time before its
// start begins to count.
#include "blame/delay/thread_begins.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/ranks/exchange.h"
#include "blame/delay/intervals.h"
#include "blame/delay/thread_creators.h"

namespace culprit::blame {

namespace {

struct Since {
  LocationId thread;
  Time made, time;
};

}  // namespace

void settle_thread_begins(const replay::Run& run, replay::WaitGraph& graph, unsigned threads) {
  const ThreadCreators creators(run, graph);
  if (creators.empty()) return;
  const Intervals intervals(run, graph, threads);
  std::vector<Since> own;
  for (LocationId id : run.locations) {
    const auto& waits = graph.waits[id.index()];
    for (uint32_t w = 0; w < waits.size(); ++w) {
      if (replay::is_before_begin(waits[w].pattern)) continue;
      const Time since = intervals.begin({id, w});
      creators.for_each_not_created(waits[w].cause, waits[w].begin,
                                    [&](LocationId not_yet_created, Time made) {
                                      own.push_back({not_yet_created, made, since});
                                    });
    }
  }
  std::map<std::pair<LocationId, Time>, Time> first;  // by thread: its location, when it was made
  for (const Since& since : concatenate(*run.ranks, own)) {
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
