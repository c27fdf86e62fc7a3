// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The events of one location, in time order, as calls on an EventSink. OTF2's and the text form's
// readers call it; replay implements it. Kinds that nobody implements have an empty default, so a
// new kind is one function here and one line in each reader.
// Assumes: `enter`/`leave` nest on each location (tasks too: a task is a region entered where its
// thread runs it). An MPI event lies between the enter and the leave of its call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/ids.h"
#include "base/time.h"
#include "trace/collective_op.h"
#include "trace/device.h"
#include "trace/file_io.h"
#include "trace/rma.h"

namespace culprit::trace {

/// MPI's request handle, made unique per location by the recorder.
enum class RequestId : uint64_t {};

/// A matched probe's number, unique in the process.
enum class MatchedProbe : uint64_t { none = 0 };

struct MpiMessage {
  CommId comm;
  uint32_t peer = 0;  ///< rank of the other side in `comm` (in its remote group for inter-comms)
  int32_t tag = 0;
  uint64_t bytes = 0;
  /// Partitioned messages meet only their like. Which of the pairs of MPI_Psend_init and
  /// MPI_Precv_init with this communicator, peer and tag it goes through, counted from 1 in the
  /// order of their making; 0: an ordinary message.
  uint32_t partitioned = 0;
  /// The matched probe (MPI_Mprobe) that found it, in the probe's event and in the receive's.
  MatchedProbe probe = MatchedProbe::none;
};

struct MpiCollective {
  CollectiveOp op = CollectiveOp::other;
  CommId comm;
  /// Of rooted operations: rank in `comm`. In an inter-communicator, in the group that the caller
  /// is not in; in the root's own group the root says that it is, and the others know of none.
  std::optional<uint32_t> root;
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  /// With whom this process exchanges data, where that is not what `op` says: some counts are zero,
  /// or only neighbours take part. The process itself does not matter.
  GroupId sends_to = GroupId::none();
  GroupId receives_from = GroupId::none();
  bool is_root = false;  ///< the caller is the root; not told in other communicators
};

enum class MutexKind : uint8_t { lock, critical, ordered, atomic, other, nest_lock };
inline constexpr MutexKind kLastMutexKind = MutexKind::nest_lock;

/// An explicit task: the thread that created it, by its number in the process, and which one of
/// that thread's it is, from 1. Generation 0: an implicit task.
struct TaskId {
  uint32_t creator = 0;
  uint32_t generation = 0;

  /// As a fact tells it.
  uint64_t number() const { return uint64_t{creator} << 32 | generation; }
  friend auto operator<=>(TaskId, TaskId) = default;
};
constexpr TaskId task_of(uint64_t number) {
  return {static_cast<uint32_t>(number >> 32), static_cast<uint32_t>(number)};
}

/// Numbers that constructs carry and that no record of OTF2 has a place for. Each belongs to the
/// region entered last, to the task just created, or to what it says itself. In archives a fact is
/// a parameter: fact_name() with "culprit::" before it.
enum class Fact : uint8_t {
  schedule,    ///< of a loop: 1 static, 2 dynamic, 3 guided, 4 other
  iterations,  ///< of a loop for all threads; sections; tasks of a taskloop
  own_chunks,  ///< of a loop or sections, before its end: what this thread has executed
  own_iterations,
  task_flags,  ///< of the task just created, ompt_task_flag_t
  depend_in,   ///< the task just created depends on data at this address
  depend_out,
  depend_inout,
  depend_mutexinoutset,
  depend_inoutset,
  depend_all_memory,
  depend_source,   ///< doacross: this iteration is done
  depend_sink,     ///< doacross: waits for an iteration
  task_successor,  ///< TaskId::number of a task that waits for task_predecessor, which follows
  task_predecessor,
  task_fulfilled,  ///< the event of this detached task came
  lock_init,       ///< lock, as in mutex_acquired
  lock_destroy,
  nested_acquire,  ///< once more by the holder of a nest lock
  nested_release,
  cancel,         ///< ompt_cancel_flag_t
  target_device,  ///< of a target construct or operation: device number
  target_bytes,   ///< copied, allocated
  target_teams,   ///< requested of the kernel
  samples,        ///< so many samples of the stack have found the thread in the region at hand
  observed,       ///< so many nanoseconds in the region at hand are known without samples
  awaited,        ///< the region entered last waited for this object (trace/objects.h)
  begun,          ///< this thread was made where another `woke` this object
  woke,           ///< whoever waits for this object may go on
  ended,       ///< this thread of a pool was no more, until it goes on, if it does; not 0: it had
               ///< been made for one nested team, and if it goes on, that is another one
  unanswered,  ///< the call at hand could not return before the run was ended from outside: it
               ///< waited for this location, thread << 32 | rank
};
inline constexpr size_t kFactCount = static_cast<size_t>(Fact::unanswered) + 1;
/// "task_flags"; ids and meaning as in Fact.
const char* fact_name(Fact fact);

/// Of a parallel region, the same number on all threads of the team; unique within a process.
/// Archives of other writers have none (0): fork and team are then matched by time.
enum class RegionInstance : uint64_t { unknown = 0 };

/// A host hands an operation over to a queue.
struct DeviceLaunch {
  OperationNumber operation = OperationNumber::none;
  DeviceOpKind kind = DeviceOpKind::kernel;
  uint32_t queue = 0;  ///< as in Location; kNoDeviceQueue if only the operation itself tells it
  /// What it waits for besides its queue's order; valid during the call of the sink.
  std::span<const OperationNumber> after = {};
};

/// A host's call returns only when something is done.
struct DeviceWait {
  DeviceWaitFor what = DeviceWaitFor::queue;
  uint32_t queue = 0;  ///< of DeviceWaitFor::queue; kNoDeviceQueue: one that nobody names
  DeviceId device;     ///< of DeviceWaitFor::device; none: all that the process uses
  OperationNumber operation = OperationNumber::none;  ///< of DeviceWaitFor::operation
};

/// An operation as its stream executes it.
struct DeviceOperation {
  OperationNumber operation = OperationNumber::none;
  DeviceOpKind kind = DeviceOpKind::kernel;
  CopyDirection direction = CopyDirection::none;
  HostMemory memory = HostMemory::unknown;
  uint64_t bytes = 0;
  std::optional<Time> submitted;  ///< when the runtime gave it to the device
  uint64_t graph_node = 0;        ///< of a graph's operations that are told one by one; 0: none
};

class EventSink {
 public:
  virtual ~EventSink() = default;

  virtual void enter(Time, RegionId) {}
  virtual void leave(Time, RegionId) {}

  // Point to point. Blocking calls have one event; non-blocking ones a request and a completion.
  virtual void mpi_send(Time, const MpiMessage&) {}
  virtual void mpi_recv(Time, const MpiMessage&) {}
  virtual void mpi_isend(Time, const MpiMessage&, RequestId) {}
  virtual void mpi_isend_complete(Time, RequestId) {}
  virtual void mpi_irecv_request(Time, RequestId) {}
  virtual void mpi_irecv(Time, const MpiMessage&, RequestId) {}
  /// The last partition of a send was handed over, in a call of MPI_Pready: the message is
  /// complete. May come on another location of the process than its mpi_isend.
  virtual void mpi_isend_ready(Time, RequestId) {}
  virtual void mpi_request_test(Time, RequestId) {}
  virtual void mpi_request_cancelled(Time, RequestId) {}

  /// A probe has found a message; before the leave of its call.
  virtual void mpi_probe(Time, const MpiMessage&) {}

  // Collectives: one event, before the leave of the call. Non-blocking: request and completion.
  virtual void mpi_collective(Time, const MpiCollective&) {}
  virtual void mpi_icollective_request(Time, RequestId) {}
  virtual void mpi_icollective_complete(Time, const MpiCollective&, RequestId) {}

  // One-sided communication: lies between the enter and the leave of its call, as all of MPI.
  virtual void rma_window_created(Time, WindowId) {}
  virtual void rma_window_destroyed(Time, WindowId) {}
  /// One event, before the leave of the call.
  virtual void rma_collective(Time, const RmaCollective&) {}
  virtual void rma_group_sync(Time, const RmaGroupSync&) {}
  virtual void rma_lock(Time, const RmaLock&) {}
  virtual void rma_sync(Time, const RmaSync&) {}
  virtual void rma_operation(Time, const RmaOperation&) {}
  virtual void rma_complete(Time, WindowId, RmaOpId, RmaCompletion) {}

  // Files. Collective calls are collectives of the file's communicator as well.
  virtual void file_opened(Time, FileId, FileAccess) {}
  virtual void file_closed(Time, FileId) {}
  virtual void file_operation(Time, const FileOperation&) {}
  /// A non-blocking one has been handed over.
  virtual void file_operation_issued(Time, FileId, FileOpId) {}
  virtual void file_operation_complete(Time, FileId, FileOpId, uint64_t /*bytes*/) {}

  // OpenMP (and any fork-join model).
  virtual void thread_fork(Time, uint32_t /*requested*/, RegionInstance) {}
  virtual void thread_join(Time) {}
  virtual void thread_team_begin(Time, RegionInstance) {}
  virtual void thread_team_end(Time) {}
  virtual void mutex_acquired(Time, MutexKind, uint64_t /*lock*/) {}
  virtual void mutex_released(Time, MutexKind, uint64_t /*lock*/) {}

  // Devices. On hosts, inside the call that does it; of one call there may be several.
  virtual void device_launch(Time, const DeviceLaunch&) {}
  virtual void device_wait(Time, const DeviceWait&) {}
  // On streams each operation is a visit of a region (the kernel, "copy to device"). This comes
  // right after its enter. A stream's operations do not overlap.
  virtual void device_operation(Time, const DeviceOperation&) {}

  /// The values of a set's metrics, in its order, as the location's enter or leave at this time
  /// finds them. (Doubles are exact up to 2^53.)
  virtual void metrics(Time, MetricSetId, std::span<const double>) {}
  // Explicit tasks. A thread runs the one switched to last; an implicit task before the first
  // switch. A task's region is entered after the switch to it and left before the one away from it.
  virtual void task_create(Time, TaskId) {}
  virtual void task_switch(Time, TaskId) {}
  virtual void task_complete(Time, TaskId) {}
  virtual void fact(Time, Fact, uint64_t /*value*/) {}
  /// The number of the iteration that was entered last.
  virtual void iteration(Time, int64_t /*number*/) {}
  /// Recording is switched off or on again, at the edges of kNotRecorded.
  virtual void recording(Time, bool /*on*/) {}

  /// An event that the reader knows but culprit does not analyse; `kind` names it for the losses.
  virtual void other(Time, const char* /*kind*/) {}
};

}  // namespace culprit::trace
