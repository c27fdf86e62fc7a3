// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where the callbacks are kept that libgomp's stand-ins call.
#include "collector/openmp/gomp/events.h"

#include "collector/openmp/callbacks.h"

namespace culprit::collector::openmp::gomp {

namespace {

template <class... Arguments>
void ignore(Arguments...) {}

template <class Callback>
ompt_set_result_t keep(Callback& place, ompt_callback_t callback) {
  place = reinterpret_cast<Callback>(callback);
  return ompt_set_always;
}

}  // namespace

constinit Events g_events = {ignore, ignore, ignore, ignore, ignore, ignore, ignore,
                             ignore, ignore, ignore, ignore, ignore, ignore, ignore,
                             ignore, ignore, ignore, ignore, ignore, ignore, ignore};

ompt_set_result_t keep_callback(ompt_callbacks_t which, ompt_callback_t callback) {
  switch (which) {
    case ompt_callback_thread_begin:
      return keep(g_events.thread_begin, callback);
    case ompt_callback_parallel_begin:
      return keep(g_events.parallel_begin, callback);
    case ompt_callback_parallel_end:
      g_events.leave = leave_callback();
      return keep(g_events.parallel_end, callback);
    case ompt_callback_implicit_task:
      return keep(g_events.implicit_task, callback);
    case ompt_callback_work:
      return keep(g_events.work, callback);
    case ompt_callback_dispatch:
      return keep(g_events.dispatch, callback);
    case ompt_callback_cancel:
      return keep(g_events.cancel, callback);
    case ompt_callback_sync_region:
      g_events.sync_and_wait = sync_and_wait_callback();
      return keep(g_events.sync, callback);
    case ompt_callback_sync_region_wait:
      return keep(g_events.wait, callback);
    case ompt_callback_mutex_acquire:
      return keep(g_events.acquire, callback);
    case ompt_callback_mutex_acquired:
      return keep(g_events.acquired, callback);
    case ompt_callback_mutex_released:
      return keep(g_events.released, callback);
    case ompt_callback_nest_lock:
      return keep(g_events.nest_lock, callback);
    case ompt_callback_lock_init:
      return keep(g_events.lock_init, callback);
    case ompt_callback_lock_destroy:
      return keep(g_events.lock_destroy, callback);
    case ompt_callback_task_create:
      g_events.wants_tasks = true;
      return keep(g_events.task_create, callback);
    case ompt_callback_task_schedule:
      return keep(g_events.task_schedule, callback);
    case ompt_callback_dependences:
      return keep(g_events.dependences, callback);
    case ompt_callback_target_emi:
      return keep(g_events.target, callback);
    default:
      return ompt_set_never;
  }
}

void begin_wait(ompt_sync_region_t kind, ompt_data_t* region, const void* code) {
  g_events.sync_and_wait(kind, ompt_scope_begin, region, nullptr, code);
}

void end_wait(ompt_sync_region_t kind, ompt_data_t* region, const void* code) {
  g_events.sync_and_wait(kind, ompt_scope_end, region, nullptr, code);
}

}  // namespace culprit::collector::openmp::gomp
