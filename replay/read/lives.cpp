// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A location's activities begin and end with the run. The time before its first event and after its
// last depends on the kind of location: a pool's thread is idle while its process lives, a thread
// that the program created does not exist then.
#include "replay/read/lives.h"

#include <algorithm>

#include "base/parallel.h"
#include "replay/read/device_busy.h"
#include "replay/read/helpers.h"
#include "trace/objects.h"

namespace culprit::replay {

namespace {

/// Where a location of the program's own threads is while it is nowhere. In archives of our own
/// each thread is in the function that it runs from its begin to its end, and a location may have
/// several, one after the other.
CallPathId between_threads(const Run& run) {
  const bool ours = run.definitions->creator.starts_with(trace::kOwnCreator);
  return ours ? run.not_started : run.outside;
}

/// Such a process lives from its fork to its end, as a thread that the program made.
bool is_forked(const Timeline& line) {
  const Column<ObjectMoment>& begun = line.threads.begun;
  return std::any_of(begun.begin(), begun.end(), [](const ObjectMoment& moment) {
    return trace::kind_of(moment.object) == trace::ObjectKind::fork;
  });
}

void fill_stream(Run& run, LocationId id) {
  build_stream_life(run, id, {}, {});
  std::vector<uint64_t>& visits = run.visits[id.index()];
  visits.resize(run.callpaths.size());
  for (const DeviceOperation& operation : run.at(id).device.operations) {
    ++visits[operation.path.index()];
  }
}

void append(Activities& life, Time begin, CallPathId path) {
  if (life.begins().back() == begin) {
    life.paths().back() = path;
  } else {
    life.push_back(begin, path);
  }
}

/// Changes a location's call paths from those of its own tree to those of the run's.
void renumber(Run& run, const std::vector<CallPathId>& map, LocationId id, CallPathId nowhere) {
  Timeline& line = run.at(id);
  const auto renew = [&](CallPathId& path) {
    if (path.valid()) path = map[path.index()];
  };
  for (CallPathId& path : line.activities.paths()) {
    renew(path);
    if (!path.valid()) path = nowhere;
  }
  for (Call& call : line.calls.whole()) renew(call.path);
  for (Fork& fork : line.forks) renew(fork.path);
  for_each_path(line.openmp, renew);
  for (Unanswered& call : line.unanswered) renew(call.path);
  for (Count& count : line.counts) {
    renew(count.path);
    if (!count.path.valid()) count.path = nowhere;
  }
  std::vector<uint64_t>& visits = run.visits[id.index()];
  visits.resize(run.callpaths.size());
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i].valid()) visits[map[i].index()] += line.visits[i];
  }
  std::vector<PathSamples>& samples = run.samples[id.index()];
  if (!line.samples.empty()) samples.resize(run.callpaths.size());
  for (size_t i = 0; i < line.samples.size(); ++i) {
    if (map[i].valid()) samples[map[i].index()].add(line.samples[i]);
  }
  line.tree = {};
  line.visits = {};
  line.samples = {};
}

/// Begins the life of a helper when it is joined.
void begin_helper_late(Run& run, const std::vector<bool>& is_nap, LocationId id) {
  const Joined joined = find_join(run, id, is_nap);
  if (!joined.by.valid()) return;
  Timeline& line = run.at(id);
  line.joiner = joined.by;
  Activities life;  // calls of a helper are never used, so their activity numbers may be outdated
  life.push_back(run.begin, run.not_started);
  for (size_t i = line.activities.after(joined.at); i < line.activities.size(); ++i) {
    append(life, std::max(joined.at, line.activities.begin(i)), line.activities.path(i));
  }
  life.set_end(run.end);
  line.activities = std::move(life);
  line.first = joined.at;
}

/// Activities of every location tile the run. A pool thread that does not exist yet, or does no
/// more, is idle while its process lives: the process holds its core. One that its runtime has
/// ended for good is not.
void fill_life(Run& run, const PathMaps& maps, LocationId id) {
  if (run.is_stream(id)) return fill_stream(run, id);
  Timeline& line = run.at(id);
  const Timeline& master = run.at(run.master_of(id));
  const bool pool_thread = run.is_pool_thread(id);
  line.own_thread = !pool_thread && (!run.is_master(id) || is_forked(line));
  renumber(run, maps[id.index()], id,
           pool_thread       ? run.idle
           : line.own_thread ? between_threads(run)
                             : run.outside);
  Activities& life = line.activities;
  life.set_begin(0, run.begin);
  life.set_path(0, run.not_started);
  const bool late = pool_thread && master.first < line.first;
  life.set_begin(1, late ? master.first : line.first);
  life.set_path(1, run.idle);
  life.set_end(run.end);
  const bool idles_on = pool_thread && !line.ended;
  const Time end = idles_on ? std::max(line.last, master.last) : line.last;
  if (line.last < end) append(life, line.last, run.idle);
  if (end < run.end) append(life, end, run.ended);
  count_absence(run, id);
}

}  // namespace

void fill_lives(Run& run, const PathMaps& maps, unsigned threads) {
  settle_span(run);
  parallel_for(run.locations.size(), threads,
               [&](size_t i) { fill_life(run, maps, run.locations[i]); });
  const std::vector<bool> is_nap = nap_regions(run);
  for (LocationId id : run.locations) {
    if (run.at(id).own_thread && !run.is_stream(id)) begin_helper_late(run, is_nap, id);
  }
  settle_births(run);
}

}  // namespace culprit::replay
