// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Collects OpenmpFacts while a location's events are read. TimelineBuilder calls it for regions
// that openmp_region_of() names and for the events of locks and tasks; other events cost nothing.
#pragma once

#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "replay/model/openmp_facts.h"
#include "trace/definitions.h"

namespace culprit::replay {

OpenmpRegion openmp_region_of(const trace::Region& region);
/// Whether a thread that acquires a lock in this region may have waited for it since its enter.
bool waits_for_mutex(const trace::Region& region);

class OpenmpFactsBuilder {
 public:
  /// Where a thread is when an event comes: its innermost region.
  struct Place {
    Time enter;
    CallPathId path;
    bool waits_for_mutex = false;
  };

  explicit OpenmpFactsBuilder(LocationId location) : location_(location) {}

  void enter(Time time, OpenmpRegion region, CallPathId path);
  void leave(Time time);
  void enter_barrier(size_t barrier);
  void leave_barrier();
  void team_begin(size_t team);
  void team_end();

  void acquired(Time time, trace::MutexKind kind, uint64_t lock, const Place& place);
  void released(Time time, uint64_t lock, CallPathId path);
  void task_create(Time time, trace::TaskId task, CallPathId path);
  void task_switch(trace::TaskId task) { current_ = task; }
  void task_complete(Time time, trace::TaskId task) { facts_.task_ends.push_back({time, task}); }
  void fact(Time time, trace::Fact what, uint64_t value);
  /// Notes the schedule of the current loop; loop_iterations() follows at its end, with the number
  /// that this thread executed.
  void loop_schedule(const Place& loop, uint64_t schedule);
  /// False if this is no such loop.
  bool loop_iterations(const Place& loop, Time end, uint64_t iterations);
  void loop_chunks(uint64_t chunks) { chunks_ = chunks; }

  /// Call once. What is still open ends at `last`.
  OpenmpFacts take(Time last);

 private:
  /// A region of interest that the thread is in.
  struct Open {
    OpenmpRegion region;
    bool barrier;
    uint32_t index;    // of the barrier, visit, run or group
    TaskParent owner;  // who was running when it was entered
    Time enter;
  };
  struct Team {
    uint32_t index;
    uint32_t barriers_left;
    BarrierTail tail;
    trace::TaskId outer;  // what the thread was running when it joined
  };

  struct HeldLock {
    uint32_t hold = 0;   // index into holds
    uint32_t depth = 0;  // 0: not held by this thread
  };

  TaskParent running() const;
  Team& team() { return teams_.back(); }
  uint32_t innermost_group() const;
  uint32_t index_of(uint64_t lock);
  void depend(uint64_t address, bool reads);
  /// The list end of the runs in the construct that the thread is directly in; null: in none.
  uint32_t* runs_here();

  LocationId location_;
  OpenmpFacts facts_;
  std::vector<Open> open_;
  std::vector<Team> teams_{{UINT32_MAX, 0, {}, {}}};  // the first: outside of all
  trace::TaskId current_;
  FlatMap lock_index_;
  std::vector<HeldLock> held_;  // by lock, as in facts_.locks
  uint64_t successor_ = 0;
  uint64_t chunks_ = 1;  ///< that were reported last
};

}  // namespace culprit::replay
