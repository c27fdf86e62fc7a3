// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An acquisition that was announced and never came failed (a test of a lock), and leaves no event
// but the call itself.
#include "assemble/openmp/mutexes.h"

#include <string>

#include "assemble/openmp/ompt_names.h"

namespace culprit::assemble {
namespace {

using trace::Fact;
using trace::RawKind;
using trace::RegionRole;

constexpr uint16_t kScopeBegin = 1;  // ompt_scope_endpoint_t

/// Whether a call for a lock returned without it. Tests that fail have a beginning only, and some
/// runtimes report them like any acquire; but a waiting thread has no other records, except for the
/// end by a signal.
bool has_failed(const MutexName& mutex, RawLog::Cursor ahead) {
  if (!mutex.is_call) return false;
  for (RawRecord next; ahead.next(next);) {
    if (next.kind == RawKind::process_end) break;
    if (!says_something(next.kind)) continue;
    return next.kind != RawKind::omp_mutex_acquired && next.kind != RawKind::omp_nest_lock;
  }
  return mutex.is_test;
}

}  // namespace

void OpenmpMutexes::acquire(const RawRecord& record, const RawLog::Cursor& ahead) {
  const auto wanted = record.as<raw::omp_mutex_acquire>();
  const Time time = state_.time(record);
  const MutexName mutex = mutex_name(wanted.kind);
  Regions& regions = state_.process.regions;
  state_.observe_code(time, wanted.code);
  const RegionId region =
      mutex.is_call ? regions.openmp_call(mutex.name, RegionRole::lock)
                    : state_.construct(mutex.name, RegionRole::critical, teams_.place(wanted.code));
  Timeline& timeline = state_.timeline;
  timeline.enter(time, Level::sync, region, kLockIds + wanted.mutex);
  if (has_failed(mutex, ahead)) timeline.leave(time, timeline.innermost());
}

void OpenmpMutexes::acquired(const RawRecord& record) {
  const auto got = record.as<raw::omp_mutex_acquired>();
  const Time time = state_.time(record);
  const MutexName mutex = mutex_name(got.kind);
  Timeline& timeline = state_.timeline;
  const size_t depth = find_level(timeline, Level::sync, kLockIds + got.mutex);
  timeline.observe_nothing(time);
  const Time acquired = timeline.advance(time);
  timeline.sink().mutex_acquired(acquired, mutex.kind, got.mutex);
  if (depth == Timeline::npos) return;
  if (mutex.is_call) return teams_.close(time, depth);
  timeline.enter(time, Level::mutex,
                 state_.construct(std::string(mutex.name) + " body", RegionRole::function,
                                  teams_.place(got.code)),
                 kLockIds + got.mutex);
}

void OpenmpMutexes::released(const RawRecord& record) {
  const auto given = record.as<raw::omp_mutex_released>();
  const Time time = state_.time(record);
  Timeline& timeline = state_.timeline;
  timeline.observe_nothing(time);
  const Time released = timeline.advance(time);
  timeline.sink().mutex_released(released, mutex_name(given.kind).kind, given.mutex);
  const size_t depth = find_level(timeline, Level::sync, kLockIds + given.mutex);
  if (depth != Timeline::npos) teams_.close(time, depth);
}

/// The holder has it once more, or once less.
void OpenmpMutexes::nested(const RawRecord& record) {
  const auto nested = record.as<raw::omp_nest_lock>();
  const Time time = state_.time(record);
  const bool set = nested.endpoint == kScopeBegin;
  state_.fact(time, set ? Fact::nested_acquire : Fact::nested_release, nested.mutex);
  const size_t depth = find_level(state_.timeline, Level::sync, kLockIds + nested.mutex);
  if (set && depth != Timeline::npos) teams_.close(time, depth);
}

void OpenmpMutexes::init(const RawRecord& record) {
  state_.fact(state_.time(record), Fact::lock_init, record.as<raw::omp_lock_init>().mutex);
}

void OpenmpMutexes::destroy(const RawRecord& record) {
  state_.fact(state_.time(record), Fact::lock_destroy, record.as<raw::omp_lock_destroy>().mutex);
}

}  // namespace culprit::assemble
