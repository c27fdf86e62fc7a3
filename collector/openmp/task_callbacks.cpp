// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Explicit tasks. Each thread numbers the tasks that it creates (its own count above a number drawn
// once), since programs create millions and one counter for all would be contended.
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

void on_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int flags, int,
               const void* codeptr) {
  const uint64_t time = now();
  if ((flags & (ompt_task_initial | ompt_task_implicit)) != 0 || task == nullptr) return;
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  const uint64_t number = next_task();
  if ((flags & ompt_task_taskwait) != 0) {
    thread_state().taskwaits.begin(task, number);
    thread_state().waits.begin(*log);
  } else {
    task->value = number;
  }
  log->put(time,
           raw::omp_task_create{
               .flags = static_cast<uint32_t>(flags), .task = number, .code = as_word(codeptr)});
}

/// Records the addresses by which tasks are ordered: the runtime's own edges leave out tasks that
/// have ended already. For implicit tasks: the iterations of a loop that wait for each other
/// (doacross).
void on_dependences(ompt_data_t* task, const ompt_dependence_t* list, int count) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  const uint64_t taskwait = thread_state().taskwaits.find(task);
  const uint64_t number = taskwait != 0 ? taskwait : task_number(task);
  constexpr int kMost = 32;
  for (int done = 0; done < count; done += kMost) {
    uint64_t words[2 * kMost];
    unsigned used = 0;
    for (int i = done; i < count && i < done + kMost; ++i) {
      words[used++] = list[i].variable.value;
      words[used++] = static_cast<uint64_t>(list[i].dependence_type);
    }
    log->put(time, raw::omp_task_depends{.task = number}, words, used);
  }
}

void on_edge(ompt_data_t* first, ompt_data_t* second) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr || task_number(first) == 0 || task_number(second) == 0) return;
  log->put(time, raw::omp_task_edge{.first = task_number(first), .second = task_number(second)});
}

bool is_over(ompt_task_status_t status) {
  return status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
}

void on_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  if (next == nullptr) {  // a fulfilment, or a taskwait that is over: no task is switched to
    const uint64_t ended =
        status == ompt_taskwait_complete ? thread_state().taskwaits.end() : task_number(prior);
    if (ended == 0) return;
    if (status == ompt_taskwait_complete) thread_state().waits.end(*log);
    return log->put(
        time, raw::omp_task_fulfilled{.status = static_cast<uint16_t>(status), .task = ended});
  }
  Waits& waits = thread_state().waits;
  if (is_over(status)) {
    waits.leave_task(*log);
  } else if (task_number(next) != 0) {
    waits.enter_task(*log);
  }
  log->put(time, raw::omp_task_switch{.status = static_cast<uint16_t>(status),
                                      .task = task_number(next),
                                      .left = task_number(prior)});
}

}  // namespace

void register_task_callbacks(ompt_set_callback_t set) {
  register_callback(set, ompt_callback_task_create, on_create);
  register_callback(set, ompt_callback_task_schedule, on_schedule);
  register_callback(set, ompt_callback_dependences, on_dependences);
  register_callback(set, ompt_callback_task_dependence, on_edge);
}

}  // namespace culprit::collector::openmp
