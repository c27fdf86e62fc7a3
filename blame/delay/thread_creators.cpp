// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Creation times follow from the waits before threads' begins, on all ranks; one location may have
// had several threads, so they are kept in order of time.
#include "blame/delay/thread_creators.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/ranks/exchange.h"

namespace culprit::blame {

namespace {

/// A thread's creation in the form that ranks exchange.
struct Creation {
  LocationId thread, creator;
  Time since, when;
};

}  // namespace

ThreadCreators::ThreadCreators(const replay::Run& run, const replay::WaitGraph& graph) : run_(run) {
  std::vector<Creation> own;
  for (LocationId id : run.locations) {
    for (const replay::Wait& wait : graph.waits[id.index()]) {
      if (!replay::is_before_begin(wait.pattern)) continue;
      own.push_back({id, wait.cause, wait.begin, wait.end});
    }
  }
  for (const Creation& told : concatenate(*run.ranks, own)) {
    made_[told.thread].push_back({told.since, told.when, told.creator});
  }
}

Time ThreadCreators::creation(LocationId id, Time time) const {
  Time last = run_.births[id.index()];
  const auto made = made_.find(id);
  if (made != made_.end()) {
    // The creation time of the first thread is more precise than its first event.
    if (made->second.front().when <= last) last = made->second.front().when;
    const auto next = std::upper_bound(made->second.begin(), made->second.end(), time,
                                       [](Time t, const Made& one) { return t < one.when; });
    if (next != made->second.begin()) last = std::max(last, std::prev(next)->when);
  }
  return last <= time ? last : Time::min();
}

const ThreadCreators::Made* ThreadCreators::not_yet_created(LocationId id, Time time) const {
  const auto made = made_.find(id);
  if (made == made_.end()) return nullptr;
  const auto next = std::upper_bound(made->second.begin(), made->second.end(), time,
                                     [](Time t, const Made& one) { return t < one.when; });
  return next != made->second.end() && next->since <= time ? &*next : nullptr;
}

}  // namespace culprit::blame
