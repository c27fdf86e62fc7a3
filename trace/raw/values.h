// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The values of fields of raw records (records.def): the enumerations and marks that only these
// records use. Others are those of trace/.
#pragma once

#include <cstdint>

#include "trace/device_apis.h"

namespace culprit::trace {

/// The kind of region that a user_enter begins.
enum class RawUserRegion : uint8_t { region = 0, phase = 1, iteration = 2 };

enum class RawWinFlavor : uint16_t { create = 0, allocate = 1, shared = 2, dynamic = 3 };

enum class RawRmaLock : uint16_t { release = 0, shared = 1, exclusive = 2 };
/// omp_sync_end, omp_wait_end: there was nothing to wait for, and no begin.
inline constexpr uint16_t kRawTakenBack = 0x8000;

/// thread_begun, thread_ended: no thread of the program's own, but of an OpenMP runtime's pool; or
/// made by it for one nested team only.
inline constexpr uint16_t kRawPoolThread = 1;
inline constexpr uint16_t kRawNestedThread = 2;

/// kernel_use: where the time went, and for what.
enum class RawKernelPlace : uint16_t {
  here = 0,         ///< where the thread is
  system_call = 1,  ///< where the sample before it found the thread, in a system call
  fault = 2,        ///< likewise, but in none: for page faults
};

inline constexpr uint16_t kRawRmaAssertionsShift = 4;
inline constexpr uint16_t kRawRmaMoreRanks = 0x8000;
inline constexpr uint64_t kRawAllTargets = ~uint64_t{0};

/// A set.
namespace raw_file_op {
inline constexpr uint16_t kWrite = 1;  ///< else a read
inline constexpr uint16_t kFlush = 2;  ///< neither
inline constexpr uint16_t kCollective = 4;
inline constexpr uint16_t kRequest = 8;  ///< non-blocking
inline constexpr uint16_t kSplit = 16;   ///< a split collective: its end is another call
}  // namespace raw_file_op

/// Numbers of devices and queues begin with their runtime, so that they are unique in the process.
inline constexpr unsigned kRawDeviceApiShift = 24;

/// Why a device runtime is not observed.
enum class RawDeviceRefusal : uint16_t {
  none = 0,
  other_tool = 1,  ///< another tool has taken the one place there is
  no_tools = 2,    ///< the library through which tools see it is missing, or too old
  failed = 3,      ///< it refuses tools; the words say how
};

enum class RawDevicePoint : uint16_t {
  event_recorded = 0,
  queue_waits_for_event = 1,
  host_waits_for_event = 2,
  host_waits_for_queue = 3,
  host_waits_for_device = 4,
  host_waits = 5,  ///< the runtime does not say for what
};

/// The work for which a device runtime took time.
enum class RawDeviceTime : uint16_t {
  tools = 0,      ///< being measured
  start_up = 1,   ///< loading and compiling code
  full_queue = 2  ///< the host waited until what it handed over had a place
};

enum class RawDeviceLoss : uint16_t {
  unfinished = 0,  ///< operations that had not ended when the process did, or ended with an error
  no_times = 1,    ///< operations whose times the runtime did not report
  no_room = 2,     ///< operations that were not followed, because too many were under way
  dropped = 3,     ///< records that the runtime says it has lost
  hung_flush = 4,  ///< the runtime did not give back its last records in time
};

/// flags of device_op: the kind in the lowest byte.
namespace raw_device_op {
inline constexpr unsigned kDirectionShift = 8;  ///< trace::CopyDirection, 4 bits
inline constexpr unsigned kMemoryShift = 12;    ///< trace::HostMemory, 4 bits
}  // namespace raw_device_op
/// The number, as users know it, of a queue that stands for pages moved on demand.
inline constexpr uint64_t kRawMigrations = 0xfffffffe;
inline constexpr uint32_t kRawNoQueue = ~uint32_t{0};

/// How a communicator came to be: decides how the assembler recognises it on other ranks.
enum class RawCommOrigin : uint16_t {
  collective = 0,  ///< all of the parent called (dup, split, create, cart_create, ...)
  group_only = 1,  ///< only the members called (create_group)
  intercomm = 2,   ///< MPI_Intercomm_create and the like
  spawned = 3,     ///< dynamic processes
};

/// How the processes of a communicator were joined, if its origin does not show it.
enum class RawCommLink : uint16_t {
  none = 0,
  tag = 1,        ///< within one world: the tag tells communicators of the same members apart
  intercomm = 2,  ///< MPI_Intercomm_create, MPI_Intercomm_create_from_groups
  spawn = 3,      ///< at the spawning side
  parent = 4,     ///< at the spawned side; made by MPI_Init
  accept = 5,
  connect = 6,
  join = 7,
};

/// Addresses above this one are no code's, but places in Python's functions: the function's number
/// (python_code), then the offset of the instruction.
inline constexpr uint64_t kRawPythonFrame = uint64_t{1} << 63;
inline constexpr unsigned kRawPythonNumberShift = 32;

/// Flag of a rank in mpi_comm_def.
inline constexpr uint32_t kRawParentRank = 1u << 31;

/// Limits for a communicator's topology: a grid with more dimensions is not recorded, and of a
/// process with more neighbours in a graph only the first ones are. No picture shows more.
inline constexpr unsigned kMostDimensions = 16, kMostNeighbors = 64;

/// A host thread's work for a device, for omp_target_begin.
enum class RawTarget : uint16_t {
  construct = 0,  ///< ompt_target_t
  data = 1,       ///< ompt_target_data_op_t
  submit = 2,     ///< a kernel is given to the device
};

/// How the two ends of a message find each other.
enum class RawMatching : uint16_t {
  in_order = 0,     ///< in the order in which they are posted
  probed = 1,       ///< a matched probe has found it: the number is the mpi_probe's
  partitioned = 2,  ///< through MPI_Psend_init and MPI_Precv_init: the mpi_part_init's
};

/// The condition under which a call of MPI that may have to wait returns.
enum class RawAwaits : uint16_t {
  message = 0,        ///< to receive or to find one. arg: comm; w0: as mpi_irecv_post's w1
  all_requests = 1,   ///< arg: how many; words: the handles of the first of them
  any_request = 2,    ///< likewise
  collective = 3,     ///< all members (but see mpi_collective, of which arg, w0 and w3 are meant).
                      ///< arg: comm; w0: root; w1: trace::CollectiveOp; w2: rank sets
  window_making = 4,  ///< all members. arg: comm
  file_opening = 5,   ///< likewise
  window = 6,         ///< all members of a window. arg: window
  file = 7,           ///< all that have opened the file. arg: file
  epoch_start = 8,  ///< the targets expose the window. arg: window; words: their ranks in it; none:
                    ///< those of the access epoch at hand
  epoch_wait = 9,   ///< the origins complete their access. arg: window
  partner = 10,     ///< whoever makes the communicator, too
  init = 11,        ///< all of the world
  finalize = 12,
};
/// Any source, any tag.
inline constexpr int32_t kRawAny = INT32_MIN;
/// Handles, or ranks, that one record takes: as many as a slot has words (RawOpen).
inline constexpr unsigned kRawAwaitedAtMost = 96;

/// Communicators that exist without a definition.
inline constexpr uint32_t kRawCommWorld = 0;
inline constexpr uint32_t kRawCommSelf = 1;

}  // namespace culprit::trace
