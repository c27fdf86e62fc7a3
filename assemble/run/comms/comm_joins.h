// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Inter-communicators that join processes which did not know of each other (MPI_Comm_spawn,
// MPI_Comm_connect, ...). Each side knows its own members, and only the number of the others. Which
// two sides belong together follows from facts that both know: sizes, the port or the socket, which
// process spawned which, and that the calls that make such a communicator wait for each other. A
// pair counts only if no other fits: nothing here is guessed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "trace/raw/raw.h"

namespace culprit::assemble {

/// One side, as its members together describe it.
struct JoinSide {
  std::vector<ProcessId> members;
  size_t remote_size = 0;
  trace::RawCommLink link = trace::RawCommLink::none;
  uint64_t key = 0;                 ///< of mpi_comm_link, from the members that know it; else 0
  Time root_entered = Time::max();  ///< where the root is unknown: when the first member arrived
  Time last_entered = Time::min();
  Time first_left = Time::max();
  std::string spawner;  ///< `spawn`: the root's "<job>.<rank>"; `parent`: the name of the spawner
                        ///< that the members got; empty or "?": unknown
  bool whole_world = false;  ///< the members are a world
  std::optional<size_t> partner;
};

/// Finds partners for sides that have none yet. Returns whether it found any.
bool pair_sides(std::vector<JoinSide>& sides);

/// True if the side has no partner because several would fit.
bool is_ambiguous(const std::vector<JoinSide>& sides, size_t side);

}  // namespace culprit::assemble
