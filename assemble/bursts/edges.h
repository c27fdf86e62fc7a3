// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What crosses the edges of a window. A message that was sent before it, a collective operation
// that one of its members has finished already, a barrier that others have left: one of their ends
// is missing. They are found by their numbers, which preambles say (mpi_sent and its like): the
// k-th message sent on a channel is the k-th received. What is not there at all its ends is left
// out of the window, so that it never meets another one's end; what remains is whole, and in order.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "assemble/raw/reader.h"
#include "assemble/run/comms/comms.h"
#include "assemble/run/processes.h"

namespace culprit::assemble {

/// The processes of a window. Logs lie in memory (RawLog::of).
struct WindowProcesses {
  std::vector<RawProcessFolder>& folders;
  bool begins_inside;              ///< the run had begun before
  const std::vector<bool>& known;  ///< by folder: the counts of all its logs are
  const Processes& processes;
  const CommTable& comms;
  /// By folder: pairs of partitioned communication, by number (Survey::partitioned_pairs).
  const std::vector<std::unordered_map<uint64_t, uint32_t>>& partitioned;
};

/// How many there were.
struct Crossing {
  uint64_t messages = 0;    ///< ends of messages without the other one
  uint64_t operations = 0;  ///< parts in collective operations in which others are missing
  uint64_t barriers = 0;    ///< of threads
};

/// Leaves out messages and collective operations.
void leave_out_crossing(const WindowProcesses& window, Crossing& crossing);

/// Barriers of a process's teams, and teams that had ended before the window.
void leave_out_left_barriers(RawProcessFolder& folder, Crossing& crossing);

}  // namespace culprit::assemble
