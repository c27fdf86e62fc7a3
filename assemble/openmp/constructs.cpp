// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/openmp/constructs.h"

#include "assemble/openmp/ompt_names.h"

namespace culprit::assemble {
namespace {

using trace::Fact;
using trace::RawKind;
using trace::RegionRole;

/// Whether the thread found at once that it need not wait where it has just begun to.
bool is_taken_back(RawLog::Cursor ahead) {
  for (RawRecord next; ahead.next(next);) {
    if (says_something(next.kind)) {
      return next.kind == RawKind::omp_sync_end && (next.flags & trace::kRawTakenBack) != 0;
    }
  }
  return false;
}

/// Ids of sync constructs: the class, and whether only its waiting part was told.
constexpr uint64_t kWaitOnly = 0x100;
uint64_t sync_id(SyncClass sync, bool wait) {
  return static_cast<uint64_t>(sync) | (wait ? kWaitOnly : 0);
}

}  // namespace

void OpenmpConstructs::masked_end(const RawRecord& record) {
  end(record, kMaskedId);
}

void OpenmpConstructs::reduction_end(const RawRecord& record) {
  end(record, kReductionId);
}

void OpenmpConstructs::close_work(Time time) {
  // No worksharing lies inside another one of its team, and no barrier inside any.
  const size_t depth = state_.timeline.innermost();
  if (depth != Timeline::npos && state_.timeline.stack()[depth].level == Level::work &&
      state_.timeline.stack()[depth].id != static_cast<uint64_t>(SyncClass::taskgroup)) {
    state_.timeline.leave(time, depth);
  }
}

void OpenmpConstructs::work_begin(const RawRecord& record) {
  const auto work = work_name(record.flags);
  if (!work) return;
  const Time time = state_.time(record);
  if (!work->inside_work) close_work(time);
  // Where the region was forked is not in the region: a combined construct, at its very begin.
  const Symbol* const place = teams_.place(record.w[0]);
  if (place != nullptr && place == teams_.team_place()) {
    state_.timeline.observe_bare(time);
  } else {
    state_.observe_code(time, record.w[0]);
  }
  // gcc's combined constructs tell the master alone where they are: where the region was forked.
  teams_.last_work = record.w[0] != 0 ? teams_.place(record.w[0]) : teams_.team_place();
  state_.timeline.enter(
      time, Level::work,
      state_.process.regions.openmp(work->name, RegionRole::worksharing, teams_.last_work),
      kWorkIds + record.flags);
  const uint64_t schedule = loop_schedule(record.flags);
  if (schedule != 0) state_.fact(time, Fact::schedule, schedule);
  if (record.words > 1 && record.w[1] != 0) state_.fact(time, Fact::iterations, record.w[1]);
}

void OpenmpConstructs::work_end(const RawRecord& record) {
  const Time time = state_.time(record);
  const size_t depth = find_level(state_.timeline, Level::work, kWorkIds + record.flags);
  if (depth == Timeline::npos) return;
  if (record.words > 1 && record.w[0] != 0) {
    state_.fact(time, Fact::own_chunks, record.w[0]);
    state_.fact(time, Fact::own_iterations, record.w[1]);
  }
  teams_.close(time, depth);
}

void OpenmpConstructs::masked_begin(const RawRecord& record) {
  const Time time = state_.time(record);
  state_.observe_code(time, record.w[0]);
  state_.timeline.enter(
      time, Level::work,
      state_.process.regions.openmp("masked", RegionRole::function, teams_.place(record.w[0])),
      kMaskedId);
}

/// Threads that combine their results inside a barrier go on waiting there: no region of its own.
void OpenmpConstructs::reduction_begin(const RawRecord& record) {
  const Time time = state_.time(record);
  const size_t innermost = state_.timeline.innermost();
  if (innermost != Timeline::npos && state_.timeline.stack()[innermost].level == Level::sync)
    return;
  state_.observe_code(time, record.w[0]);
  state_.timeline.enter(
      time, Level::work,
      state_.process.regions.openmp("reduction", RegionRole::function, teams_.place(record.w[0])),
      kReductionId);
}

void OpenmpConstructs::end(const RawRecord& record, uint64_t id) {
  const size_t depth = find_level(state_.timeline, Level::work, id);
  if (depth != Timeline::npos) teams_.close(state_.time(record), depth);
}

void OpenmpConstructs::cancel(const RawRecord& record) {
  const Time time = state_.time(record);
  state_.observe_code(time, record.w[0]);
  state_.fact(time, Fact::cancel, record.flags);
}

/// Whether the barrier that has just begun is the one at the end of the region: an implicit task
/// ends directly after it. At the end of the log, a worker's end has not been told.
bool OpenmpConstructs::ends_region(const RawRecord& record, RawLog::Cursor ahead) const {
  if (is_region_end(record.flags)) return true;
  if (!is_unclear(record.flags)) return false;
  int depth = 1;
  for (RawRecord next; ahead.next(next);) {
    if (depth == 0 && says_something(next.kind)) return next.kind == RawKind::omp_implicit_end;
    const bool begins = next.kind == RawKind::omp_sync_begin;
    const bool ends = next.kind == RawKind::omp_sync_end;
    if ((begins || ends) && sync_class(next.flags) == SyncClass::barrier) depth += begins ? 1 : -1;
  }
  return teams_.is_worker();
}

void OpenmpConstructs::enter_barrier(const RawRecord& record, const RawLog::Cursor& ahead,
                                     uint64_t id) {
  const Time time = state_.time(record);
  Regions& regions = state_.process.regions;
  close_work(time);
  if (ends_region(record, ahead)) {
    state_.timeline.observe_bare(time);
    const RegionId region =
        regions.openmp("implicit barrier", RegionRole::implicit_barrier, teams_.team_place());
    return state_.timeline.enter(time, Level::sync, region, id);
  }
  state_.observe_code(time, record.w[0]);
  // The runtime's own call, from the end of a worksharing construct, has no return address of ours.
  const bool may_end_work = is_implicit(record.flags) || is_unclear(record.flags);
  const bool ends_work = may_end_work && record.w[0] == 0 && teams_.last_work != nullptr;
  const Symbol* where = ends_work ? teams_.last_work : teams_.place(record.w[0]);
  if (where == nullptr) where = teams_.team_place();
  const RegionId region =
      is_implicit(record.flags) || ends_work
          ? regions.openmp("implicit barrier", RegionRole::implicit_barrier, where)
          : regions.openmp("barrier", RegionRole::barrier, where);
  state_.timeline.enter(time, Level::sync, region, id);
}

void OpenmpConstructs::sync_begin(const RawRecord& record, const RawLog::Cursor& ahead, bool wait) {
  if (is_taken_back(ahead)) return;
  const SyncClass sync = sync_class(record.flags);
  const uint64_t id = sync_id(sync, wait);
  Timeline& timeline = state_.timeline;
  const size_t innermost = timeline.innermost();
  const bool inside = innermost != Timeline::npos &&
                      timeline.stack()[innermost].level == Level::sync &&
                      timeline.stack()[innermost].id == sync_id(sync, false);
  if (wait && inside) return;  // the whole of it is one region
  if (sync == SyncClass::barrier) {
    if (record.w[1] == 0 || !teams_.is_hidden(record.w[1])) enter_barrier(record, ahead, id);
    return;
  }

  const Time time = state_.time(record);
  Regions& regions = state_.process.regions;
  const Symbol* where = teams_.place(record.w[0]);
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

void OpenmpConstructs::sync_end(const RawRecord& record, bool wait) {
  if ((record.flags & trace::kRawTakenBack) != 0) return;
  const SyncClass sync = sync_class(record.flags);
  const Level level = sync == SyncClass::taskgroup && !wait ? Level::work : Level::sync;
  const size_t depth = find_level(state_.timeline, level, sync_id(sync, wait));
  if (depth == Timeline::npos) return;
  teams_.close(teams_.due(state_.time(record)), depth);
}

}  // namespace culprit::assemble
