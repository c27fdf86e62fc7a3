// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A function for each kind of record that tells the face what it wants to know. CUPTI calls on a
// thread of its own, and gets its buffers back at once.
#include "gpu/cuda/activities.h"

#include <cstdlib>

#include "gpu/cuda/buffers.h"
#include "gpu/cuda/contexts.h"
#include "gpu/cuda/waiting_calls.h"
#include "gpu/face.h"

namespace culprit::gpu::cuda {

namespace {

/// CUPTI's "does not apply".
constexpr uint32_t kNoStream = ~uint32_t{0};

const Cupti* g_cupti = nullptr;

// --- What records say ---

/// The fields that CUDA 13 added at the end of CUDA 12's records of synchronisation and of events.
struct SynchronizationTail {
  CUpti_ActivitySynchronization common;
  uint64_t event_sync_id;
};
struct CudaEventTail {
  CUpti_ActivityCudaEvent common;
  uint32_t device, padding;
  void* reserved;
  uint64_t device_time;
  uint64_t event_sync_id;
};
constexpr uint32_t kHasSyncIds = 130000;
/// The fields that CUDA 12.4 added at the end of CUDA 12.2's record of overhead, which has the
/// number.
struct OverheadTail {
  CUpti_ActivityOverhead2 common;
  void* data;
};
constexpr uint32_t kOverheadHasNumber = 20;
constexpr uint32_t kOverheadHasData = 22;
constexpr unsigned kModuleLoading = 4u << 16;
constexpr unsigned kLazyFunctionLoading = 5u << 16;
constexpr unsigned kCommandBufferFull = 6u << 16;
#if CUPTI_API_VERSION >= 130000
static_assert(offsetof(SynchronizationTail, event_sync_id) ==
              offsetof(CUpti_ActivitySynchronization2, cudaEventSyncId));
static_assert(offsetof(CudaEventTail, event_sync_id) ==
              offsetof(CUpti_ActivityCudaEvent2, cudaEventSyncId));
// Fields keep their places as records grow.
static_assert(offsetof(CUpti_ActivityKernel9, graphNodeId) ==
              offsetof(CUpti_ActivityKernel10, graphNodeId));
static_assert(offsetof(CUpti_ActivityMemcpy5, graphNodeId) ==
              offsetof(CUpti_ActivityMemcpy6, graphNodeId));
static_assert(offsetof(CUpti_ActivityGraphTrace, streamId) ==
              offsetof(CUpti_ActivityGraphTrace2, streamId));
static_assert(offsetof(CUpti_ActivityUnifiedMemoryCounter2, processId) ==
              offsetof(CUpti_ActivityUnifiedMemoryCounter3, processId));
static_assert(offsetof(CUpti_ActivityOverhead2, correlationId) ==
              offsetof(CUpti_ActivityOverhead3, correlationId));
static_assert(offsetof(OverheadTail, data) == offsetof(CUpti_ActivityOverhead3, overheadData));
static_assert(kModuleLoading == CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING);
static_assert(kLazyFunctionLoading == CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
static_assert(kCommandBufferFull == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
#endif

template <class Record>
Operation operation_of(const Record& record, DeviceOpKind kind) {
  Operation op;
  op.queue = queue_of(record.deviceId, record.contextId, record.streamId);
  op.kind = kind;
  op.number = OperationNumber{record.correlationId};
  op.begin = record.start;
  op.end = record.end;
  return op;
}

/// Nodes are numbered in their graph by the lower half, from 0 on; the upper half is the graph,
/// from 1 on. Ours begin with 1.
uint32_t node_of(uint64_t graph_node) {
  return graph_node == 0 ? 0 : static_cast<uint32_t>(graph_node) + 1;
}

void see_kernel(const CUpti_ActivityKernel9& record) {
  Operation op = operation_of(record, DeviceOpKind::kernel);
  op.queued = record.queued;
  op.submitted = record.submitted;
  op.graph_node = node_of(record.graphNodeId);
  if (record.name != nullptr) op.name = number_of_name(record.name);
  operation_executed(op);
}

CopyDirection direction_of(unsigned kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyDirection::to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyDirection::from_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return CopyDirection::within_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return CopyDirection::within_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyDirection::between_devices;
    default:
      return CopyDirection::none;
  }
}

HostMemory memory_of(unsigned kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return HostMemory::pageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return HostMemory::pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return HostMemory::managed;
    default:
      return HostMemory::unknown;
  }
}

template <class Record>
void see_copy(const Record& record) {
  Operation op = operation_of(record, DeviceOpKind::copy);
  op.bytes = record.bytes;
  op.direction = direction_of(record.copyKind);
  op.graph_node = node_of(record.graphNodeId);
  const bool from_host = op.direction != CopyDirection::from_device;
  op.memory = memory_of(from_host ? record.srcKind : record.dstKind);
  operation_executed(op);
}

void see_fill(const CUpti_ActivityMemset4& record) {
  Operation op = operation_of(record, DeviceOpKind::fill);
  op.bytes = record.bytes;
  op.graph_node = node_of(record.graphNodeId);
  operation_executed(op);
}

/// A page fault by itself moves nothing.
void see_migration(const CUpti_ActivityUnifiedMemoryCounter2& record) {
  Operation op;
  uint32_t device = record.dstId;
  switch (record.counterKind) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
      op.direction = CopyDirection::to_device;
      break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
      op.direction = CopyDirection::from_device;
      device = record.srcId;
      break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD:
      op.direction = CopyDirection::between_devices;
      break;
    default:
      return;
  }
  op.queue = migrations_of(device);
  op.kind = DeviceOpKind::migrate;
  op.memory = HostMemory::managed;
  op.begin = record.start;
  op.end = record.end;
  op.bytes = record.value;
  operation_executed(op);
}

RawDevicePoint point_of(CUpti_ActivitySynchronizationType type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return RawDevicePoint::host_waits_for_event;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      return RawDevicePoint::queue_waits_for_event;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return RawDevicePoint::host_waits_for_queue;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return RawDevicePoint::host_waits_for_device;
    default:
      return RawDevicePoint::host_waits;
  }
}

/// All fields of the record are passed on, also those that its type says to be of no interest:
/// types are known to be wrong, and the name of the call decides.
void see_synchronization(const CUpti_ActivitySynchronization& record) {
  Point point;
  point.what = point_of(record.type);
  const bool is_hosts = point.what != RawDevicePoint::queue_waits_for_event;
  if (is_hosts && !is_waiting_call(record.correlationId)) return;
  point.number = OperationNumber{record.correlationId};
  point.event = record.cudaEventId | uint64_t{record.contextId} << 32;
  if (g_cupti->version >= kHasSyncIds) {
    point.event_sync = reinterpret_cast<const SynchronizationTail&>(record).event_sync_id;
  }
  if (point.what == RawDevicePoint::host_waits_for_device) {
    point.device = device_of_context(record.contextId);
  } else if (record.streamId != kNoStream) {
    point.queue = queue_of(record.contextId, record.streamId);
  }
  point_passed(point);
}

void see_event(const CUpti_ActivityCudaEvent& record) {
  if (record.streamId == kNoStream) return;
  Point point;
  point.what = RawDevicePoint::event_recorded;
  point.number = OperationNumber{record.correlationId};
  point.queue = queue_of(record.contextId, record.streamId);
  point.event = record.eventId | uint64_t{record.contextId} << 32;
  if (g_cupti->version >= kHasSyncIds) {
    point.event_sync = reinterpret_cast<const CudaEventTail&>(record).event_sync_id;
  }
  point_passed(point);
}

/// Not all time that CUPTI calls overhead is for its own sake: a program loads and compiles its
/// code without it, too, and waits where the device cannot take more.
RawDeviceTime time_of(CUpti_ActivityOverheadKind kind) {
  switch (static_cast<unsigned>(kind)) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
    case kModuleLoading:
    case kLazyFunctionLoading:
      return RawDeviceTime::start_up;
    case kCommandBufferFull:
      return RawDeviceTime::full_queue;
    default:
      return RawDeviceTime::tools;
  }
}

/// CUPTI leaves it to its clients to free the memory that a record of a full command buffer points
/// to. No library is trusted to have the record in full: it is freed only if the field lies within
/// the buffer, which ends at `end`, and is an address.
void free_data(const CUpti_ActivityOverhead2& record, const uint8_t* end) {
  constexpr uintptr_t kNoAddress = 1 << 20;
  if (g_cupti->version < kOverheadHasData || record.overheadKind != kCommandBufferFull) return;
  const auto& whole = reinterpret_cast<const OverheadTail&>(record);
  if (reinterpret_cast<const uint8_t*>(&whole + 1) > end) return;
  if (reinterpret_cast<uintptr_t>(whole.data) >= kNoAddress) free(whole.data);
}

void see_overhead(const CUpti_ActivityOverhead2& record, const uint8_t* end) {
  OperationNumber number = OperationNumber::none;
  if (g_cupti->version >= kOverheadHasNumber) number = OperationNumber{record.correlationId};
  runtime_took(time_of(record.overheadKind), record.start, record.end, number);
  free_data(record, end);
}

void see(const CUpti_Activity& record, const uint8_t* end) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return see_kernel(reinterpret_cast<const CUpti_ActivityKernel9&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return see_copy(reinterpret_cast<const CUpti_ActivityMemcpy5&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return see_copy(reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return see_fill(reinterpret_cast<const CUpti_ActivityMemset4&>(record));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return operation_executed(operation_of(
          reinterpret_cast<const CUpti_ActivityGraphTrace&>(record), DeviceOpKind::graph));
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return see_migration(reinterpret_cast<const CUpti_ActivityUnifiedMemoryCounter2&>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return see_synchronization(reinterpret_cast<const CUpti_ActivitySynchronization&>(record));
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return see_event(reinterpret_cast<const CUpti_ActivityCudaEvent&>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return see_overhead(reinterpret_cast<const CUpti_ActivityOverhead2&>(record), end);
    default:
      return;
  }
}

// --- Buffers: shared, but where the process is not recorded, as a forked child ---

/// From this version on CUPTI tolerates that it gets no buffer.
constexpr uint32_t kTakesNoForAnAnswer = 27;
constexpr size_t kUnshared = size_t{1} << 20;

void CUPTIAPI on_request(uint8_t** buffer, size_t* size, size_t* most_records) {
  *most_records = 0;
  const Buffer given = is_on() ? take_buffer(g_cupti->version < kTakesNoForAnAnswer)
                               : Buffer{new_buffer(kUnshared), kUnshared};
  *buffer = given.memory;
  *size = given.memory != nullptr ? given.bytes : 0;
}

void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                          size_t valid) {
  CUpti_Activity* record = nullptr;
  while (is_on() && buffer != nullptr && valid > 0 &&
         g_cupti->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    see(*record, buffer + valid);
  }
  size_t dropped = 0;
  if (g_cupti->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
    device_records_lost(RawDeviceLoss::dropped, dropped);
  }
  if (buffer == nullptr) return;
  if (is_on()) {
    give_back_buffer({buffer, size});
  } else {
    free(buffer);
  }
}

/// Some systems have no such counters; nothing else depends on them.
void enable_migrations(const Cupti& cupti) {
  if (cupti.cuptiActivityConfigureUnifiedMemoryCounter == nullptr) return;
  CUpti_ActivityUnifiedMemoryCounterConfig configs[3] = {};
  constexpr CUpti_ActivityUnifiedMemoryCounterKind kKinds[] = {
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD};
  for (size_t i = 0; i < 3; ++i) {
    configs[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
    configs[i].kind = kKinds[i];
    configs[i].enable = 1;
  }
  if (cupti.cuptiActivityConfigureUnifiedMemoryCounter(configs, 3) == CUPTI_SUCCESS) {
    cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  }
}

/// Those without which there still are kernels.
constexpr CUpti_ActivityKind kFurtherKinds[] = {
    CUPTI_ACTIVITY_KIND_MEMCPY,     CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,     CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
    CUPTI_ACTIVITY_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_OVERHEAD};

}  // namespace

CUptiResult enable_activities(const Cupti& cupti, bool graph_nodes) {
  g_cupti = &cupti;
  CUptiResult result = cupti.cuptiActivityRegisterCallbacks(on_request, on_complete);
  if (result != CUPTI_SUCCESS) return result;
  // This comes before there is a context: later it would cost seconds.
  result = cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (result != CUPTI_SUCCESS) return result;
  for (const auto kind : kFurtherKinds) cupti.cuptiActivityEnable(kind);
  if (!graph_nodes) cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  enable_migrations(cupti);
  return CUPTI_SUCCESS;
}

void disable_activities(const Cupti& cupti) {
  for (const auto kind : kFurtherKinds) cupti.cuptiActivityDisable(kind);
  for (const auto kind :
       {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}) {
    cupti.cuptiActivityDisable(kind);
  }
}

}  // namespace culprit::gpu::cuda
