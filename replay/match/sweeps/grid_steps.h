// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Messages as steps in a Cartesian arrangement of processes (trace::Grid): of a communicator with
// coordinates, or of any other if the run has only one grid. A sweep goes the same way in each
// dimension: from a process to all its next neighbors that way, where there are any. It may go over
// communicators of the grid's lines or slices (MPI_Cart_sub): these count as the grid's.
#pragma once

#include <cstdint>
#include <span>

#include "base/flat_map.h"
#include "base/ids.h"
#include "trace/definitions.h"

namespace culprit::replay {

/// The way a sweep goes: in each dimension down (0), not at all (1) or up (2), as digits of a
/// number with the first dimension last. kNoDirection: no sweep through a grid.
using GridDirection = uint32_t;
inline constexpr GridDirection kNoDirection = UINT32_MAX;

class GridSteps {
 public:
  explicit GridSteps(const trace::Definitions& definitions);

  /// The communicator of the grid that this one is a slice of; itself, if it is none.
  CommId whole(CommId comm) const {
    const uint32_t found = whole_.find(comm.index());
    return found == FlatMap::kNone ? comm : CommId(found);
  }
  /// The grid of a communicator's messages; null: none, or it is not clear which.
  const trace::Grid* of(CommId comm) const;
  /// Null: not in it, or its coordinates are not known.
  const trace::GridPlace* place(const trace::Grid& grid, ProcessId process) const;
  /// Of a sweep that comes to `process` from all of `up` and goes on to all of `down`, if these are
  /// all its neighbors on that way, and no others.
  GridDirection direction(CommId comm, ProcessId process, std::span<const ProcessId> up,
                          std::span<const ProcessId> down) const;

 private:
  static constexpr size_t kMostDimensions = 20;  // 3^20 is a number of 32 bits

  void find_slices();
  bool is_slice(const trace::Grid& slice, const trace::Grid& grid) const;

  const trace::Definitions& definitions_;
  FlatMap grid_of_comm_;
  FlatMap places_;  // by grid and process
  FlatMap whole_;   // by communicator of a slice
};

}  // namespace culprit::replay
