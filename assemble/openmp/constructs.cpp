// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A construct is closed by its own end, or by a construct that cannot lie inside it. Which kind of
// barrier it was is known only when the next record of the thread comes.
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
      return next.kind == RawKind::omp_sync_end &&
             (next.as<raw::omp_sync_end>().kind & trace::kRawTakenBack) != 0;
    }
  }
  return false;
}

/// Ids of sync constructs: the class, and whether only its waiting part was reported.
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
  const auto begun = record.as<raw::omp_work_begin>();
  const auto work = work_name(begun.kind);
  if (!work) return;
  const Time time = state_.time(record);
  if (!work->inside_work) close_work(time);
  // Where the region was forked is not in the region: a combined construct, at its very begin.
  const Symbol* const place = teams_.place(begun.code);
  if (place != nullptr && place == teams_.team_place()) {
    state_.timeline.observe_bare(time);
  } else {
    state_.observe_code(time, begun.code);
  }
  // gcc's combined constructs report their place to the master only: the region was forked there.
  teams_.last_work = begun.code != 0 ? teams_.place(begun.code) : teams_.team_place();
  state_.timeline.enter(time, Level::work,
                        state_.construct(work->name, RegionRole::worksharing, teams_.last_work),
                        kWorkIds + begun.kind);
  const uint64_t schedule = loop_schedule(begun.kind);
  if (schedule != 0) state_.fact(time, Fact::schedule, schedule);
  if (begun.count != 0) state_.fact(time, Fact::iterations, begun.count);
}

void OpenmpConstructs::work_end(const RawRecord& record) {
  const auto ended = record.as<raw::omp_work_end>();
  const Time time = state_.time(record);
  const size_t depth = find_level(state_.timeline, Level::work, kWorkIds + ended.kind);
  if (depth == Timeline::npos) return;
  if (ended.chunks != 0) {
    state_.fact(time, Fact::own_chunks, ended.chunks);
    state_.fact(time, Fact::own_iterations, ended.iterations);
  }
  teams_.close(time, depth);
}

void OpenmpConstructs::masked_begin(const RawRecord& record) {
  const uint64_t code = record.as<raw::omp_masked_begin>().code;
  const Time time = state_.time(record);
  state_.observe_code(time, code);
  state_.timeline.enter(time, Level::work,
                        state_.construct("masked", RegionRole::function, teams_.place(code)),
                        kMaskedId);
}

/// Threads that combine their results inside a barrier go on waiting there: this is no region of
/// its own.
void OpenmpConstructs::reduction_begin(const RawRecord& record) {
  const Time time = state_.time(record);
  const size_t innermost = state_.timeline.innermost();
  if (innermost != Timeline::npos && state_.timeline.stack()[innermost].level == Level::sync)
    return;
  const uint64_t code = record.as<raw::omp_reduction_begin>().code;
  state_.observe_code(time, code);
  state_.timeline.enter(time, Level::work,
                        state_.construct("reduction", RegionRole::function, teams_.place(code)),
                        kReductionId);
}

void OpenmpConstructs::end(const RawRecord& record, uint64_t id) {
  const size_t depth = find_level(state_.timeline, Level::work, id);
  if (depth != Timeline::npos) teams_.close(state_.time(record), depth);
}

void OpenmpConstructs::cancel(const RawRecord& record) {
  const auto cancelled = record.as<raw::omp_cancel>();
  const Time time = state_.time(record);
  state_.observe_code(time, cancelled.code);
  state_.fact(time, Fact::cancel, cancelled.flags);
}

/// Whether the barrier that has just begun is the one at the end of the region: an implicit task
/// ends directly after it. At the end of the log, a worker's end has not been reported yet.
bool OpenmpConstructs::ends_region(uint16_t kind, RawLog::Cursor ahead) const {
  if (is_region_end(kind)) return true;
  if (!is_unclear(kind)) return false;
  int depth = 1;
  for (RawRecord next; ahead.next(next);) {
    if (depth == 0 && says_something(next.kind)) return next.kind == RawKind::omp_implicit_end;
    const bool begins = next.kind == RawKind::omp_sync_begin;
    const bool ends = next.kind == RawKind::omp_sync_end;
    if (!begins && !ends) continue;
    const uint16_t its_kind = next.as<raw::omp_sync_begin>().kind;
    if (sync_class(its_kind) == SyncClass::barrier) depth += begins ? 1 : -1;
  }
  return teams_.is_worker();
}

void OpenmpConstructs::enter_barrier(Time time, const raw::omp_sync_begin& begun,
                                     const RawLog::Cursor& ahead, uint64_t id) {
  close_work(time);
  if (ends_region(begun.kind, ahead)) {
    state_.timeline.observe_bare(time);
    const RegionId region =
        state_.construct("implicit barrier", RegionRole::implicit_barrier, teams_.team_place());
    return state_.timeline.enter(time, Level::sync, region, id);
  }
  state_.observe_code(time, begun.code);
  // The runtime's own call, from the end of a worksharing construct, has no return address of ours.
  const bool may_end_work = is_implicit(begun.kind) || is_unclear(begun.kind);
  const bool ends_work = may_end_work && begun.code == 0 && teams_.last_work != nullptr;
  const Symbol* where = ends_work ? teams_.last_work : teams_.place(begun.code);
  if (where == nullptr) where = teams_.team_place();
  const RegionId region =
      is_implicit(begun.kind) || ends_work
          ? state_.construct("implicit barrier", RegionRole::implicit_barrier, where)
          : state_.construct("barrier", RegionRole::barrier, where);
  state_.timeline.enter(time, Level::sync, region, id);
}

void OpenmpConstructs::sync_begin(const RawRecord& record, const RawLog::Cursor& ahead, bool wait) {
  if (is_taken_back(ahead)) return;
  const auto begun = record.as<raw::omp_sync_begin>();
  const SyncClass sync = sync_class(begun.kind);
  const uint64_t id = sync_id(sync, wait);
  Timeline& timeline = state_.timeline;
  const size_t innermost = timeline.innermost();
  const bool inside = innermost != Timeline::npos &&
                      timeline.stack()[innermost].level == Level::sync &&
                      timeline.stack()[innermost].id == sync_id(sync, false);
  if (wait && inside) return;  // the whole of it is one region
  const Time time = state_.time(record);
  if (sync == SyncClass::barrier) {
    const bool hidden = begun.region != 0 && teams_.is_hidden(begun.region);
    if (!hidden) enter_barrier(time, begun, ahead, id);
    return;
  }

  const Symbol* where = teams_.place(begun.code);
  if (sync == SyncClass::taskwait) {
    state_.observe_code(time, begun.code);
    timeline.enter(time, Level::sync, state_.construct("taskwait", RegionRole::task_wait, where),
                   id);
  } else if (sync == SyncClass::taskgroup) {
    // The body is the program's own work; only its end waits.
    state_.observe_code(time, begun.code);
    timeline.enter(time, wait ? Level::sync : Level::work,
                   wait ? state_.construct("end taskgroup", RegionRole::task_wait, where)
                        : state_.construct("taskgroup", RegionRole::function, where),
                   id);
  }
}

void OpenmpConstructs::sync_end(const RawRecord& record, bool wait) {
  const uint16_t kind = record.as<raw::omp_sync_end>().kind;
  if ((kind & trace::kRawTakenBack) != 0) return;
  const SyncClass sync = sync_class(kind);
  const Level level = sync == SyncClass::taskgroup && !wait ? Level::work : Level::sync;
  const size_t depth = find_level(state_.timeline, level, sync_id(sync, wait));
  if (depth == Timeline::npos) return;
  teams_.close(teams_.due(state_.time(record)), depth);
}

}  // namespace culprit::assemble
