// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Small stacks in the thread's own memory. Levels beyond their size are only counted, so that the
// outer ones come out right again.
#include "collector/openmp/thread_state.h"

namespace culprit::collector::openmp {

namespace {

constinit thread_local ThreadState t_state __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

ThreadState& thread_state() {
  return t_state;
}

uint64_t RegionStack::pop(uint64_t region) {
  if (depth_ == 0) return region;
  if (depth_ > kMax) {
    --depth_;
    return region;
  }
  uint32_t at = depth_;
  while (region != 0 && at > 0 && regions_[at - 1] != region) --at;
  depth_ = (at > 0 ? at : depth_) - 1;
  return regions_[depth_];
}

void Waits::clear(ThreadLog& log) {
  change(log, -current_);
  for_mutex_ = false;
  depth_ = 0;
}

void Waits::enter_task(ThreadLog& log) {
  if (depth_ < kMax) outer_[depth_] = current_;
  ++depth_;
  change(log, -current_);
  for_mutex_ = false;
}

void Waits::leave_task(ThreadLog& log) {
  if (depth_ == 0) return;
  --depth_;
  change(log, (depth_ < kMax ? outer_[depth_] : 0) - current_);
  for_mutex_ = false;
}

void Waits::begin_mutex(ThreadLog& log) {
  if (for_mutex_) return;
  for_mutex_ = true;
  begin(log);
}

void Waits::end_mutex(ThreadLog& log) {
  if (!for_mutex_) return;
  for_mutex_ = false;
  end(log);
}

}  // namespace culprit::collector::openmp
