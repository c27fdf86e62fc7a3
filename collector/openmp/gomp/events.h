// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The callbacks of the OMPT tool, called by the stand-ins for libgomp's functions as an OMPT
// runtime would call them. Callbacks that are not wanted (`--without`) do nothing.
#pragma once

#include <omp-tools.h>

namespace culprit::collector::openmp::gomp {

struct Events {
  ompt_callback_thread_begin_t thread_begin;
  ompt_callback_parallel_begin_t parallel_begin;
  ompt_callback_parallel_end_t parallel_end;
  ompt_callback_parallel_end_t leave;  ///< region's end for the forking thread; it ends the
                                       ///< implicit task, too
  ompt_callback_implicit_task_t implicit_task;
  ompt_callback_work_t work;
  ompt_callback_dispatch_t dispatch;
  ompt_callback_cancel_t cancel;
  ompt_callback_sync_region_t sync;
  ompt_callback_sync_region_t wait;
  ompt_callback_sync_region_t sync_and_wait;
  ompt_callback_mutex_acquire_t acquire;
  ompt_callback_mutex_t acquired;
  ompt_callback_mutex_t released;
  ompt_callback_nest_lock_t nest_lock;
  ompt_callback_mutex_acquire_t lock_init;
  ompt_callback_mutex_t lock_destroy;
  ompt_callback_task_create_t task_create;
  ompt_callback_task_schedule_t task_schedule;
  ompt_callback_dependences_t dependences;
  ompt_callback_target_emi_t target;
  bool wants_tasks = false;  ///< whether the three task callbacks are wanted; if not, tasks need no
                             ///< label
};

/// Set before the first stand-in is called, and not changed then.
extern Events g_events;

/// As ompt_set_callback: takes the tool's callbacks into g_events.
ompt_set_result_t keep_callback(ompt_callbacks_t which, ompt_callback_t callback);

/// A thread waits in a construct of this kind, from `begin_wait` to `end_wait`. `region` as in
/// OMPT: nullptr if the end is reported late.
void begin_wait(ompt_sync_region_t kind, ompt_data_t* region, const void* code);
void end_wait(ompt_sync_region_t kind, ompt_data_t* region, const void* code);

/// The thread waits in such a construct during the life of this object.
class WaitHere {
 public:
  WaitHere(ompt_sync_region_t kind, const void* code) : kind_(kind), code_(code) {
    begin_wait(kind_, &here_, code_);
  }
  ~WaitHere() { end_wait(kind_, &here_, code_); }
  WaitHere(const WaitHere&) = delete;
  WaitHere& operator=(const WaitHere&) = delete;

 private:
  ompt_sync_region_t kind_;
  const void* code_;
  ompt_data_t here_ = {1};
};

}  // namespace culprit::collector::openmp::gomp
