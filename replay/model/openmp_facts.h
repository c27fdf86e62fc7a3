// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The data that replay stores about one location's locks, tasks and worksharing constructs, for the
// detectors of OpenMP waits. Lists are sorted: holdings by the time of acquisition, creations and
// ends by their time, visits by their enter. Numbers of locks and tasks belong to the process.
#pragma once

#include <cstdint>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "trace/events.h"

namespace culprit::replay {

/// The meaning of an OpenMP region for waits.
enum class OpenmpRegion : uint8_t {
  none,
  task,           ///< a thread executes an explicit task
  taskwait,       ///< waits for children
  taskgroup,      ///< tasks created inside, and their descendants, belong to it
  taskgroup_end,  ///< waits for them
  single,
  sections,
  masked,
};

/// A lock that this thread held. The wait for it was [asked, acquired).
struct MutexHold {
  Time asked;  ///< acquired if it did not wait (a test), or nobody knows
  Time acquired;
  Time released;             ///< Time::max(): not by this thread, as far as the trace tells
  uint32_t lock;             ///< index into OpenmpFacts::locks
  CallPathId acquired_path;  ///< of the innermost region then: the one in which it waited
  CallPathId released_path;
  trace::MutexKind kind;
};

/// A release by a thread that did not hold the lock: it ends the holding of another thread.
struct MutexRelease {
  Time time;
  uint32_t lock;  ///< index into OpenmpFacts::locks
  CallPathId path;
};

/// The parent that creates tasks and waits for them: an explicit task, or the implicit task of a
/// thread in a team (or outside of all teams).
class TaskParent {
 public:
  static TaskParent task(trace::TaskId id) { return TaskParent(id.number()); }
  static TaskParent implicit(LocationId thread, uint32_t team) {
    return TaskParent(kImplicit | uint64_t{thread.index()} << 32 | team);
  }

  bool is_task() const { return (value_ & kImplicit) == 0; }
  trace::TaskId task() const { return trace::task_of(value_); }
  LocationId thread() const { return LocationId((value_ & ~kImplicit) >> 32); }
  uint32_t team() const { return static_cast<uint32_t>(value_); }  ///< index; UINT32_MAX: none
  uint64_t key() const { return value_; }                          ///< the same for the same
  friend bool operator==(TaskParent, TaskParent) = default;

 private:
  static constexpr uint64_t kImplicit = uint64_t{1} << 63;
  explicit TaskParent(uint64_t value) : value_(value) {}
  uint64_t value_;
};

struct TaskCreation {
  Time time;
  trace::TaskId task;
  TaskParent parent;
  CallPathId path;              ///< of the creating thread
  uint32_t team = UINT32_MAX;   ///< its team, index into Timeline::teams; UINT32_MAX: none
  uint32_t barrier = 0;         ///< how many barriers of that team the creator had left before
  uint32_t group = UINT32_MAX;  ///< taskgroup of the parent, index into `groups`; UINT32_MAX: none
  bool undeferred = false;      ///< the creator waits until it is executed
  bool is_taskwait = false;     ///< it stands for a taskwait with dependences
};

struct TaskEnd {
  Time time;
  trace::TaskId task;
};

struct TaskEdge {
  trace::TaskId successor, predecessor;
};

/// A dependence of a task on data, which orders it and its siblings.
struct TaskDependence {
  uint64_t address;   ///< 0: all memory
  uint32_t creation;  ///< index into creations
  bool reads;         ///< only: needs those that write to be complete, not those that read
};

/// The execution of an explicit task, or a part of it, while the thread was in a waiting construct.
struct TaskRun {
  Time begin, end;
  trace::TaskId task;
  uint32_t previous = UINT32_MAX;  ///< the one before in the same construct; UINT32_MAX: none
};

/// A visit of a taskwait, or of the end of a taskgroup.
struct TaskWaitVisit {
  Time enter, leave;
  CallPathId path;
  TaskParent waiting;           ///< the task that waits
  uint32_t group = UINT32_MAX;  ///< index into `groups`; UINT32_MAX: a taskwait
  uint32_t last_run = UINT32_MAX;
};

/// The task runs inside a barrier, where there are any.
struct BarrierRuns {
  uint32_t barrier = 0;  ///< index into Timeline::barriers; the list is sorted by it
  uint32_t last_run = UINT32_MAX;
};

/// The construct that a thread left last before it entered a barrier, since the one before.
struct BarrierTail {
  uint32_t barrier = 0;  ///< index into Timeline::barriers; the list is sorted by it
  OpenmpRegion construct = OpenmpRegion::none;
  Time begin, end;
};

/// A thread's visit of a loop that assigns iterations on request (schedule dynamic or guided), of
/// which it executed some.
struct LoopVisit {
  Time begin, end;
  uint32_t iterations, chunks;  ///< number of portions they are divided into
};

struct OpenmpFacts {
  std::vector<uint64_t> locks;  ///< those that this thread had to do with
  Column<MutexHold> holds;
  Column<MutexRelease> releases;
  Column<TaskCreation> creations;
  Column<TaskEnd> task_ends;
  Column<TaskEdge> edges;
  Column<TaskDependence> dependences;  ///< in the order of the creations
  Column<TaskRun> task_runs;
  Column<TaskWaitVisit> task_waits;
  std::vector<BarrierRuns> barrier_runs;
  Column<BarrierTail> barrier_tails;
  Column<LoopVisit> loop_visits;
  std::vector<CallPathId> loops;  ///< the paths of such loops, each once
  uint32_t groups = 0;            ///< number of taskgroups that it opened
};

/// Calls renew(path) for every call path in it.
template <class Renew>
void for_each_path(OpenmpFacts& facts, const Renew& renew) {
  for (MutexHold& hold : facts.holds) renew(hold.acquired_path), renew(hold.released_path);
  for (MutexRelease& release : facts.releases) renew(release.path);
  for (TaskCreation& creation : facts.creations) renew(creation.path);
  for (TaskWaitVisit& visit : facts.task_waits) renew(visit.path);
  for (CallPathId& loop : facts.loops) renew(loop);
}

}  // namespace culprit::replay
