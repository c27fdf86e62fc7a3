// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The numbers of kinds are OMPT's (OpenMP 5.2, section 19.4.4), which raw records carry unchanged.
#include "fold/potential/change_reader.h"

#include <algorithm>

#include "fold/barriers.h"

namespace culprit::fold {

namespace {

// ompt_sync_region_t
constexpr uint16_t kTaskwait = 5, kTaskgroup = 6;
// ompt_mutex_t
constexpr uint16_t kTestLock = 2, kTestNestLock = 4, kOrdered = 7;
// ompt_task_flag_t
constexpr uint32_t kTaskwaitTask = 0x10, kUndeferred = 0x08000000;
// ompt_task_status_t
constexpr uint16_t kComplete = 1, kCancel = 3, kDetach = 4, kLateFulfill = 6, kTaskwaitComplete = 8;

uint32_t region_of(uint64_t number) {
  return static_cast<uint32_t>(number);
}

}  // namespace

void ChangeReader::see(const Record& record, ChangeList& list) {
  const uint64_t time = record.time;
  switch (record.kind) {
    case RawKind::mpi_enter:
      return list.add(time, ChangeKind::mpi_entered);
    case RawKind::mpi_leave:
      return list.add(time, ChangeKind::mpi_left);
    case RawKind::mpi_tests:
      see_tests(record, true, list);
      notes_ = 0;
      return;
    case RawKind::omp_parallel_begin:
    case RawKind::omp_parallel_end:
    case RawKind::omp_implicit_begin:
    case RawKind::omp_implicit_end:
      return see_region(record, list);
    case RawKind::omp_sync_begin:
    case RawKind::omp_sync_end:
      return see_sync(time, record.as<raw::omp_sync_begin>(),
                      record.kind == RawKind::omp_sync_begin, false, list);
    case RawKind::omp_wait_begin:
    case RawKind::omp_wait_end:
      return see_sync(time, record.as<raw::omp_sync_begin>(),
                      record.kind == RawKind::omp_wait_begin, true, list);
    case RawKind::omp_task_create:
    case RawKind::omp_task_depends:
    case RawKind::omp_task_switch:
    case RawKind::omp_task_fulfilled:
      return see_task(record, list);
    case RawKind::omp_mutex_acquire:
    case RawKind::omp_mutex_acquired:
    case RawKind::omp_mutex_released:
    case RawKind::omp_nest_lock:
      return see_mutex(record, list);
    case RawKind::thread_begun:
      return list.add(time, ChangeKind::begun, record.flags == trace::kRawNestedThread ? 1 : 0);
    case RawKind::omp_thread_end:
      return list.add(time, ChangeKind::ended, 1);
    case RawKind::thread_ended:
      return list.add(time, ChangeKind::ended, record.flags == trace::kRawPoolThread ? 1 : 0);
    case RawKind::recording_off:
      return list.add(time, ChangeKind::recording_off);
    case RawKind::recording_on:
      return list.add(time, ChangeKind::recording_on);
    default:
      return;
  }
}

void ChangeReader::see_region(const Record& record, ChangeList& list) {
  const uint64_t time = record.time;
  const uint32_t region = region_of(record.kind == RawKind::omp_parallel_begin
                                        ? record.as<raw::omp_parallel_begin>().region
                                        : record.w[0]);
  if (region == 0) return;
  switch (record.kind) {
    case RawKind::omp_parallel_begin:
      if (record.as<raw::omp_parallel_begin>().lone_task != 0) return lone_.push(region);
      return list.add_fork(time, region);
    case RawKind::omp_implicit_begin: {
      const uint64_t size = record.as<raw::omp_implicit_begin>().team_size;
      list.set_size(region, size);
      return list.add(time, ChangeKind::team_entered, team_of(region, size));
    }
    case RawKind::omp_parallel_end:
      if (!lone_.pop(region)) list.add(time, ChangeKind::joined, region);
      return;
    default:
      if (!lone_.has(region)) list.add(time, ChangeKind::team_left, region);
  }
}

/// `part`: the waiting alone was recorded, inside of the construct or without it.
void ChangeReader::see_sync(uint64_t time, const raw::omp_sync_begin& sync, bool begins, bool part,
                            ChangeList& list) {
  const uint16_t kind = sync_class(sync.kind);
  const bool taken_back = (sync.kind & trace::kRawTakenBack) != 0;
  if (kind == kReduction || (part && in_sync_)) return;
  const uint32_t region = region_of(sync.region);
  if (kind == kTaskgroup) {
    if (part) return list.add(time, begins ? ChangeKind::wait_begun : ChangeKind::wait_ended, 1);
    return list.add(time, begins ? ChangeKind::group_begun : ChangeKind::group_ended);
  }
  if (!part) in_sync_ = begins;
  if (kind == kTaskwait) {
    return list.add(time, begins ? ChangeKind::wait_begun : ChangeKind::wait_ended);
  }
  if (lone_.has(region)) return;
  list.add(time,
           begins       ? ChangeKind::arrived
           : taken_back ? ChangeKind::taken_back
                        : ChangeKind::departed,
           region);
}

void ChangeReader::see_task(const Record& record, ChangeList& list) {
  const uint64_t time = record.time;
  switch (record.kind) {
    case RawKind::omp_task_create: {
      const auto created = record.as<raw::omp_task_create>();
      last_task_ = (created.flags & kTaskwaitTask) != 0 ? 0 : created.task;
      if (last_task_ == 0) return list.add(time, ChangeKind::wait_begun);
      list.add(time, ChangeKind::task_created, folded(created.task));
      if ((created.flags & kUndeferred) == 0) return;
      return list.add(time, ChangeKind::task_ordered, folded(created.task));
    }
    case RawKind::omp_task_depends:
      if (last_task_ == 0 || record.w[0] != last_task_) return;
      return list.add(time, ChangeKind::task_ordered, folded(last_task_));
    case RawKind::omp_task_switch: {
      const auto [status, next, left] = record.as<raw::omp_task_switch>();
      if (status == kComplete || status == kCancel) {
        if (left != 0) list.add(time, ChangeKind::task_ended, folded(left));
      } else if (next == 0 || status == kDetach) {
        list.add(time, ChangeKind::task_left, next == 0 ? 0 : folded(left));
      }
      if (next != 0) list.add(time, ChangeKind::task_entered, folded(next));
      return;
    }
    default: {
      const auto [status, task] = record.as<raw::omp_task_fulfilled>();
      if (status == kTaskwaitComplete) return list.add(time, ChangeKind::wait_ended);
      if (status == kLateFulfill) list.add(time, ChangeKind::task_ended, folded(task));
      return;
    }
  }
}

void ChangeReader::see_mutex(const Record& record, ChangeList& list) {
  if (record.kind == RawKind::omp_mutex_acquire) {
    see_acquire(record, list);
    notes_ = 0;
    return;
  }
  const bool released = record.kind == RawKind::omp_mutex_released;
  list.add(record.time, released ? ChangeKind::lock_released : ChangeKind::lock_acquired,
           folded(record.w[0]));
}

void ChangeReader::see_acquire(const Record& record, ChangeList& list) {
  const uint64_t time = record.time;
  const auto wanted = record.as<raw::omp_mutex_acquire>();
  const bool may_wait = wanted.kind != kTestLock && wanted.kind != kTestNestLock;
  if (notes_ < 1 && may_wait) {
    const bool turn = wanted.kind == kOrdered;
    list.add(time, turn ? ChangeKind::turn_wanted : ChangeKind::lock_wanted, folded(wanted.mutex));
  }
  if (wanted.acquired_after != 0 && notes_ < 2) {
    list.add(time + wanted.acquired_after, ChangeKind::lock_acquired, folded(wanted.mutex));
  }
  const bool is_released = wanted.acquired_after != 0 && wanted.released_after != 0;
  if (is_released && notes_ < 3) {
    list.add(time + wanted.released_after, ChangeKind::lock_released, folded(wanted.mutex));
  }
  notes_ = is_released ? 3 : wanted.acquired_after != 0 ? 2 : 1;
}

/// Tests for messages count as MPI: all of the time if the thread did little else, or else as much
/// of it as they took, at its end.
void ChangeReader::see_tests(const Record& record, bool is_final, ChangeList& list) {
  const uint64_t time = record.time;
  const auto tests = record.as<raw::mpi_tests>();
  if (tests.until <= time) return;
  const uint64_t all = tests.until - time, inside = std::min(tests.inside, all);
  const bool little_else = inside >= all - inside;
  if (notes_ == 0 && (little_else || is_final)) {
    list.add(little_else ? time : tests.until - inside, ChangeKind::mpi_entered);
    notes_ = 1;
  }
  if (is_final) list.add(tests.until, ChangeKind::mpi_left);
}

size_t ChangeReader::see_all(std::span<const std::byte> records, bool grows, ChangeList& list) {
  size_t at = 0;
  while (at + sizeof(trace::RawHeader) <= records.size() && list.has_room()) {
    const Record record = record_at(records.data() + at);
    const size_t next = at + sizeof(trace::RawHeader) + record.words * sizeof(uint64_t);
    if (record.kind == RawKind::none || next > records.size()) break;
    if (grows && next == records.size() && trace::may_grow(record.kind)) {
      const GrowingRecord copy(records.data() + at);
      if (record.kind == RawKind::omp_mutex_acquire) see_acquire(copy.record(), list);
      if (record.kind == RawKind::mpi_tests) see_tests(copy.record(), false, list);
      break;
    }
    if (record.words >= trace::facts_of(record.kind).words) see(record, list);
    at = next;
  }
  return at;
}

}  // namespace culprit::fold
