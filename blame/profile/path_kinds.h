// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The kind of time at a call path, for explanations that count working threads: the innermost
// region decides, and places outside of the program have kinds of their own.
#pragma once

#include <vector>

#include "blame/findings/findings.h"
#include "replay/model/run.h"
#include "replay/model/wait_patterns.h"
#include "trace/pseudo_regions.h"

namespace culprit::blame {

/// The kind of a time that is not waiting.
enum class PathKind : uint8_t {
  work,      ///< the program's own code, and what was not recorded
  runtime,   ///< OpenMP's own: what a barrier takes once all have arrived, and the like
  mpi,       ///< inside MPI: transfer and overhead
  io,        ///< MPI's file operations
  waking,    ///< a thread was called to a team and is not there yet
  start_up,  ///< MPI_Init and its like (start_up.h), whatever they call
  absent,    ///< not started yet, or ended
};

/// By CallPathId.
std::vector<PathKind> path_kinds(const replay::Run& run);

/// The class of time in the program's own code, of what is no function there: sleep that was seen
/// is no work.
Tile tile_of_own_code(trace::Pseudo kind);

/// Returns for each call path of kind `work` whether a thread there is known to do none.
std::vector<bool> idle_in_own_code(const replay::Run& run, const std::vector<PathKind>& kinds);

/// Returns for each call path whether it lies in a parallel region.
std::vector<bool> inside_parallel(const replay::Run& run);

/// Returns for each call path whether it belongs to streams; the same on all ranks. Collective.
std::vector<bool> on_streams(const replay::Run& run);

/// Which other party a wait is for.
enum class WaitKind : uint8_t {
  team,   ///< threads of the team: barriers, tasks
  pool,   ///< no region to work in
  mutex,  ///< what another thread holds
  mpi,
  device,   ///< kernels, copies
  polling,  ///< no waiting: tests for messages
  other,
};

/// By the pattern's place in the table.
WaitKind wait_kind(replay::Pattern pattern);

}  // namespace culprit::blame
