// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The parts of one-sided communication: windows, the operations on them, and the calls that
// synchronise those. The terms are MPI's; OTF2's Rma* records serve other models too (SHMEM,
// GASPI), hence the operations that MPI lacks. Ranks are those of the window's communicator.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "trace/collective_op.h"

namespace culprit::trace {

/// The caller's promises (MPI_MODE_*), as a set; an MPI's own constants differ from MPI to MPI.
enum class RmaAssertions : uint8_t {
  none = 0,
  no_check = 1,
  no_store = 2,
  no_put = 4,
  no_precede = 8,
  no_succeed = 16,
};
constexpr RmaAssertions operator|(RmaAssertions a, RmaAssertions b) {
  return static_cast<RmaAssertions>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
constexpr bool has(RmaAssertions set, RmaAssertions one) {
  return (static_cast<uint8_t>(set) & static_cast<uint8_t>(one)) != 0;
}

enum class RmaOp : uint8_t {
  put,
  get,
  accumulate,
  increment,
  test_and_set,
  compare_and_swap,
  swap,
  fetch_and_add,
  fetch_and_increment,
  fetch_and_accumulate,  ///< MPI_Get_accumulate, MPI_Fetch_and_op
};

/// Says which operations a completion completes. Operations on one target that complete together
/// share theirs; unique on a location otherwise.
enum class RmaOpId : uint64_t {};

struct RmaOperation {
  WindowId window;
  uint32_t target = 0;
  RmaOp op = RmaOp::put;
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  RmaOpId id{};
};

enum class RmaCompletion : uint8_t {
  blocking,  ///< at the origin, within the call
  local,     ///< at the origin: its buffer may be used again
  remote,    ///< at the target too
};

/// All ranks of a window: creation, freeing, fence (a `barrier`).
struct RmaCollective {
  CollectiveOp op = CollectiveOp::barrier;
  WindowId window;
  std::optional<uint32_t> root;
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  RmaAssertions assertions = RmaAssertions::none;
};

/// Access epochs (start, complete) and exposure epochs (post, wait) of general active-target
/// synchronisation. `other`: an archive that does not tell by its regions' names.
enum class RmaEpoch : uint8_t { start, complete, post, wait, other };

struct RmaGroupSync {
  RmaEpoch epoch = RmaEpoch::other;
  WindowId window;
  GroupId group;  ///< targets of the access, or origins that may access; none: not known
  RmaAssertions assertions = RmaAssertions::none;
};

enum class RmaLockStep : uint8_t { request, acquired, tried, released };

struct RmaLock {
  RmaLockStep step = RmaLockStep::request;
  WindowId window;
  std::optional<uint32_t> target;  ///< none: all of the window
  bool exclusive = false;          ///< unknown when released
  uint64_t lock = 0;               ///< MPI has one for each target
  RmaAssertions assertions = RmaAssertions::none;
};

/// With one process, or with one's own memory.
enum class RmaSyncKind : uint8_t { memory, notify_in, notify_out, flush, flush_local };

struct RmaSync {
  RmaSyncKind kind = RmaSyncKind::memory;
  WindowId window;
  std::optional<uint32_t> target;  ///< none: all of the window
};

}  // namespace culprit::trace
