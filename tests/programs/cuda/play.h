// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What plays of a CUDA program are made of: calls, records of a fake libcupti, and its start.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/fakes/fake_cupti.h"

namespace culprit::tests {

constexpr uint64_t kMillisecond = 1'000'000;
inline uint64_t g_begin = 0;  ///< of the first operation

inline void inject() {
  void* const library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
}

inline void call(const char* function, uint32_t correlation) {
  fake_cupti_enter(function, correlation);
  fake_cupti_leave(function, correlation);
}

template <class Record>
Record record_of(CUpti_ActivityKind kind, uint32_t correlation, uint32_t stream, uint64_t begin_ms,
                 uint64_t length_ms) {
  // Calls come first, however long they take.
  if (g_begin == 0) g_begin = fake_cupti_now() + kMillisecond;
  Record record{};
  record.kind = kind;
  record.deviceId = 0;
  record.contextId = 1;
  record.streamId = stream;
  record.correlationId = correlation;
  record.start = g_begin + begin_ms * kMillisecond;
  record.end = record.start + length_ms * kMillisecond;
  return record;
}

template <class Record>
inline void keep(const Record& record) {
  fake_cupti_record(&record, sizeof record);
}

inline void kernel(uint32_t correlation, uint32_t stream, uint64_t begin_ms, uint64_t length_ms,
                   const char* name = "_Z5saxpyfPf", uint64_t node = 0) {
  auto record = record_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                  correlation, stream, begin_ms, length_ms);
  record.name = name;
  record.graphNodeId = node;
  keep(record);
}

inline void copy(uint32_t correlation, uint32_t stream, uint64_t begin_ms, uint64_t length_ms,
                 int kind, int host_memory, uint64_t bytes) {
  auto record = record_of<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, correlation, stream,
                                                 begin_ms, length_ms);
  record.copyKind = static_cast<uint8_t>(kind);
  record.srcKind = record.dstKind = static_cast<uint8_t>(host_memory);
  record.bytes = bytes;
  keep(record);
}

inline void synchronisation(CUpti_ActivitySynchronizationType type, uint32_t correlation,
                            uint32_t stream, uint32_t event, uint64_t sync) {
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = type;
  record.correlationId = correlation;
  record.contextId = 1;
  record.streamId = stream;
  record.cudaEventId = event;
  record.cudaEventSyncId = sync;
  keep(record);
}

inline void event(uint32_t correlation, uint32_t stream, uint32_t number, uint64_t sync) {
  CUpti_ActivityCudaEvent2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  record.correlationId = correlation;
  record.contextId = 1;
  record.streamId = stream;
  record.eventId = number;
  record.cudaEventSyncId = sync;
  keep(record);
}

/// Wishes that differ from those of the environment in this one.
template <class Field>
inline void wish(Field FakeCuptiWishes::* field, Field value) {
  FakeCuptiWishes wishes{};
  wishes.*field = value;
  fake_cupti_wish(&wishes);
}

inline void start() {
  inject();
  call("cudaLaunchKernel_v7000", 1);  // before there is a context: nobody's
  fake_cupti_context(0);
}

// Plays of calls that ask for something, and of arguments and results.
void polls();
void nothing();
void host_function();

}  // namespace culprit::tests
