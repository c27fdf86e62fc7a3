// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A whole run in memory: all timelines on one time axis, one tree of call paths, and the lives of
// the locations. It is the input of detectors and explanations. Where several analysis ranks share
// the work, each has the timelines of its own processes; definitions, call paths, begin and end are
// the same on all.
#pragma once

#include <string>
#include <vector>

#include "base/losses.h"
#include "base/ranks/transport.h"
#include "base/result.h"
#include "replay/model/call_paths.h"
#include "replay/model/shares.h"
#include "replay/model/timeline.h"
#include "trace/source.h"

namespace culprit::replay {

struct Run {
  const trace::Definitions* definitions = nullptr;  ///< outlives the run
  Transport* ranks = nullptr;                       ///< to the other analysis ranks, likewise
  Shares shares;                                    ///< of all ranks
  std::vector<trace::Region> regions;               ///< the trace's, then replay's own (below)
  CallPathTree callpaths;
  std::vector<bool> polls;          ///< by CallPathId: a call by which one may poll (AskingRegion)
  std::vector<Timeline> timelines;  ///< by LocationId; not analysed ones are empty
  std::vector<LocationId> locations;              ///< the analysed ones of this rank, in order
  std::vector<std::vector<uint64_t>> visits;      ///< by LocationId, by CallPathId (may be shorter)
  std::vector<std::vector<PathSamples>> samples;  ///< likewise
  Time begin, end;  ///< of the run: every analysed location lives that long
  LocationId last;  ///< of all ranks' locations the one whose events end last (settle_span)
  /// The creation times of threads that the program created itself; Time::min() for all others. By
  /// LocationId, of all ranks.
  std::vector<Time> births;
  uint64_t events = 0;  ///< of this rank's locations
  /// The losses found by this rank. Losses that belong to no rank in particular are on the first.
  Losses losses;

  /// Pseudo-regions of a location outside of the program. `waking`: its master has forked, but the
  /// thread is not there yet (it slept, or has no core); until the fork it was `idle`.
  CallPathId not_started, idle, waking, ended, outside;
  /// Pseudo-regions of streams between operations (device_busy.h). None in runs without streams.
  CallPathId device_idle, stream_idle, launch_latency;

  /// Windows have collective operations of their own (fences), in an order of their own: their
  /// numbers follow those of the communicators.
  size_t comm_count() const { return definitions->comms.size() + definitions->windows.size(); }
  bool is_window(CommId id) const { return id.index() >= definitions->comms.size(); }
  /// A window's is the communicator that it was made from.
  const trace::Comm& comm(CommId id) const {
    const size_t window = id.index() - definitions->comms.size();
    return definitions
        ->comms[is_window(id) ? definitions->windows[window].comm.index() : id.index()];
  }

  size_t owner(ProcessId id) const { return shares.owner(id); }
  size_t owner(LocationId id) const { return shares.owner(location(id).process); }
  bool owns(ProcessId id) const { return owner(id) == ranks->rank(); }
  bool owns(LocationId id) const { return owner(id) == ranks->rank(); }

  Duration wall() const { return end - begin; }
  const trace::Location& location(LocationId id) const {
    return definitions->locations[id.index()];
  }
  Timeline& at(LocationId id) { return timelines[id.index()]; }
  const Timeline& at(LocationId id) const { return timelines[id.index()]; }
  Call call(LocationId id, CallIndex call) const {
    const Timeline& line = at(id);
    return line.calls.get(call, line.activities);
  }
  Call call(CallRef ref) const { return call(ref.location, ref.call); }
  /// What an operation of location `id` means by `key`, which must be valid.
  CallRef ref(LocationId id, CallKey key) const {
    return key.is_own() ? CallRef{id, key.call()} : at(id).elsewhere[key.place()];
  }
  /// The first location of a location's process.
  LocationId master_of(LocationId id) const {
    return definitions->processes[location(id).process.index()].locations.front();
  }
  bool is_stream(LocationId id) const {
    return location(id).kind == trace::LocationKind::accelerator_stream;
  }
  bool is_master(LocationId id) const { return master_of(id) == id; }
  /// Returns whether other threads' teams use a location: then it is idle outside of them. A thread
  /// whose first team is its own belongs to no pool: the program created it.
  bool is_pool_thread(LocationId id) const {
    const Timeline& line = at(id);
    if (is_master(id) || !line.in_teams || at(master_of(id)).empty()) return false;
    return !line.for_one_team && line.first_leader != id;
  }
  LocationId last_to_end() const { return last; }

  /// The period in which a location's time counts as allocated: for a process and its pool the
  /// whole run, since its cores are held, until it ends for good; for a thread that the program
  /// created itself, its lifetime.
  struct Life {
    Time begin, end;
    Duration absent;  ///< in between
    Duration length() const { return end - begin - absent; }
  };
  Life life(LocationId id) const {
    const Timeline& line = at(id);
    if (line.ended) return {begin, line.last, {}};
    return line.own_thread ? Life{line.first, line.last, line.absent} : Life{begin, end, {}};
  }
  /// Whether an activity at this path is no part of the location's life, although within it: one of
  /// the program's own threads has ended, and the next has not begun.
  bool between(LocationId id, CallPathId path) const {
    return path == not_started && at(id).own_thread;
  }
};

/// Begin, end, and who ends last (of several, the one of the highest rank, masters first) of all
/// ranks' locations. Collective.
void settle_span(Run& run);

/// Finds again who ends last, where lives have turned out to end earlier. Collective.
void settle_last(Run& run);

/// Counts Timeline::absent, once the activities are settled.
void count_absence(Run& run, LocationId id);
/// Fills Run::births, once lives are known. Collective.
void settle_births(Run& run);

/// Reads all locations of this rank, each once, on up to `threads` threads. Collective.
Result<Run> read_run(const trace::Source& source, Transport& ranks, unsigned threads);

}  // namespace culprit::replay
