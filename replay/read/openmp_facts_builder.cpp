// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Open regions are a stack of places, each with the data needed at its end; facts are appended when
// they are complete.
#include "replay/read/openmp_facts_builder.h"

#include <algorithm>

#include "trace/thread_calls.h"

namespace culprit::replay {

namespace {

using trace::TaskId;

// ompt_task_flag_t
constexpr uint64_t kTaskwaitTask = 0x00000010;
constexpr uint64_t kUndeferredTask = 0x08000000;

// trace::Fact::schedule
constexpr uint64_t kDynamic = 2, kGuided = 3;

}  // namespace

OpenmpRegion openmp_region_of(const trace::Region& region) {
  if (region.paradigm != trace::Paradigm::openmp) return OpenmpRegion::none;
  const auto has = [&](std::string_view part) {
    return region.name.substr(0, region.name.find('@')).find(part) != std::string::npos;
  };
  if (region.role == trace::RegionRole::task) return OpenmpRegion::task;
  if (region.role == trace::RegionRole::task_wait) {
    return has("taskgroup") ? OpenmpRegion::taskgroup_end : OpenmpRegion::taskwait;
  }
  if (has("taskgroup")) return OpenmpRegion::taskgroup;
  if (has("single")) return OpenmpRegion::single;
  if (has("sections")) return OpenmpRegion::sections;
  if (has("masked") || has("master")) return OpenmpRegion::masked;
  return OpenmpRegion::none;
}

bool waits_for_mutex(const trace::Region& region) {
  using trace::ThreadCallKind;
  const trace::ThreadCall* const call = trace::thread_call(region);
  if (call != nullptr &&
      (call->how == trace::ThreadCallHow::tries || call->kind == ThreadCallKind::condition)) {
    return false;
  }
  return region.role == trace::RegionRole::lock || region.role == trace::RegionRole::critical ||
         (call != nullptr && call->kind == ThreadCallKind::openmp_lock);
}

// --- regions ------------------------------------------------------------------------------------

TaskParent OpenmpFactsBuilder::running() const {
  if (current_.generation != 0) return TaskParent::task(current_);
  return TaskParent::implicit(location_, teams_.back().index);
}

void OpenmpFactsBuilder::enter(Time time, OpenmpRegion region, CallPathId path) {
  Open open{region, false, 0, running(), time};
  switch (region) {
    case OpenmpRegion::task:
      open.index = UINT32_MAX;
      if (uint32_t* last = runs_here()) {
        open.index = static_cast<uint32_t>(facts_.task_runs.size());
        facts_.task_runs.push_back({time, Time::max(), current_, *last});
        *last = open.index;
      }
      break;
    case OpenmpRegion::taskwait:
    case OpenmpRegion::taskgroup_end: {
      open.index = static_cast<uint32_t>(facts_.task_waits.size());
      const bool group = region == OpenmpRegion::taskgroup_end;
      facts_.task_waits.push_back(
          {time, Time::max(), path, running(), group ? innermost_group() : UINT32_MAX});
      break;
    }
    case OpenmpRegion::taskgroup:
      open.index = facts_.groups++;
      break;
    default:
      break;
  }
  open_.push_back(open);
}

void OpenmpFactsBuilder::leave(Time time) {
  if (open_.empty() || open_.back().barrier) return;  // never, in traces that nest
  const Open open = open_.back();
  open_.pop_back();
  switch (open.region) {
    case OpenmpRegion::task:
      if (open.index != UINT32_MAX) facts_.task_runs[open.index].end = time;
      break;
    case OpenmpRegion::taskwait:
    case OpenmpRegion::taskgroup_end:
      facts_.task_waits[open.index].leave = time;
      break;
    case OpenmpRegion::single:
    case OpenmpRegion::sections:
    case OpenmpRegion::masked:
      team().tail = {0, open.region, open.enter, time};
      break;
    default:
      break;
  }
}

void OpenmpFactsBuilder::enter_barrier(size_t barrier) {
  BarrierTail& tail = team().tail;
  if (tail.construct != OpenmpRegion::none) {
    tail.barrier = static_cast<uint32_t>(barrier);
    facts_.barrier_tails.push_back(tail);
    tail = {};
  }
  open_.push_back({OpenmpRegion::none, true, static_cast<uint32_t>(barrier), running(), {}});
}

void OpenmpFactsBuilder::leave_barrier() {
  if (open_.empty() || !open_.back().barrier) return;
  open_.pop_back();
  ++team().barriers_left;
}

uint32_t* OpenmpFactsBuilder::runs_here() {
  if (open_.empty()) return nullptr;
  const Open& here = open_.back();
  if (here.region == OpenmpRegion::taskwait || here.region == OpenmpRegion::taskgroup_end) {
    return &facts_.task_waits[here.index].last_run;
  }
  if (!here.barrier) return nullptr;
  std::vector<BarrierRuns>& lists = facts_.barrier_runs;
  const auto at = std::lower_bound(lists.begin(), lists.end(), here.index,
                                   [](const BarrierRuns& a, uint32_t b) { return a.barrier < b; });
  if (at != lists.end() && at->barrier == here.index) return &at->last_run;
  return &lists.insert(at, {here.index})->last_run;
}

void OpenmpFactsBuilder::team_begin(size_t index) {
  teams_.push_back({static_cast<uint32_t>(index), 0, {}, current_});
  current_ = {};
}

void OpenmpFactsBuilder::team_end() {
  if (teams_.size() < 2) return;
  current_ = team().outer;
  teams_.pop_back();
}

// --- locks --------------------------------------------------------------------------------------

uint32_t OpenmpFactsBuilder::index_of(uint64_t lock) {
  const auto fresh = static_cast<uint32_t>(facts_.locks.size());
  const uint32_t index = lock_index_.at(lock, fresh);
  if (index == fresh) {
    facts_.locks.push_back(lock);
    held_.emplace_back();
  }
  return index;
}

void OpenmpFactsBuilder::acquired(Time time, trace::MutexKind kind, uint64_t lock,
                                  const Place& place) {
  const uint32_t index = index_of(lock);
  HeldLock& held = held_[index];
  if (held.depth > 0 && kind == trace::MutexKind::nest_lock) {
    ++held.depth;
    return;
  }
  // If it holds the lock already, another thread has released it: the detector finds out which.
  held = {static_cast<uint32_t>(facts_.holds.size()), 1};
  facts_.holds.push_back({place.waits_for_mutex ? place.enter : time, time, Time::max(), index,
                          place.path, CallPathId::none(), kind});
}

void OpenmpFactsBuilder::released(Time time, uint64_t lock, CallPathId path) {
  const uint32_t index = index_of(lock);
  HeldLock& held = held_[index];
  if (held.depth == 0) {
    facts_.releases.push_back({time, index, path});
    return;
  }
  if (--held.depth > 0) return;
  facts_.holds[held.hold].released = time;
  facts_.holds[held.hold].released_path = path;
}

// --- tasks --------------------------------------------------------------------------------------

uint32_t OpenmpFactsBuilder::innermost_group() const {
  for (auto open = open_.rbegin(); open != open_.rend() && open->owner == running(); ++open) {
    if (open->region == OpenmpRegion::taskgroup) return open->index;
  }
  return UINT32_MAX;
}

void OpenmpFactsBuilder::task_create(Time time, TaskId task, CallPathId path) {
  facts_.creations.push_back({time, task, running(), path, team().index, team().barriers_left,
                              innermost_group(), false, false});
}

void OpenmpFactsBuilder::fact(Time time, trace::Fact what, uint64_t value) {
  switch (what) {
    case trace::Fact::task_flags:
      if (facts_.creations.empty()) return;
      facts_.creations.back().undeferred = (value & kUndeferredTask) != 0;
      facts_.creations.back().is_taskwait = (value & kTaskwaitTask) != 0;
      return;
    case trace::Fact::depend_in:
      return depend(value, true);
    case trace::Fact::depend_out:
    case trace::Fact::depend_inout:
    case trace::Fact::depend_mutexinoutset:
    case trace::Fact::depend_inoutset:
      return depend(value, false);
    case trace::Fact::depend_all_memory:
      return depend(0, false);
    case trace::Fact::task_successor:
      successor_ = value;
      return;
    case trace::Fact::task_predecessor:
      facts_.edges.push_back({trace::task_of(successor_), trace::task_of(value)});
      return;
    case trace::Fact::task_fulfilled:
      facts_.task_ends.push_back({time, trace::task_of(value)});
      return;
    default:
      return;
  }
}

void OpenmpFactsBuilder::depend(uint64_t address, bool reads) {
  if (facts_.creations.empty()) return;
  const auto creation = static_cast<uint32_t>(facts_.creations.size() - 1);
  facts_.dependences.push_back({address, creation, reads});
}

// --- loops --------------------------------------------------------------------------------------

void OpenmpFactsBuilder::loop_schedule(const Place& loop, uint64_t schedule) {
  if (schedule != kDynamic && schedule != kGuided) return;
  const auto known = std::find(facts_.loops.begin(), facts_.loops.end(), loop.path);
  if (known == facts_.loops.end()) facts_.loops.push_back(loop.path);
}

bool OpenmpFactsBuilder::loop_iterations(const Place& loop, Time end, uint64_t iterations) {
  const auto known = std::find(facts_.loops.begin(), facts_.loops.end(), loop.path);
  if (known == facts_.loops.end()) return false;
  const auto count = static_cast<uint32_t>(std::clamp<uint64_t>(iterations, 1, UINT32_MAX));
  facts_.loop_visits.push_back(
      {loop.enter, end, count, static_cast<uint32_t>(std::clamp<uint64_t>(chunks_, 1, count))});
  return true;
}

OpenmpFacts OpenmpFactsBuilder::take(Time last) {
  for (TaskRun& run : facts_.task_runs) run.end = std::min(run.end, last);
  for (TaskWaitVisit& visit : facts_.task_waits) visit.leave = std::min(visit.leave, last);
  return std::move(facts_);
}

}  // namespace culprit::replay
