// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Measures on a scratch log, with the clock that costs nothing to convert. The best of a few
// batches counts: interruptions can only add time.
#include "collector/recorder/calibration.h"

#include <time.h>

#include "collector/process/recorder.h"
#include "collector/recorder/thread_registry.h"

namespace culprit::collector {

namespace {

constexpr unsigned kBatches = 5;
constexpr unsigned kBatch = 500;

uint64_t nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

template <class Operation>
uint32_t cost_ps(Operation operation) {
  uint64_t best = ~uint64_t{0};
  for (unsigned batch = 0; batch < kBatches; ++batch) {
    const uint64_t begin = nanoseconds();
    for (unsigned i = 0; i < kBatch; ++i) operation();
    const uint64_t spent = nanoseconds() - begin;
    if (spent < best) best = spent;
  }
  return static_cast<uint32_t>(best * 1000 / kBatch);
}

}  // namespace

void calibrate(trace::RawProcess& record) {
  ThreadLog* log = Recorder::create_scratch();
  if (log == nullptr) return;
  record.event_cost_ps = cost_ps([log] { log->put(now(), raw::mpi_send{.peer = 1, .bytes = 2}); });
  record.path_cost_ps = cost_ps([log] { log->current_path(); });
  Recorder::destroy(log);
}

}  // namespace culprit::collector
