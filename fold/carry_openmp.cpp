// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Teams, worksharing, barriers, locks and tasks. Meanings of numbers are OMPT's.
#include "fold/barriers.h"
#include "fold/open_records.h"

namespace culprit::fold {
namespace {

using trace::RawHeader;
using trace::RawKind;

constexpr uint16_t kOtherSingle = 4, kTaskloop = 7;  // ompt_work_t
constexpr uint32_t kTaskwaitFlag = 0x10;             // ompt_task_flag_t
constexpr uint16_t kScopeBegin = 1;                  // ompt_scope_endpoint_t

constexpr raw::Place kLoneTask = raw::place_of(&raw::omp_parallel_begin::lone_task);
static_assert(kLoneTask.half == 0);

/// ompt_task_status_t: complete, cancel, detach.
bool is_left_for_good(uint16_t status) {
  return status == 1 || status == 3 || status == 4;
}

bool opens_team(RawKind kind) {
  return kind == RawKind::omp_parallel_begin || kind == RawKind::omp_implicit_begin;
}

// --- Teams ---

/// The implicit task of a team of one is noted in the record of the fork: it becomes one of its
/// own.
void begin_region(OpenRecords& open) {
  const auto begun = open.as<raw::omp_parallel_begin>();
  const unsigned depth = open.depth();
  open.push();
  if (begun.lone_task == 0 || open.depth() == depth) return;
  open.at(depth).words[kLoneTask.word] &= ~uint64_t{UINT32_MAX};
  const raw::Packed<raw::omp_implicit_begin> joined({.region = begun.region, .team_size = 1});
  const RawHeader header{open.header.time + begun.lone_task, joined.argument, joined.flag_bits,
                         static_cast<uint8_t>(joined.count), RawKind::omp_implicit_begin};
  open.push_other(header, joined.words);
}

void leave_teams(OpenRecords& open) {
  for (unsigned depth = 0; depth < open.depth(); ++depth) {
    if (opens_team(open.kind_at(depth))) return open.pop_all(depth);
  }
}

/// A worker that begins anew has left everything else, whether or not that was reported.
void join_team(OpenRecords& open) {
  const uint64_t region = open.words[0];
  if (region == 0) return;  // the initial task: the program itself
  unsigned opening = open.depth();
  while (opening > 0 && !opens_team(open.kind_at(opening - 1))) --opening;
  const bool own = opening > 0 && open.kind_at(opening - 1) == RawKind::omp_parallel_begin &&
                   open.at(opening - 1).words[0] == region;
  if (!own) leave_teams(open);
  open.push();
}

void leave_team(OpenRecords& open) {
  const uint64_t region = open.words[0];
  open.pop_to(find_outwards(open, RawKind::omp_implicit_begin, [&](unsigned depth) {
    return region == 0 || open.at(depth).words[0] == region;
  }));
}

// --- Where threads meet ---

void count_barrier(const OpenRecords& open, bool begun) {
  const unsigned team = find_team(open);
  if (team != kNotOpen) open.at(team).before += begun ? uint64_t{1} : ~uint64_t{0};
}

unsigned find_sync(const OpenRecords& open, RawKind kind, uint16_t sync) {
  return open.find(kind,
                   [&](unsigned depth) { return sync_class(open.at(depth).header.flags) == sync; });
}

/// Of some barriers only the wait is reported.
void begin_sync(OpenRecords& open) {
  const uint16_t sync = sync_class(open.header.flags);
  if (sync == kReduction) return;
  const bool waits = open.header.kind == RawKind::omp_wait_begin;
  const bool inside = waits && find_sync(open, RawKind::omp_sync_begin, sync) != kNotOpen;
  if (sync == kAnyBarrier && !inside) {
    if (open.is_innermost(RawKind::omp_work_begin)) open.pop_innermost();
    count_barrier(open, true);
  }
  open.push();
}

void end_sync(OpenRecords& open) {
  const uint16_t sync = sync_class(open.header.flags);
  const bool whole = open.header.kind == RawKind::omp_sync_end;
  const unsigned begun =
      find_sync(open, whole ? RawKind::omp_sync_begin : RawKind::omp_wait_begin, sync);
  const bool taken_back = (open.header.flags & trace::kRawTakenBack) != 0;
  if (begun != kNotOpen && taken_back && whole && sync == kAnyBarrier) count_barrier(open, false);
  open.pop_to(begun);
}

// --- Worksharing ---

void begin_work(OpenRecords& open) {
  const uint16_t kind = open.header.flags;
  if (kind == kOtherSingle) return;
  // No worksharing lies inside another one of its team.
  if (kind != kTaskloop && open.is_innermost(RawKind::omp_work_begin)) open.pop_innermost();
  open.push();
}

void carry_worksharing(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::omp_work_begin:
      return begin_work(open);
    case RawKind::omp_work_end:
      return open.pop_to(open.find(RawKind::omp_work_begin, open.same_flags()));
    case RawKind::omp_masked_begin:
    case RawKind::omp_reduction_begin:
    case RawKind::omp_target_begin:
      return open.push();
    case RawKind::omp_masked_end:
      return open.pop_to(open.find(RawKind::omp_masked_begin));
    case RawKind::omp_reduction_end:
      return open.pop_to(open.find(RawKind::omp_reduction_begin));
    case RawKind::omp_target_end:
      return open.pop_to(open.find(RawKind::omp_target_begin, open.same_flags()));
    default:
      return;
  }
}

// --- Tasks ---

unsigned find_task(const OpenRecords& open, uint64_t task) {
  for (unsigned depth = open.depth(); depth-- > 0;) {
    const RawKind kind = open.kind_at(depth);
    if (kind == RawKind::omp_task_switch && open.at(depth).words[0] == task) return depth;
    if (kind == RawKind::omp_implicit_begin) break;
  }
  return kNotOpen;
}

/// The first task that was begun inside what is open at `depth` (kNotOpen: inside everything).
unsigned task_inside(const OpenRecords& open, unsigned depth) {
  for (unsigned i = depth == kNotOpen ? 0 : depth + 1; i < open.depth(); ++i) {
    if (open.kind_at(i) == RawKind::omp_task_switch) return i;
  }
  return kNotOpen;
}

/// All tasks inside the one that is resumed are left, or the one that yields.
void switch_task(OpenRecords& open) {
  const auto [status, next, left] = open.as<raw::omp_task_switch>();
  if (next == 0) return open.pop_to(task_inside(open, find_team(open)));
  const unsigned resumed = find_task(open, next);
  if (resumed != kNotOpen) return open.pop_to(task_inside(open, resumed));
  if (left != 0 && is_left_for_good(status)) open.pop_to(find_task(open, left));
  if (next != left) open.push();
}

}  // namespace

void carry_openmp(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::omp_thread_begin:
      return open.hold(kLatest, static_cast<uint64_t>(RawKind::omp_thread_begin));
    case RawKind::omp_thread_end:
      return leave_teams(open);
    case RawKind::omp_parallel_begin:
      return begin_region(open);
    case RawKind::omp_parallel_end:
      return open.pop_to(find_outwards(open, RawKind::omp_parallel_begin, open.same_word(0)));
    case RawKind::omp_implicit_begin:
      return join_team(open);
    case RawKind::omp_implicit_end:
      return leave_team(open);
    case RawKind::omp_sync_begin:
    case RawKind::omp_wait_begin:
      return begin_sync(open);
    case RawKind::omp_sync_end:
    case RawKind::omp_wait_end:
      return end_sync(open);
    default:
      return carry_worksharing(open);
  }
}

void carry_lock(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::omp_mutex_acquire: {
      const auto wanted = open.as<raw::omp_mutex_acquire>();
      if (wanted.released_after != 0) return;
      return wanted.acquired_after != 0 ? open.hold(kLocks, wanted.mutex) : open.push();
    }
    case RawKind::omp_mutex_acquired:
      open.pop_to(open.find(RawKind::omp_mutex_acquire, open.same_word(0)));
      return open.hold(kLocks, open.words[0]);
    case RawKind::omp_mutex_released:
      open.release(kLocks, open.words[0]);
      return;
    case RawKind::omp_nest_lock:
      if (open.header.flags == kScopeBegin) {
        open.pop_to(open.find(RawKind::omp_mutex_acquire, open.same_word(0)));
      }
      return;
    default:
      return;
  }
}

void carry_task(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::omp_task_create:
      if ((open.header.arg & kTaskwaitFlag) != 0) open.push();
      return;
    case RawKind::omp_task_fulfilled:
      return open.pop_to(open.find(RawKind::omp_task_create, open.same_word(0)));
    case RawKind::omp_task_switch:
      return switch_task(open);
    default:
      return;
  }
}

}  // namespace culprit::fold
