// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Explicit tasks. Their numbers are drawn per thread (the thread's own count above a number drawn
// once), since programs create millions and one counter for all would be fought over.
#include <atomic>

#include "collector/openmp/callbacks.h"
#include "collector/openmp/ompt_tool.h"

namespace culprit::collector::openmp {

namespace {

constexpr unsigned kTaskBits = 40;

std::atomic<uint64_t> g_creators{0};
constinit thread_local uint64_t t_last_task __attribute__((tls_model("initial-exec"))) = 0;

uint64_t next_task() {
  if (t_last_task == 0) {
    t_last_task = g_creators.fetch_add(1, std::memory_order_relaxed) << kTaskBits;
  }
  return ++t_last_task;
}

/// 0 for implicit tasks and those that began before us.
uint64_t task_number(const ompt_data_t* task) {
  return task == nullptr || (task->value & kImplicitTask) != 0 ? 0 : task->value;
}

void on_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int flags, int,
               const void* codeptr) {
  const uint64_t time = now();
  if ((flags & (ompt_task_initial | ompt_task_implicit)) != 0 || task == nullptr) return;
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  task->value = next_task();
  log->put(RawKind::omp_task_create, time, static_cast<uint16_t>(flags), 0, task->value,
           as_word(codeptr));
}

bool is_over(ompt_task_status_t status) {
  return status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
}

// Fulfilments and completed taskwaits come without a next task: nobody is switched to.
void on_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr || next == nullptr) return;
  Waits& waits = thread_state().waits;
  if (is_over(status)) {
    waits.leave_task(*log);
  } else if (task_number(next) != 0) {
    waits.enter_task(*log);
  }
  log->put(RawKind::omp_task_switch, time, static_cast<uint16_t>(status), 0, task_number(next),
           task_number(prior));
}

}  // namespace

void register_task_callbacks(ompt_set_callback_t set) {
  register_callback(set, ompt_callback_task_create, on_create);
  register_callback(set, ompt_callback_task_schedule, on_schedule);
}

}  // namespace culprit::collector::openmp
