// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Work that host threads do for devices: target constructs, copies and allocations, kernel
// launches. Only the host's side is recorded: the device's own activity is no event of this thread.
#include "collector/openmp/callbacks.h"
#include "collector/openmp/ompt_tool.h"

namespace culprit::collector::openmp {

namespace {

using trace::RawTarget;

uint16_t what_of(RawTarget what, int code) {
  return static_cast<uint16_t>(static_cast<unsigned>(what) << 8 |
                               (static_cast<unsigned>(code) & 0xff));
}

void record(uint64_t time, ompt_scope_endpoint_t endpoint, uint16_t what, int device,
            const void* codeptr, uint64_t count) {
  ThreadLog* log = live_log();
  if (log == nullptr) return;
  if (endpoint != ompt_scope_end) {
    log->put(time, raw::omp_target_begin{.device = static_cast<uint32_t>(device),
                                         .what = what,
                                         .code = as_word(codeptr),
                                         .count = count});
  }
  if (endpoint != ompt_scope_begin) log->put(time, raw::omp_target_end{.what = what});
}

void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t*,
               ompt_data_t*, ompt_data_t*, const void* codeptr) {
  record(now(), endpoint, what_of(RawTarget::construct, kind), device, codeptr, 0);
}

void on_data_op(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, ompt_id_t*,
                ompt_target_data_op_t kind, void*, int from, void*, int to, size_t bytes,
                const void* codeptr) {
  const bool from_device = kind == ompt_target_data_transfer_from_device ||
                           kind == ompt_target_data_transfer_from_device_async ||
                           kind == ompt_target_data_delete || kind == ompt_target_data_delete_async;
  record(now(), endpoint, what_of(RawTarget::data, kind), from_device ? from : to, codeptr, bytes);
}

void on_submit(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_id_t*, unsigned teams) {
  record(now(), endpoint, what_of(RawTarget::submit, 0), 0, nullptr, teams);
}

}  // namespace

void register_target_callbacks(ompt_set_callback_t set) {
  register_callback(set, ompt_callback_target_emi, on_target);
  register_callback(set, ompt_callback_target_data_op_emi, on_data_op);
  register_callback(set, ompt_callback_target_submit_emi, on_submit);
}

}  // namespace culprit::collector::openmp
