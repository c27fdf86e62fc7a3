// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Visits the waits and the synchronisation points of each waiter together, in order of time.
#include "blame/delay/intervals.h"

#include <algorithm>

#include "base/parallel.h"
#include "blame/delay/last_syncs.h"
#include "blame/delay/thread_creators.h"

namespace culprit::blame {

namespace {

/// Returns the begin of each wait's interval. A synchronisation at the moment at which a wait
/// begins counts as before it. The interval does not reach back before the begin of the younger
/// thread, since there is nothing to compare with.
Column<Time> find_begins(const replay::Run& run, LocationId waiter,
                         const Column<replay::Wait>& waits, const Column<replay::Wait>& ties,
                         const Column<replay::Sync>& syncs, const ThreadCreators& creators,
                         LastSyncs& last_syncs) {
  Column<Time> begins, of_ties;
  begins.reserve(waits.size() + ties.size());
  last_syncs.start();
  size_t next = 0, tie = 0;
  const auto begin_of = [&](const replay::Wait& wait) {
    const LocationId cause = creators.creator_at(wait.cause, wait.begin);
    return std::max({run.begin, last_syncs.last(cause), creators.creation(waiter, wait.begin),
                     creators.creation(cause, wait.begin)});
  };
  for (const replay::Wait& wait : waits) {
    for (; next < syncs.size() && syncs[next].moment() <= wait.begin; ++next) {
      last_syncs.add(syncs[next]);
    }
    const bool before = replay::is_before_begin(wait.pattern);
    begins.push_back(before ? wait.begin : begin_of(wait));
    while (tie < ties.size() && ties[tie].begin == wait.begin) {
      of_ties.push_back(begin_of(ties[tie++]));
    }
  }
  for (const Time begin : of_ties) begins.push_back(begin);
  return begins;
}

}  // namespace

Intervals::Intervals(const replay::Run& run, const replay::WaitGraph& graph, unsigned threads)
    : begins_(run.timelines.size()) {
  const ThreadCreators creators(run, graph);
  parallel_for(
      run.locations.size(), threads, [&] { return LastSyncs(graph.groups); },
      [&](size_t i, LastSyncs& last_syncs) {
        const LocationId id = run.locations[i];
        const size_t at = id.index();
        begins_[at] = find_begins(run, id, graph.waits[at], graph.ties[at], graph.syncs[at],
                                  creators, last_syncs);
      });
}

}  // namespace culprit::blame
