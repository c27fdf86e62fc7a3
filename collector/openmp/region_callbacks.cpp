// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parallel regions get numbers of our own, unique in the process. A worker's end of a region
// arrives only when the next region starts or the runtime shuts down, without the region's data:
// the region comes from our own stack, and the end is recorded when it arrives; the assembler knows
// when it was due. Initial tasks are no teams, except those of a league.
#include <atomic>

#include "collector/openmp/callbacks.h"
#include "collector/openmp/fork_board.h"
#include "collector/openmp/ompt_tool.h"

namespace culprit::collector::openmp {

constinit ForkBoard g_fork_board;

namespace {

std::atomic<uint64_t> g_last_region{0};

void on_thread_begin(ompt_thread_t type, ompt_data_t*) {
  const uint64_t time = now();
  if (ThreadLog* log = live_log()) {
    log->put(time, raw::omp_thread_begin{.kind = static_cast<uint16_t>(type)});
  }
}

void on_thread_end(ompt_data_t*) {
  const uint64_t time = now();
  if (ThreadLog* log = live_log()) {
    thread_state().waits.clear(*log);
    log->put(time, raw::omp_thread_end{});
  }
}

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned,
                       int flags, const void* codeptr) {
  const uint64_t time = callback_time();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  const uint64_t region = g_last_region.fetch_add(1, std::memory_order_relaxed) + 1;
  if (parallel != nullptr) parallel->value = region;
  const auto path = static_cast<uint32_t>(log->current_path());
  g_fork_board.note_fork(region, uint64_t{log->number} << 32 | path, time);
  if (log->counting) log->count(time);
  log->put(time, raw::omp_parallel_begin{.path = path,
                                         .league = (flags & ompt_parallel_league) != 0,
                                         .region = region,
                                         .code = as_word(codeptr)});
}

void on_parallel_end(ompt_data_t* parallel, ompt_data_t*, int, const void*) {
  const uint64_t time = callback_time();
  ThreadLog* log = live_log();
  if (log == nullptr || parallel == nullptr) return;
  g_fork_board.note_join(parallel->value, time);
  if (log->counting) log->count(time);
  log->put(time, raw::omp_parallel_end{.region = parallel->value});
}

void begin_implicit(ThreadLog& log, uint64_t time, uint64_t region, unsigned team_size,
                    unsigned index) {
  ThreadState& state = thread_state();
  state.waits.clear(log);
  state.regions.push(region);
  if (region == 0) return;
  if (log.counting) log.count(time);
  if (team_size == 1 && log.note(&raw::omp_parallel_begin::lone_task, time, 0, region)) {
    return;
  }
  raw::omp_implicit_begin begun{.region = region, .team_size = team_size, .index = index};
  if (index != 0) {
    const ForkNote note = g_fork_board.find(region);
    begun.fork = note.fork;
    begun.forked = note.forked;
  }
  log.put(time, begun);
}

void end_implicit(ThreadLog& log, uint64_t time, const ompt_data_t* parallel) {
  ThreadState& state = thread_state();
  state.waits.clear(log);
  const uint64_t region = state.regions.pop(parallel != nullptr ? parallel->value : 0);
  if (region != 0) log.put(time, raw::omp_implicit_end{.region = region});
}

/// Where the forking thread ends its implicit task by leaving the region, one record stands for
/// both.
void on_leave(ompt_data_t* parallel, ompt_data_t*, int, const void*) {
  const uint64_t time = callback_time();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  ThreadState& state = thread_state();
  state.waits.clear(*log);
  state.regions.pop(parallel->value);
  g_fork_board.note_join(parallel->value, time);
  if (log->counting) log->count(time);
  log->put(time, raw::omp_parallel_end{.region = parallel->value});
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t*,
                      unsigned team_size, unsigned index, int) {
  const uint64_t time = callback_time();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  if (endpoint != ompt_scope_end) {
    begin_implicit(*log, time, parallel != nullptr ? parallel->value : 0, team_size, index);
  }
  if (endpoint != ompt_scope_begin) end_implicit(*log, time, parallel);
}

}  // namespace

ompt_callback_parallel_end_t leave_callback() {
  return on_leave;
}

void register_region_callbacks(ompt_set_callback_t set) {
  register_callback(set, ompt_callback_thread_begin, on_thread_begin);
  register_callback(set, ompt_callback_thread_end, on_thread_end);
  register_callback(set, ompt_callback_parallel_begin, on_parallel_begin);
  register_callback(set, ompt_callback_parallel_end, on_parallel_end);
  register_callback(set, ompt_callback_implicit_task, on_implicit_task);
}

}  // namespace culprit::collector::openmp
