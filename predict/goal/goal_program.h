// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run as a GOAL program (T. Hoefler, C. Siebert, A. Lumsdaine: Group Operation Assembly Language,
// ICPP 2009): for each process, computation times, sends and receives, and which must be complete,
// or begun, before which. They contain no waiting, nor the time in calls that communicate: a
// simulator computes these times itself.
//
// A process is one line of operations: before a call that communicates, the time that its thread
// has computed since the process began or ended such a call; calls of several threads that overlap
// begin and end in recorded order. Waits outside MPI (for threads, a device, files) count as
// computing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/losses.h"
#include "base/result.h"
#include "trace/source.h"

namespace culprit::predict {

struct GoalOp {
  enum class Kind : uint8_t { calc, send, recv };
  Kind kind = Kind::calc;
  uint64_t amount = 0;  ///< nanoseconds, or bytes
  uint32_t peer = 0;    ///< of a message: index of the other process
  uint32_t tag = 0;     ///< n-th message between the two in this direction: as the run paired them
};

struct GoalDependency {
  uint32_t op;    ///< waits
  uint32_t on;    ///< for this one of its process
  bool to_begin;  ///< to have begun; otherwise, to be over
};

struct GoalProcess {
  std::vector<GoalOp> ops;
  std::vector<GoalDependency> dependencies;  ///< by `op`
};

/// By ProcessId.
Result<std::vector<GoalProcess>> goal_program(const trace::Source& source, unsigned threads,
                                              Losses& losses);

/// In the text form that LogGOPSim's txt2bin reads.
std::string goal_text(const std::vector<GoalProcess>& processes);

}  // namespace culprit::predict
