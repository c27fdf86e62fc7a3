// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Properties of the whole run: its begin and end, and the creation times of threads.
#include "replay/model/run.h"

#include <algorithm>

#include "base/ranks/exchange.h"

namespace culprit::replay {

namespace {

/// The span of some locations.
struct Span {
  Time begin = Time::max(), end = Time::min();
  uint32_t rank = 0, thread = 0;  ///< of the last to end
  LocationId last;

  void add(const Span& o) {
    begin = std::min(begin, o.begin);
    if (ends_before(o)) end = o.end, rank = o.rank, thread = o.thread, last = o.last;
  }
  bool ends_before(const Span& o) const {
    if (!last.valid() || !o.last.valid()) return o.last.valid();
    if (end != o.end) return end < o.end;
    if (rank != o.rank) return rank < o.rank;
    return thread != o.thread ? thread > o.thread : last > o.last;
  }
};

Span span_of(const Run& run) {
  Span own;
  for (LocationId id : run.locations) {
    const trace::Location& location = run.location(id);
    const uint32_t rank = run.definitions->processes[location.process.index()].rank;
    own.add({run.at(id).first, run.at(id).last, rank, location.thread, id});
  }
  return reduce(*run.ranks, own, [](Span a, const Span& b) { return a.add(b), a; });
}

}  // namespace

void settle_span(Run& run) {
  const Span all = span_of(run);
  run.begin = all.begin;
  run.end = all.end;
  run.last = all.last;
}

void settle_last(Run& run) {
  run.last = span_of(run).last;
}

void count_absence(Run& run, LocationId id) {
  Timeline& line = run.at(id);
  const Activities& life = line.activities;
  line.absent = Duration::zero();
  for (size_t i = 0; line.own_thread && i < life.size(); ++i) {
    const Time begin = std::max(life.begin(i), line.first);
    const Time end = std::min(life.end(i), line.last);
    if (begin < end && run.between(id, life.path(i))) line.absent += end - begin;
  }
}

void settle_births(Run& run) {
  struct Birth {
    LocationId location;
    Time time;
  };
  std::vector<Birth> own;
  for (LocationId id : run.locations) {
    if (run.at(id).own_thread && !run.is_stream(id)) own.push_back({id, run.at(id).first});
  }
  run.births.assign(run.timelines.size(), Time::min());
  for (const Birth& birth : concatenate(*run.ranks, own)) {
    run.births[birth.location.index()] = birth.time;
  }
}

}  // namespace culprit::replay
