// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One thread's records become one location's events. Each programming model's records have a file
// of their own (mpi_records, openmp/records), and so have those of the thread itself
// (thread_records); they share the ThreadState.
#pragma once

#include <cstdint>

#include "assemble/play/process_context.h"
#include "assemble/raw/reader.h"
#include "base/losses.h"
#include "trace/events.h"

namespace culprit::assemble {

struct StreamResult {
  uint64_t events = 0;
  Losses losses;
};

/// Plays the records of `log` into `sink`.
StreamResult play_log(const RawLog& log, const ProcessContext& process, const ThreadContext& thread,
                      trace::EventSink& sink);

}  // namespace culprit::assemble
