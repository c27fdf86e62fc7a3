// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The events of one location, in time order, as calls on an EventSink. OTF2's and the text form's
// readers call it; replay implements it. The kinds of events are a table, events.def.
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
  bool is_root = false;  ///< the caller is the root; unknown in other communicators
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
  samples,        ///< number of stack samples that found the thread in the current region
  observed,       ///< nanoseconds in the current region that are known without samples
  awaited,        ///< the region entered last waited for this object (trace/objects.h)
  begun,          ///< this thread was made where another `woke` this object
  woke,           ///< threads that wait for this object may go on
  ended,        ///< this thread of a pool was no more, until it goes on, if it does; not 0: it had
                ///< been made for one nested team, and if it goes on, that is another one
  unanswered,   ///< the call at hand could not return before the run was ended from outside: it
                ///< waited for this location, thread << 32 | rank
  system_time,  ///< nanoseconds in the kernel, in the current region
  fault_time,   ///< the part of them that page faults took
  page_faults,  ///< how many, likewise
};
inline constexpr size_t kFactCount = static_cast<size_t>(Fact::page_faults) + 1;
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
  /// Operations it waits for besides its queue's order; valid during the call of the sink.
  std::span<const OperationNumber> after = {};
};

/// A host's call returns only when something is done.
struct DeviceWait {
  DeviceWaitFor what = DeviceWaitFor::queue;
  uint32_t queue = 0;  ///< of DeviceWaitFor::queue; kNoDeviceQueue: the queue is unknown
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
  uint64_t graph_node = 0;        ///< of a graph's operations that are recorded one by one; 0: none
};

/// Behind others in a list: the elements of one in parentheses, which may have none.
#define CULPRIT_AND(...) __VA_OPT__(, ) __VA_ARGS__

/// In a class: declares that it overrides each kind of event, so that one which it forgets does not
/// link.
#define CULPRIT_OVERRIDES_EVENT(name, parameters, arguments) \
  void name(Time time CULPRIT_AND parameters) override;

/// What is done with the events of a location. A kind that a sink does not override is nothing to
/// it.
class EventSink {
 public:
  virtual ~EventSink() = default;

#define EVENT(name, parameters, arguments) \
  virtual void name(Time time CULPRIT_AND parameters) { ignore_event(time CULPRIT_AND arguments); }
#include "trace/events.def"

 private:
  template <class... Arguments>
  static void ignore_event(const Arguments&...) {}
};

}  // namespace culprit::trace
