// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Messages of a Paraver trace as acts of the calls that send and receive them.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/imported/process.h"
#include "trace/paraver/records.h"
#include "trace/paraver/thread_builder.h"

namespace culprit::trace {

/// A thread of the trace, and where it is in the job.
struct ThreadPlace {
  uint32_t process = 0;  ///< position in the job
  uint32_t rank = 0;     ///< in the world of its application
  uint32_t world = 0;    ///< position of that among the communicators
  int64_t key = 0;       ///< of the thread in its process
  BuiltThread built;
};

/// Adds the messages. Those within a process are what its hosts hand over to a device. Returns how
/// many belong to no call.
uint64_t add_messages(std::vector<ParaverMessage>& messages, const std::vector<ThreadPlace>& places,
                      std::vector<ImportedProcess>& processes);

}  // namespace culprit::trace
