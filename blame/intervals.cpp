// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/intervals.h"

#include <algorithm>

#include "base/parallel.h"
#include "blame/meetings.h"

namespace culprit::blame {

namespace {

/// Of each wait. What happens at the moment in which a wait begins comes before it.
Column<Time> find_begins(const Column<replay::Wait>& waits, const Column<replay::Sync>& syncs,
                         Time run_begin, Meetings& meetings) {
  Column<Time> begins;
  begins.reserve(waits.size());
  meetings.start();
  size_t next = 0;
  for (const replay::Wait& wait : waits) {
    for (; next < syncs.size() && syncs[next].moment() <= wait.begin; ++next) {
      meetings.add(syncs[next]);
    }
    begins.push_back(std::max(run_begin, meetings.last(wait.cause)));
  }
  return begins;
}

}  // namespace

Intervals::Intervals(const replay::Run& run, const replay::WaitGraph& graph, unsigned threads)
    : begins_(run.timelines.size()) {
  parallel_for(
      run.locations.size(), threads, [&] { return Meetings(graph.groups); },
      [&](size_t i, Meetings& meetings) {
        const size_t id = run.locations[i].index();
        begins_[id] = find_begins(graph.waits[id], graph.syncs[id], run.begin, meetings);
      });
}

}  // namespace culprit::blame
