// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Constructs inside a region. Kinds are recorded as the runtime names them, whether the standard
// has deprecated them or not; their meaning is the assembler's business. Begins without an end
// happen (gcc programs' single), so nothing here relies on pairs. Chunks of loops are only counted:
// a loop may have as many as iterations, and only their distribution over threads matters.
#include "collector/openmp/callbacks.h"
#include "collector/openmp/fork_board.h"
#include "collector/openmp/ompt_tool.h"

namespace culprit::collector::openmp {

namespace {

/// Whether iterations of this construct are distributed. Other constructs may lie inside a loop,
/// and must leave its share alone.
bool is_shared_out(ompt_work_t type) {
  return type != ompt_work_single_executor && type != ompt_work_single_other &&
         type != ompt_work_workshare && type != ompt_work_taskloop && type != ompt_work_scope;
}

void on_work(ompt_work_t type, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*,
             uint64_t count, const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  const auto kind = static_cast<uint16_t>(type);
  if (endpoint != ompt_scope_end) {
    log->put(time, raw::omp_work_begin{.kind = kind, .code = as_word(codeptr), .count = count});
  }
  if (endpoint != ompt_scope_begin) {
    LoopShare none{};
    LoopShare& share = is_shared_out(type) ? thread_state().regions.loop() : none;
    log->put(time, raw::omp_work_end{
                       .kind = kind, .chunks = share.chunks, .iterations = share.iterations});
    share = {};
  }
}

void on_dispatch(ompt_data_t*, ompt_data_t*, ompt_dispatch_t kind, ompt_data_t instance) {
  if (!alive()) return;
  LoopShare& share = thread_state().regions.loop();
  if (kind == ompt_dispatch_section) {
    share.chunks += 1;
    share.iterations += 1;
  } else if (kind == ompt_dispatch_ws_loop_chunk || kind == ompt_dispatch_distribute_chunk) {
    share.chunks += 1;
    share.iterations += static_cast<const ompt_dispatch_chunk_t*>(instance.ptr)->iterations;
  }
}

void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  if (endpoint != ompt_scope_end) {
    log->put(time, raw::omp_masked_begin{.code = as_word(codeptr)});
  }
  if (endpoint != ompt_scope_begin) log->put(time, raw::omp_masked_end{});
}

/// Records of threads that synchronise, and of their waits: both have the same fields.
template <class Record>
void put_meeting(ThreadLog& log, uint64_t time, ompt_sync_region_t type, const void* codeptr,
                 uint64_t region) {
  log.put(time,
          Record{.kind = static_cast<uint16_t>(type), .code = as_word(codeptr), .region = region});
}

/// Of the end of a meeting. One that is reported late (`parallel` is null) says when the region was
/// over.
void put_end(ThreadLog& log, uint64_t time, ompt_sync_region_t type, const ompt_data_t* parallel,
             const void* codeptr, uint64_t region) {
  log.put(time,
          raw::omp_sync_end{.kind = static_cast<uint16_t>(type),
                            .code = as_word(codeptr),
                            .region = region,
                            .joined = parallel == nullptr ? g_fork_board.find(region).joined : 0});
}

void on_sync(ompt_sync_region_t type, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel,
             ompt_data_t*, const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  const uint64_t region = thread_state().regions.top();
  if (endpoint != ompt_scope_end) {
    if (log->counting) log->count(time);
    put_meeting<raw::omp_sync_begin>(*log, time, type, codeptr, region);
  }
  if (endpoint != ompt_scope_begin) {
    // A worker's late barrier end (`parallel` is null) would count later work, too: counters are
    // not read then.
    if (log->counting && parallel != nullptr) log->count(time);
    put_end(*log, time, type, parallel, codeptr, region);
  }
}

/// Where a construct is waiting from begin to end, one record stands for both.
void on_sync_and_wait(ompt_sync_region_t type, ompt_scope_endpoint_t endpoint,
                      ompt_data_t* parallel, ompt_data_t*, const void* codeptr) {
  const uint64_t time = callback_time();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  ThreadState& state = thread_state();
  const bool begins = endpoint == ompt_scope_begin;
  if (log->counting && (begins || parallel != nullptr)) log->count(time);
  const uint64_t region = state.regions.top();
  if (begins) {
    state.waits.begin(*log);
    put_meeting<raw::omp_sync_begin>(*log, time, type, codeptr, region);
  } else {
    put_end(*log, time, type, parallel, codeptr, region);
    state.waits.end(*log);
  }
}

void on_wait(ompt_sync_region_t type, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*,
             const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  ThreadState& state = thread_state();
  const uint64_t region = state.regions.top();
  if (endpoint != ompt_scope_end) {
    state.waits.begin(*log);
    put_meeting<raw::omp_wait_begin>(*log, time, type, codeptr, region);
  }
  if (endpoint != ompt_scope_begin) {
    put_meeting<raw::omp_wait_end>(*log, time, type, codeptr, region);
    state.waits.end(*log);
  }
}

void on_reduction(ompt_sync_region_t, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*,
                  const void* codeptr) {
  const uint64_t time = now();
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  if (endpoint != ompt_scope_end) {
    log->put(time, raw::omp_reduction_begin{.code = as_word(codeptr)});
  }
  if (endpoint != ompt_scope_begin) log->put(time, raw::omp_reduction_end{});
}

void on_cancel(ompt_data_t*, int flags, const void* codeptr) {
  const uint64_t time = now();
  if (ThreadLog* log = live_log()) {
    log->put(time,
             raw::omp_cancel{.flags = static_cast<uint16_t>(flags), .code = as_word(codeptr)});
  }
}

}  // namespace

ompt_callback_sync_region_t sync_and_wait_callback() {
  return on_sync_and_wait;
}

void register_construct_callbacks(ompt_set_callback_t set, bool work) {
  if (work) {
    register_callback(set, ompt_callback_work, on_work);
    register_callback(set, ompt_callback_dispatch, on_dispatch);
    register_callback(set, ompt_callback_masked, on_masked);
    register_callback(set, ompt_callback_reduction, on_reduction);
    register_callback(set, ompt_callback_cancel, on_cancel);
  }
  register_callback(set, ompt_callback_sync_region, on_sync);
  register_callback(set, ompt_callback_sync_region_wait, on_wait);
}

}  // namespace culprit::collector::openmp
