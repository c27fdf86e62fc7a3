// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The face between what knows a device runtime (a backend: gpu/opencl, gpu/cuda) and what keeps its
// records. A backend reports devices, queues, operations and clocks, in any order and from any
// thread, and the host's calls on the thread that makes them. The host's and the device's part of
// an operation meet only in the assembler, by its number: either may be reported first, and late
// records lose nothing. Times of operations are nanoseconds of the device's own clock; now and then
// a backend pairs it with our ticks, so that the assembler can convert them.
//
// A backend and this part make a shared object of their own, which the device runtime itself opens
// (an OpenCL layer, CUDA's injection): in processes without one nothing of it is there.
// Rules of collector/ hold: nothing is printed, thrown or aborted, no lock is held across a call
// into foreign code. MT: everything here may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/device.h"
#include "trace/raw/raw.h"

namespace culprit::gpu {

using trace::CopyDirection;
using trace::DeviceApi;
using trace::DeviceOpKind;
using trace::DeviceWaitFor;
using trace::HostMemory;
using trace::OperationNumber;
using trace::RawDeviceLoss;
using trace::RawDevicePoint;
using trace::RawDeviceTime;

enum class DeviceNumber : uint32_t {};
enum class QueueNumber : uint32_t { none = trace::kRawNoQueue };
enum class NameNumber : uint32_t { none = 0 };

struct DeviceInfo {
  DeviceApi api;
  std::string_view name;      ///< as users know it
  std::string_view identity;  ///< tells it from the others of its node, alike in all processes
};

struct QueueInfo {
  DeviceNumber device;
  uint32_t context = 0;
  uint64_t number = 0;  ///< as the runtime numbers it; 0 for the default one
  bool out_of_order = false;
};

/// An operation that a device executed. Times in nanoseconds of its clock; 0: unknown.
struct Operation {
  QueueNumber queue;
  DeviceOpKind kind = DeviceOpKind::other;
  OperationNumber number = OperationNumber::none;
  uint64_t queued = 0;
  uint64_t submitted = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  NameNumber name = NameNumber::none;
  uint32_t graph_node = 0;  ///< 0: no part of a graph
  uint64_t bytes = 0;
  CopyDirection direction = CopyDirection::none;
  HostMemory memory = HostMemory::unknown;
};

// --- The devices' side: one log for the process. Nothing is kept before begin_device_log() ---

/// A device is in use: the process is worth recording. False if it is not to be recorded. Numbers
/// of devices and queues are the process's: those of each runtime come from a range of their own.
bool begin_device_log(DeviceApi);
/// Whether records are kept: begun, not ended, and no forked child (those have no part in it).
bool is_on();

DeviceNumber add_device(const DeviceInfo&);
QueueNumber add_queue(const QueueInfo&);
/// Names are written once; equal ones have one number. At most 2000 bytes of them are kept.
NameNumber number_of_name(std::string_view);
void operation_executed(const Operation&);
/// A moment without duration: an event of the runtime, or a wait for one. It has the number of the
/// host's call that caused it.
struct Point {
  RawDevicePoint what = RawDevicePoint::event_recorded;
  OperationNumber number = OperationNumber::none;
  QueueNumber queue = QueueNumber::none;
  DeviceNumber device{};  ///< of host_waits_for_device
  uint64_t event = 0;
  uint64_t event_sync = 0;  ///< the same for a recording and those who wait for it; 0: unknown
};
void point_passed(const Point&);
/// Time that the runtime itself took on the host, in nanoseconds of the device's clock; in the call
/// that submitted this operation, if there was one.
void runtime_took(RawDeviceTime what, uint64_t begin, uint64_t end, OperationNumber number);
/// The device's clock showed `nanoseconds` at some moment between two of ours.
void clock_was(DeviceNumber, uint64_t nanoseconds, uint64_t ticks_at_least, uint64_t ticks_at_most);
void device_records_lost(RawDeviceLoss, uint64_t count = 1);
/// The runtime's description of itself, or the reason why it provides no records.
void runtime_is(DeviceApi, std::string_view description,
                trace::RawDeviceRefusal = trace::RawDeviceRefusal::none);

// --- The host's side: on the calling thread ---

/// Returns false if the call is not recorded; then none of the others may follow. `name` must live
/// for ever.
bool call_begins(const char* name);
/// The same for a call that began at `since` (in our ticks), when nothing was recorded yet, and
/// that has been starting up the runtime until now.
bool call_begins_with_start_up(const char* name, uint64_t since);
/// The current call has been starting up the runtime since its begin.
void call_started_up();
/// `function`: the address of the program's function that the queue is to call.
void call_handed_over(DeviceOpKind, QueueNumber, OperationNumber, uint64_t function = 0);
/// The operations that the last submitted one waits for, besides the order of its queue.
void call_ordered_after(const OperationNumber* operations, size_t count);
void call_waited_for(OperationNumber);
void call_waited_for(QueueNumber);
void call_waited_for(DeviceNumber);
/// The call's name says that it waited for all of a device, and the runtime may confirm it, by this
/// number, or say otherwise; or for a queue, which the runtime has yet to name.
void call_waited_for(DeviceNumber, OperationNumber call);
void call_waited_for_queue_of(OperationNumber call);
void call_ends(const char* name);

/// A call that asks whether something is done, and may do so a million times a second: those that
/// hear in a row that it is not become one record, and of those that hear at once that it is there
/// is none. Returns its begin; 0: it is not recorded, and asked() may not follow.
uint64_t begin_to_ask();
struct Question {
  OperationNumber operation = OperationNumber::none;  ///< none: a queue, or it is not known
  QueueNumber queue = QueueNumber::none;
};
/// `done`: the answer. It is the end of those that were in vain before it.
void asked(const char* name, uint64_t begin, const Question& what, bool done);

/// A number that no other operation of this process has. Numbers of at most 32 bits are left to
/// runtimes that give their own.
OperationNumber next_operation();

}  // namespace culprit::gpu
