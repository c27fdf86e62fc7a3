// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writes the state of a log (fold/carry_state.h) as records: those that began what has not ended,
// with the times at which they were made, then counts (mpi_sent, mpi_received, mpi_operations,
// ...), and at the end a `carried` with the moment itself. Definitions are not among them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fold/carry_state.h"

namespace culprit::fold {

/// Room that next() needs at least.
inline constexpr size_t kLeastPreambleRoom = 1024;
/// Bytes of the largest preamble there can be.
inline constexpr size_t kMostPreambleBytes =
    (kMostOpen + kMostHeld) * kLeastPreambleRoom / 4 + kMostCounts * size_t{64} + 64;

/// The state must not change while it is written.
class Preamble {
 public:
  /// `ticks`: the moment, which is not before any record carried.
  Preamble(const Carry& state, uint64_t ticks) : state_(state), ticks_(ticks) {}

  /// Puts the next records at `to`, which is aligned as they are, as many as fit into `room`.
  /// Returns their bytes; 0: there are no more.
  size_t next(void* to, size_t room);

 private:
  class Writer;
  static void write_open(Writer& to, const Carried& record);
  void write_held(Writer& to, const Held& held);
  bool is_open(uint64_t call) const;
  uint64_t open_barriers(unsigned team) const;

  const Carry& state_;
  const uint64_t ticks_;
  unsigned open_ = 0;   ///< next of `open`
  unsigned held_ = 0;   ///< last written of `held`
  unsigned count_ = 0;  ///< next of `counts`
  bool ended_ = false;
};

}  // namespace culprit::fold
