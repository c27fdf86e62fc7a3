// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/openmp_records.h"

#include <algorithm>
#include <string>

#include "assemble/ompt_names.h"

namespace culprit::assemble {
namespace {

using trace::RawKind;
using trace::RegionInstance;
using trace::RegionRole;

/// Ids of sync constructs: the class, and whether only its waiting part was told.
constexpr uint64_t kWaitOnly = 0x100;
uint64_t sync_id(SyncClass sync, bool wait) {
  return static_cast<uint64_t>(sync) | (wait ? kWaitOnly : 0);
}

constexpr uint64_t kMasked = 0x1000;  // beside the kinds of worksharing

/// Depth of the innermost entry that `matches`, no deeper than the team's own construct; npos if
/// none.
template <class Matches>
size_t find_in_team(const Timeline& timeline, Matches matches) {
  const auto& stack = timeline.stack();
  for (size_t i = stack.size(); i-- > 0;) {
    if (matches(stack[i])) return i;
    if (stack[i].level == Level::parallel || stack[i].level == Level::root) break;
  }
  return Timeline::npos;
}

size_t find_level(const Timeline& timeline, Level level, uint64_t id) {
  return find_in_team(timeline, [level, id](const Timeline::Entry& entry) {
    return entry.level == level && entry.id == id;
  });
}

/// Whether a call for a lock came back without it. Tests that fail have a beginning only, and some
/// runtimes tell of them as of any acquire; but whoever waits does nothing else, except to be ended
/// by a signal.
bool has_failed(const MutexName& mutex, RawLog::Cursor ahead) {
  if (!mutex.is_call) return false;
  for (RawRecord next; ahead.next(next);) {
    if (next.kind == RawKind::process_end) break;
    if (says_something(next.kind)) return next.kind != RawKind::omp_mutex_acquired;
  }
  return mutex.is_test;
}

}  // namespace

void OpenmpRecords::see(const RawRecord& record, const RawLog::Cursor& ahead) {
  switch (record.kind) {
    case RawKind::omp_parallel_begin:
      return parallel_begin(record);
    case RawKind::omp_parallel_end:
      return parallel_end(record);
    case RawKind::omp_implicit_begin:
      return implicit_begin(record);
    case RawKind::omp_implicit_end:
      return implicit_end(record);
    case RawKind::omp_work_begin:
      return work_begin(record);
    case RawKind::omp_work_end:
      return work_end(record.flags, state_.time(record));
    case RawKind::omp_masked_begin:
      state_.observe_code(state_.time(record), record.w[0]);
      return state_.timeline.enter(
          state_.time(record), Level::work,
          state_.process.regions.openmp("masked", RegionRole::function, place(record.w[0])),
          kMasked);
    case RawKind::omp_masked_end:
      return work_end(kMasked, state_.time(record));
    case RawKind::omp_sync_begin:
      return sync_begin(record, ahead, false);
    case RawKind::omp_wait_begin:
      return sync_begin(record, ahead, true);
    case RawKind::omp_sync_end:
      return sync_end(record, false);
    case RawKind::omp_wait_end:
      return sync_end(record, true);
    case RawKind::omp_mutex_acquire:
      return mutex_acquire(record, ahead);
    case RawKind::omp_mutex_acquired:
      return mutex_acquired(record);
    case RawKind::omp_mutex_released:
      return mutex_released(record);
    case RawKind::omp_task_switch:
      return task_switch(record);
    case RawKind::omp_thread_end:
      return finish(state_.time(record));
    default:
      return;
  }
}

void OpenmpRecords::finish(Time end) {
  while (!openings_.empty()) close_top_opening(end);
}

// --- Regions and teams ---

const OpenmpRecords::Opening* OpenmpRecords::team() const {
  for (auto opening = openings_.rbegin(); opening != openings_.rend(); ++opening) {
    if (opening->team) return &*opening;
  }
  return nullptr;
}

Time OpenmpRecords::overdue(Time time, uint64_t region) const {
  const auto known = state_.process.survey.regions.find(region);
  if (known == state_.process.survey.regions.end() || known->second.end_ticks == 0) return time;
  return std::min(time, state_.process.time(known->second.end_ticks));
}

void OpenmpRecords::close_top_opening(Time time) {
  const Opening top = openings_.back();
  openings_.pop_back();
  Timeline& timeline = state_.timeline;
  if (!top.team) {
    timeline.observe_nothing(time);
    const Time joined = timeline.advance(time);
    return timeline.sink().thread_join(joined);
  }
  const Time end = top.own ? time : overdue(time, top.region);
  timeline.leave(end, top.depth);
  const Time left = timeline.advance(end);
  timeline.sink().thread_team_end(left);
}

/// Leaves the construct at `depth` with all teams and forks inside it.
void OpenmpRecords::close(Time time, size_t depth) {
  while (!openings_.empty() && openings_.back().depth > depth) close_top_opening(time);
  state_.timeline.leave(time, depth);
}

void OpenmpRecords::parallel_begin(const RawRecord& record) {
  const Time time = state_.time(record);
  const uint64_t region = record.w[0];
  if (record.arg != 0) {
    state_.observe(time, record.arg);
  } else {
    state_.observe_code(time, record.w[1]);
  }
  Timeline& timeline = state_.timeline;
  const auto known = state_.process.survey.regions.find(region);
  const uint32_t size = known == state_.process.survey.regions.end() ? 0 : known->second.team_size;
  openings_.push_back({false, true, region, timeline.stack().size()});
  const Time forked = timeline.advance(time);
  timeline.sink().thread_fork(forked, size, RegionInstance{region});
}

void OpenmpRecords::parallel_end(const RawRecord& record) {
  const auto fork = std::find_if(openings_.rbegin(), openings_.rend(), [&](const Opening& opening) {
    return !opening.team && opening.region == record.w[0];
  });
  if (fork == openings_.rend()) return;
  const auto first = static_cast<size_t>(openings_.rend() - fork) - 1;
  while (openings_.size() > first) close_top_opening(state_.time(record));
}

void OpenmpRecords::implicit_begin(const RawRecord& record) {
  const uint64_t region = record.w[0];
  if (region == 0) return;  // the initial task: the program itself
  const Time time = state_.time(record);
  const bool own =
      !openings_.empty() && !openings_.back().team && openings_.back().region == region;
  // A worker that begins anew has left everything else, told or not.
  if (!own) finish(time);
  Timeline& timeline = state_.timeline;
  timeline.observe_nothing(time);
  const Time begun = timeline.advance(time);
  timeline.sink().thread_team_begin(begun, RegionInstance{region});

  const auto known = state_.process.survey.regions.find(region);
  const bool league = known != state_.process.survey.regions.end() && known->second.league;
  openings_.push_back({true, own, region, timeline.stack().size()});
  work_place_ = nullptr;
  timeline.enter(begun, Level::parallel,
                 state_.process.regions.openmp(league ? "teams" : "parallel", RegionRole::parallel,
                                               team_place()),
                 region);
}

void OpenmpRecords::implicit_end(const RawRecord& record) {
  const auto ended =
      std::find_if(openings_.rbegin(), openings_.rend(), [&](const Opening& opening) {
        return opening.team && (record.w[0] == 0 || opening.region == record.w[0]);
      });
  if (ended == openings_.rend()) return;
  const auto first = static_cast<size_t>(openings_.rend() - ended) - 1;
  while (openings_.size() > first) close_top_opening(state_.time(record));
}

const Symbol* OpenmpRecords::place(uint64_t code) const {
  if (code == 0) return nullptr;
  const Code& found = state_.process.code.before(code);
  const bool own = !found.frames.empty() && (found.frames.front().kind == CodeKind::user ||
                                             found.frames.front().kind == CodeKind::outlined);
  return own ? found.symbol : nullptr;
}

const Symbol* OpenmpRecords::team_place() const {
  const Opening* inside = team();
  if (inside == nullptr) return nullptr;
  const auto known = state_.process.survey.regions.find(inside->region);
  return known == state_.process.survey.regions.end() ? nullptr : place(known->second.code);
}

// --- Worksharing ---

void OpenmpRecords::close_work(Time time) {
  // No worksharing lies inside another one of its team, and no barrier inside any.
  const size_t depth = state_.timeline.innermost();
  if (depth != Timeline::npos && state_.timeline.stack()[depth].level == Level::work &&
      state_.timeline.stack()[depth].id != static_cast<uint64_t>(SyncClass::taskgroup)) {
    state_.timeline.leave(time, depth);
  }
}

void OpenmpRecords::work_begin(const RawRecord& record) {
  const auto work = work_name(record.flags);
  if (!work) return;
  const Time time = state_.time(record);
  if (!work->inside_work) close_work(time);
  state_.observe_code(time, record.w[0]);
  work_place_ = place(record.w[0]);
  state_.timeline.enter(
      time, Level::work,
      state_.process.regions.openmp(work->name, RegionRole::worksharing, work_place_),
      kWorkIds + record.flags);
}

void OpenmpRecords::work_end(uint64_t kind, Time time) {
  const size_t depth =
      find_level(state_.timeline, Level::work, kind == kMasked ? kind : kWorkIds + kind);
  if (depth != Timeline::npos) close(time, depth);
}

// --- Barriers and other waiting ---

/// Whether the barrier that has just begun is the one at the end of the region: an implicit task
/// ends directly after it. At the end of the log, a worker's end has not been told.
bool OpenmpRecords::ends_region(const RawRecord& record, RawLog::Cursor ahead) const {
  if (is_region_end(record.flags)) return true;
  if (!is_unclear(record.flags)) return false;
  int depth = 1;
  for (RawRecord next; ahead.next(next);) {
    if (depth == 0 && says_something(next.kind)) return next.kind == RawKind::omp_implicit_end;
    const bool begins = next.kind == RawKind::omp_sync_begin;
    const bool ends = next.kind == RawKind::omp_sync_end;
    if ((begins || ends) && sync_class(next.flags) == SyncClass::barrier) depth += begins ? 1 : -1;
  }
  const Opening* inside = team();
  return inside != nullptr && !inside->own;
}

void OpenmpRecords::enter_barrier(const RawRecord& record, const RawLog::Cursor& ahead,
                                  uint64_t id) {
  const Time time = state_.time(record);
  Regions& regions = state_.process.regions;
  close_work(time);
  if (ends_region(record, ahead)) {
    state_.timeline.observe_bare(time);
    const RegionId region =
        regions.openmp("implicit barrier", RegionRole::implicit_barrier, team_place());
    return state_.timeline.enter(time, Level::sync, region, id);
  }
  state_.observe_code(time, record.w[0]);
  // The runtime's own call, from the end of a worksharing construct, has no return address of ours.
  const bool may_end_work = is_implicit(record.flags) || is_unclear(record.flags);
  const bool ends_work = may_end_work && record.w[0] == 0 && work_place_ != nullptr;
  const Symbol* where = ends_work ? work_place_ : place(record.w[0]);
  if (where == nullptr) where = team_place();
  const RegionId region =
      is_implicit(record.flags) || ends_work
          ? regions.openmp("implicit barrier", RegionRole::implicit_barrier, where)
          : regions.openmp("barrier", RegionRole::barrier, where);
  state_.timeline.enter(time, Level::sync, region, id);
}

void OpenmpRecords::sync_begin(const RawRecord& record, const RawLog::Cursor& ahead, bool wait) {
  const SyncClass sync = sync_class(record.flags);
  const uint64_t id = sync_id(sync, wait);
  Timeline& timeline = state_.timeline;
  const size_t innermost = timeline.innermost();
  const bool inside = innermost != Timeline::npos &&
                      timeline.stack()[innermost].level == Level::sync &&
                      timeline.stack()[innermost].id == sync_id(sync, false);
  if (wait && inside) return;  // the whole of it is one region
  if (sync == SyncClass::barrier) return enter_barrier(record, ahead, id);

  const Time time = state_.time(record);
  Regions& regions = state_.process.regions;
  const Symbol* where = place(record.w[0]);
  if (sync == SyncClass::taskwait) {
    state_.observe_code(time, record.w[0]);
    timeline.enter(time, Level::sync, regions.openmp("taskwait", RegionRole::task_wait, where), id);
  } else if (sync == SyncClass::taskgroup) {
    // The body is the program's own work; only its end waits.
    state_.observe_code(time, record.w[0]);
    timeline.enter(time, wait ? Level::sync : Level::work,
                   wait ? regions.openmp("end taskgroup", RegionRole::task_wait, where)
                        : regions.openmp("taskgroup", RegionRole::function, where),
                   id);
  }
}

void OpenmpRecords::sync_end(const RawRecord& record, bool wait) {
  const SyncClass sync = sync_class(record.flags);
  const Level level = sync == SyncClass::taskgroup && !wait ? Level::work : Level::sync;
  const size_t depth = find_level(state_.timeline, level, sync_id(sync, wait));
  if (depth == Timeline::npos) return;
  const Opening* inside = team();
  const Time time = state_.time(record);
  close(inside != nullptr && !inside->own ? overdue(time, inside->region) : time, depth);
}

// --- Locks ---

void OpenmpRecords::mutex_acquire(const RawRecord& record, const RawLog::Cursor& ahead) {
  const Time time = state_.time(record);
  const MutexName mutex = mutex_name(record.flags);
  Regions& regions = state_.process.regions;
  state_.observe_code(time, record.w[1]);
  const RegionId region =
      mutex.is_call ? regions.openmp_call(mutex.name, RegionRole::lock)
                    : regions.openmp(mutex.name, RegionRole::critical, place(record.w[1]));
  Timeline& timeline = state_.timeline;
  timeline.enter(time, Level::sync, region, kLockIds + record.w[0]);
  if (has_failed(mutex, ahead)) timeline.leave(time, timeline.innermost());
}

void OpenmpRecords::mutex_acquired(const RawRecord& record) {
  const Time time = state_.time(record);
  const MutexName mutex = mutex_name(record.flags);
  Timeline& timeline = state_.timeline;
  const size_t depth = find_level(timeline, Level::sync, kLockIds + record.w[0]);
  timeline.observe_nothing(time);
  const Time acquired = timeline.advance(time);
  timeline.sink().mutex_acquired(acquired, mutex.kind, record.w[0]);
  if (depth == Timeline::npos) return;
  if (mutex.is_call) return close(time, depth);
  timeline.enter(time, Level::mutex,
                 state_.process.regions.openmp(std::string(mutex.name) + " body",
                                               RegionRole::function, place(record.w[1])),
                 kLockIds + record.w[0]);
}

void OpenmpRecords::mutex_released(const RawRecord& record) {
  const Time time = state_.time(record);
  Timeline& timeline = state_.timeline;
  timeline.observe_nothing(time);
  const Time released = timeline.advance(time);
  timeline.sink().mutex_released(released, mutex_name(record.flags).kind, record.w[0]);
  const size_t depth = find_level(timeline, Level::sync, kLockIds + record.w[0]);
  if (depth != Timeline::npos) close(time, depth);
}

// --- Tasks ---

/// Tasks nest on a thread: one that is resumed here has been waiting below those that ran
/// meanwhile.
void OpenmpRecords::task_switch(const RawRecord& record) {
  const Time time = state_.time(record);
  Timeline& timeline = state_.timeline;
  const uint64_t next = record.w[0];
  const auto close_above = [&](size_t kept) {
    for (size_t i = kept == Timeline::npos ? 0 : kept + 1; i < timeline.stack().size(); ++i) {
      if (timeline.stack()[i].level == Level::task) return close(time, i);
    }
  };
  if (next == 0) {
    return close_above(find_in_team(timeline, [](const Timeline::Entry& entry) {
      return entry.level == Level::parallel || entry.level == Level::root;
    }));
  }
  const size_t waiting = find_level(timeline, Level::task, next);
  if (waiting != Timeline::npos) return close_above(waiting);

  const size_t left = find_level(timeline, Level::task, record.w[1]);
  if (record.w[1] != 0 && is_task_end(record.flags) && left != Timeline::npos) close(time, left);
  const auto created = state_.process.survey.task_code.find(next);
  const uint64_t code = created == state_.process.survey.task_code.end() ? 0 : created->second;
  timeline.observe_nothing(time);
  timeline.enter(time, Level::task,
                 state_.process.regions.openmp("task", RegionRole::task, place(code)), next);
}

}  // namespace culprit::assemble
