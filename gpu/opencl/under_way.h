// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The operations that OpenCL has been given and not yet finished. Each event is retained until its
// times have been read; the drain's thread asks for them, so that no callback of ours runs on a
// thread that should be computing. It knows queues by handle, events by handle while they are under
// way: later a handle may be another event's, and to wait for a finished one means nothing.
// MT: safe. The lock is never held across a call into OpenCL.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <span>
#include <vector>

#include "gpu/face.h"

namespace culprit::gpu::opencl {

/// The known facts about a queue of the program.
struct Queue {
  QueueNumber number = QueueNumber::none;
  DeviceNumber device{};
  cl_command_queue_properties asked = 0;  ///< before we asked for profiling
  bool out_of_order = false;
  bool followed = false;
};

void add(cl_command_queue handle, const Queue& queue);
/// Not followed if the handle is not known.
Queue find(cl_command_queue handle);

/// An operation as its call described it.
struct Given {
  cl_event event = nullptr;
  bool asked_for = false;  ///< the program has the event too, and may wait for it
  cl_command_queue queue = nullptr;
  Operation operation;
  uint64_t ticks_before = 0;  ///< of the call
  uint64_t ticks_after = 0;
};

/// Takes over one reference of the event, or gives it back at once where there is no room.
void put_under_way(const cl_icd_dispatch& next, const Given& given);
/// The operations behind events that are under way.
std::vector<OperationNumber> operations_of(std::span<const cl_event> events);

/// A user event: the host lets go what waits for it.
void put_user_event(cl_event event, OperationNumber number);
OperationNumber take_user_event(cl_event event);

/// Records finished operations. One thread at a time. Returns whether there were any.
bool collect(const cl_icd_dispatch& next);
/// Counts operations that will not be collected any more as lost.
void abandon();

}  // namespace culprit::gpu::opencl
