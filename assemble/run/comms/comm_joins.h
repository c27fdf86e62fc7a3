// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Inter-communicators that join processes which did not know of each other (MPI_Comm_spawn,
// MPI_Comm_connect, ...). Each side knows its own members, and of the other one only how many there
// are. Which two sides belong together follows from what both know: sizes, the port or the socket,
// who spawned whom, and that the calls that make such a communicator wait for each other. A pair
// counts only if no other fits: nothing here is guessed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "trace/raw/raw.h"

namespace culprit::assemble {

/// One side, as its members together tell it.
struct JoinSide {
  std::vector<ProcessId> members;
  size_t remote_size = 0;
  trace::RawCommLink link = trace::RawCommLink::none;
  uint64_t key = 0;                 ///< of mpi_comm_link, from the members that know it; else 0
  Time root_entered = Time::max();  ///< where the root is not known: who came first
  Time last_entered = Time::min();
  Time first_left = Time::max();
  std::string spawner;  ///< `spawn`: the root's "<job>.<rank>"; `parent`: what the members were
                        ///< told of it; empty or "?": unknown
  bool whole_world = false;  ///< the members are a world
  std::optional<size_t> partner;
};

/// Finds partners for sides that have none yet. Returns whether it found any.
bool pair_sides(std::vector<JoinSide>& sides);

/// True if the side has no partner because several would do.
bool is_ambiguous(const std::vector<JoinSide>& sides, size_t side);

}  // namespace culprit::assemble
