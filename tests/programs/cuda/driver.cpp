// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A CUDA program without CUDA: it opens the injected library as the driver would, and plays calls
// and records on a fake libcupti. Lengths of operations are fixed; only where they lie depends on
// the clock. The test next to it knows what must come out.

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/cuda/play.h"

using namespace culprit::tests;

namespace {

/// Every kind of record, later calls' before earlier ones'.
void everything() {
  start();
  fake_cupti_enter("cudaLaunchKernel_v7000", 10);
  call("cuLaunchKernel", 10);  // the driver's, inside the runtime's
  fake_cupti_leave("cudaLaunchKernel_v7000", 10);
  call("cudaMemcpyAsync_v3020", 11);
  call("cudaMemcpy_v3020", 12);
  call("cudaMemsetAsync_v3020", 13);
  call("cudaEventRecord_v3020", 14);
  call("cudaStreamWaitEvent_v3020", 15);
  call("cuLaunchKernel_ptsz", 16);
  call("cudaEventSynchronize_v3020", 17);
  call("cudaStreamSynchronize_v3020", 18);
  call("cudaGraphLaunch_v10000", 19);
  call("cudaDeviceSynchronize_v3020", 20);
  call("cudaFree_v3020", 21);
  call("cudaGetLastError_v3020", 22);
  call("cudaMemcpyAsync_v3020", 23);
  kernel(10, 7, 0, 10);
  copy(11, 7, 10, 5, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
       5ull << 32);
  copy(12, 7, 15, 5, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, 64);
  auto fill = record_of<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 13, 7, 20, 1);
  fill.bytes = 32;
  keep(fill);
  event(14, 7, 3, 900);
  event(99, 7, 3, 901);  // recorded again later
  synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 15, 8, 3, 900);
  kernel(16, 8, 21, 4, "_Z5daxpydPd");
  synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, 17, ~0u, 3, 900);
  synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 18, 8, ~0u, 0);
  keep(record_of<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 19, 8, 30, 6));
  synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, 20, ~0u, ~0u, 0);
  auto peer = record_of<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 23, 8, 40, 2);
  peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  peer.bytes = 128;
  keep(peer);
  CUpti_ActivityUnifiedMemoryCounter3 moved{};
  moved.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  moved.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
  moved.value = 4096;
  moved.start = g_begin + 2 * kMillisecond;
  moved.end = moved.start + kMillisecond;
  keep(moved);
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.start = g_begin;
  overhead.end = g_begin + 100;
  keep(overhead);
  fake_cupti_deliver(true);
}

/// In buffers that hold two records each, in the order of the devices' time, the calls last.
void small_buffers() {
  wish(&FakeCuptiWishes::buffer_bytes, size_t{600});
  start();
  for (uint32_t i = 0; i < 100; ++i) kernel(10 + i, 7, i, 1);
  fake_cupti_deliver(false);
  for (uint32_t i = 0; i < 100; ++i) call("cudaLaunchKernel_v7000", 10 + i);
}

/// Times that cannot be, and records that are lost.
void bad_times() {
  start();
  for (uint32_t i = 0; i < 6; ++i) call("cudaLaunchKernel_v7000", 10 + i);
  kernel(10, 7, 0, 10);
  auto zero = record_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 11, 7, 0, 0);
  zero.start = zero.end = 0;
  keep(zero);
  auto reversed =
      record_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 12, 7, 20, 5);
  reversed.end = reversed.start - 1;
  keep(reversed);
  auto early =
      record_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 13, 8, 0, 1);
  early.start = g_begin - kMillisecond * 1000;  // before its launch
  keep(early);
  kernel(77, 7, 30, 1);  // no call of this number
  fake_cupti_drop(5);
  fake_cupti_deliver(false);
}

/// Only the last flush, at the end of the process, brings the records.
void late() {
  start();
  call("cudaLaunchKernel_v7000", 10);
  kernel(10, 7, 0, 10);
}

void hang() {
  wish(&FakeCuptiWishes::hang, true);
  start();
  call("cudaLaunchKernel_v7000", 10);
  kernel(10, 7, 0, 10);
  fake_cupti_deliver(false);
  kernel(11, 7, 10, 10);
}

void old_clock() {
  wish(&FakeCuptiWishes::old_clock, true);
  late();
}

/// Each node of a graph by itself.
void graph_nodes() {
  start();
  call("cudaGraphLaunch_v10000", 10);
  kernel(10, 7, 0, 10, "_Z5saxpyfPf", 0x500000000);
  kernel(10, 7, 5, 10, "_Z5saxpyfPf", 0x500000001);  // beside the first
  keep(record_of<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 10, 7, 0, 15));
  fake_cupti_deliver(false);
}

/// CUPTI tells no nodes where it is to tell launches.
void graph() {
  start();
  call("cudaGraphLaunch_v10000", 10);
  keep(record_of<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 10, 7, 0, 15));
  fake_cupti_deliver(false);
}

/// Its records are complete, and nobody has asked for them yet.
void destroyed_context() {
  late();
  usleep(30'000);
  fake_cupti_context_ends(0);
}

/// Streams of one number in two contexts, on two devices, fed by one thread.
void two_contexts() {
  start();
  fake_cupti_context(1);
  call("cudaLaunchKernel_v7000", 10);
  call("cudaLaunchKernel_v7000", 11);
  kernel(10, 7, 0, 10);
  auto other =
      record_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 11, 7, 0, 5);
  other.deviceId = 1;
  other.contextId = 2;
  other.name = "_Z5daxpydPd";
  keep(other);
  fake_cupti_deliver(false);
}

/// A child that was forked with CUDA in use: it has no part in the recording, and ends.
void forked() {
  start();
  call("cudaLaunchKernel_v7000", 10);
  kernel(10, 7, 0, 10);
  const pid_t child = fork();
  if (child == 0) {
    call("cudaLaunchKernel_v7000", 50);
    fake_cupti_context(1);
    fake_cupti_context_ends(0);
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(3);
}

/// More buffers are asked for than there may be: what is refused is lost, and no more. There are
/// enough for hundreds of threads.
void no_buffers() {
  constexpr int kMany = 10'000, kThreads = 500;
  start();
  call("cudaLaunchKernel_v7000", 10);
  call("cudaLaunchKernel_v7000", 11);
  const int most = fake_cupti_hoard(kMany);
  if (most < kThreads || most == kMany) std::exit(4);
  kernel(10, 7, 0, 10);
  fake_cupti_deliver(false);
  fake_cupti_let_go();
  kernel(11, 7, 20, 10);
  fake_cupti_deliver(false);
  if (fake_cupti_hoard(kMany) != most) std::exit(5);
  fake_cupti_let_go();
}

/// A kernel that this thread launches, of half a millisecond from now on.
void launch_now(uint32_t correlation, uint32_t stream) {
  call("cudaLaunchKernel_v7000", correlation);
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.contextId = 1;
  record.streamId = stream;
  record.correlationId = correlation;
  record.start = fake_cupti_now();
  record.end = record.start + kMillisecond / 2;
  record.name = "_Z5saxpyfPf";
  keep(record);
}

/// Threads that live long with a buffer each, and many that end at once and leave theirs behind.
void per_thread() {
  constexpr uint32_t kLong = 64, kEach = 20, kShort = 300;
  wish(&FakeCuptiWishes::per_thread, true);
  start();
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kLong; ++t) {
    threads.emplace_back([=] {
      for (uint32_t i = 0; i < kEach; ++i) launch_now(1000 + t * kEach + i, 7 + t);
    });
  }
  for (uint32_t t = 0; t < kShort; ++t) {
    std::thread([=] {
      launch_now(10'000 + 2 * t, 7);
      launch_now(10'001 + 2 * t, 7);
    }).join();
  }
  for (std::thread& thread : threads) thread.join();
}

/// A kernel that begins after its launch and ends before the host asks for it, by milliseconds.
void clock() {
  start();
  call("cudaLaunchKernel_v7000", 10);
  usleep(5000);
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.contextId = 1;
  record.streamId = 7;
  record.correlationId = 10;
  record.start = fake_cupti_now();
  record.end = record.start + 10 * kMillisecond;
  record.name = "_Z5saxpyfPf";
  keep(record);
  usleep(20'000);
  call("cudaDeviceSynchronize_v3020", 11);
  fake_cupti_deliver(false);
}

/// Calls that wait, and what CUPTI has of them: nothing, or what is not so.
void waits() {
  start();
  call("cudaLaunchKernel_v7000", 10);
  call("cuLaunchKernel", 11);
  call("cudaDeviceSynchronize_v3020", 20);
  call("cudaStreamSynchronize_v3020", 21);
  call("cudaEventRecord_v3020", 22);
  call("cudaEventSynchronize_v3020", 23);
  call("cuCtxSynchronize_v2", 24);
  call("cudaThreadSynchronize_v3020", 25);
  call("cuStreamSynchronize_ptsz", 26);
  call("cudaEventSynchronize_v3020", 27);
  kernel(10, 7, 0, 10);
  kernel(11, 8, 0, 10);
  event(22, 8, 3, 900);
  synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, 20, ~0u, ~0u, 0);
  synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, 21, 8, ~0u, 0);
  synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN, 23, ~0u, 3, 900);
  synchronisation(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 25, 7, ~0u, 0);
  fake_cupti_deliver(false);
}

void overhead(unsigned kind, uint32_t correlation, uint64_t begin, uint64_t end) {
  CUpti_ActivityOverhead3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  record.overheadKind = static_cast<CUpti_ActivityOverheadKind>(kind);
  record.correlationId = correlation;
  record.start = begin;
  record.end = end;
  if (kind == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL) record.overheadData = malloc(16);
  keep(record);
}

/// A launch that takes 15 ms, the last 10 for a reason of this kind that CUPTI tells of; when that
/// was over.
uint64_t slow_launch(unsigned kind, uint32_t correlation) {
  fake_cupti_enter("cudaLaunchKernel_v7000", correlation);
  usleep(5000);
  const uint64_t begin = fake_cupti_now();
  usleep(10'000);
  const uint64_t end = fake_cupti_now();
  fake_cupti_leave("cudaLaunchKernel_v7000", correlation);
  overhead(kind, correlation, begin, end);
  return end;
}

/// The first call makes the context, the first launch loads a module as the driver tells, a later
/// one as only a record tells, and the last finds no room until the first kernel has ended.
void start_up() {
  inject();
  fake_cupti_enter("cudaSetDevice_v3020", 1);
  usleep(20'000);
  fake_cupti_context(0);
  fake_cupti_leave("cudaSetDevice_v3020", 1);
  call("cudaSetDevice_v3020", 2);  // of no interest any more
  fake_cupti_enter("cudaLaunchKernel_v7000", 10);
  usleep(10'000);
  fake_cupti_module();
  fake_cupti_leave("cudaLaunchKernel_v7000", 10);
  const uint64_t begin = fake_cupti_now();
  slow_launch(CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING, 11);
  const uint64_t had_room = slow_launch(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, 12);
  auto first =
      record_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10, 7, 0, 0);
  first.start = begin;
  first.end = had_room - 5 * kMillisecond;  // while the last launch waited
  first.name = "_Z5saxpyfPf";
  keep(first);
  g_begin = fake_cupti_now();
  kernel(11, 7, 0, 5);
  kernel(12, 7, 5, 5);
  fake_cupti_deliver(false);
}

/// CUPTI tells of a minute of overhead of some kind, which belongs to no launch.
void a_minute_of(unsigned kind) {
  late();
  overhead(kind, 0, g_begin, g_begin + 60'000 * kMillisecond);
}
void a_minute_of_tools() {
  a_minute_of(CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION);
}
void a_minute_of_compiling() {
  a_minute_of(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER);
}
void a_minute_of_loading() {
  a_minute_of(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
}
void a_minute_of_full_queue() {
  a_minute_of(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
}

/// Threads launch while the drain's fetches records.
void storm() {
  constexpr uint32_t kThreads = 4, kEach = 2000;
  start();
  const uint64_t now = fake_cupti_now();
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([=] {
      for (uint32_t i = 0; i < kEach; ++i) {
        const uint32_t number = 100 + t * kEach + i;
        call("cudaLaunchKernel_v7000", number);
        CUpti_ActivityKernel10 record{};
        record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        record.contextId = 1;
        record.streamId = 7 + t;
        record.correlationId = number;
        record.start = now + i * 1000;
        record.end = record.start + 500;
        record.name = "_Z5saxpyfPf";
        keep(record);
        if (i % 100 == 0) fake_cupti_deliver(false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// CUPTI refuses. Something else makes the process worth recording.
void refused_with(CUptiResult answer) {
  wish(&FakeCuptiWishes::subscribe, answer);
  inject();
  call("cudaLaunchKernel_v7000", 10);
  fake_cupti_context(0);
#pragma omp parallel num_threads(2)
  {
    __asm__ volatile("");
  }
}

// --- A profiler in the program ---

int g_profiled = 0;

void CUPTIAPI see_nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}
void CUPTIAPI give_room(uint8_t** buffer, size_t* size, size_t* most_records) {
  *size = 1 << 16;
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, *size));
  *most_records = 0;
}
void CUPTIAPI count_kernels(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    g_profiled += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? 1 : 0;
  }
  free(buffer);
}

/// Half a kernel's records are ours; one thread waits for the device all the while.
void profile_with(CUptiResult (*subscribe)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*)) {
  inject();
  fake_cupti_context(0);
  call("cudaLaunchKernel_v7000", 10);
  kernel(10, 7, 0, 5);
  usleep(20'000);
  std::atomic<bool> waits{false}, over{false};
  std::thread waiting([&] {
    fake_cupti_enter("cudaStreamSynchronize_v3020", 11);
    waits = true;
    while (!over) usleep(1000);
    fake_cupti_leave("cudaStreamSynchronize_v3020", 11);
  });
  while (!waits) usleep(1000);
  CUpti_SubscriberHandle subscriber = nullptr;
  if (subscribe(&subscriber, see_nothing, nullptr) != CUPTI_SUCCESS) exit(3);
  cuptiActivityRegisterCallbacks(give_room, count_kernels);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  usleep(100'000);
  call("cudaLaunchKernel_v7000", 12);
  kernel(12, 7, 20, 5);
  over = true;
  waiting.join();
  usleep(20'000);
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  exit(g_profiled == 1 ? 0 : 4);
}

void own_profiler() {
  profile_with(cuptiSubscribe);
}

void own_profiler_by_handle() {
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_NOW);
  if (cupti == nullptr) exit(5);
  profile_with(reinterpret_cast<decltype(&cuptiSubscribe)>(dlsym(cupti, "cuptiSubscribe")));
}

void refused() {
  refused_with(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

/// As where it does not belong to the driver.
void mismatched() {
  refused_with(CUPTI_ERROR_NOT_INITIALIZED);
}

/// CUDA is initialised and never used: the process is none of our business.
void no_context() {
  inject();
}

}  // namespace

int main(int argc, char** argv) {
  static const std::map<std::string, void (*)()> kWays = {
      {"everything", everything},
      {"small_buffers", small_buffers},
      {"bad_times", bad_times},
      {"late", late},
      {"hang", hang},
      {"old_clock", old_clock},
      {"graph_nodes", graph_nodes},
      {"graph", graph},
      {"destroyed_context", destroyed_context},
      {"refused", refused},
      {"own_profiler", own_profiler},
      {"own_profiler_by_handle", own_profiler_by_handle},
      {"mismatched", mismatched},
      {"two_contexts", two_contexts},
      {"forked", forked},
      {"no_buffers", no_buffers},
      {"storm", storm},
      {"per_thread", per_thread},
      {"clock", clock},
      {"waits", waits},
      {"start_up", start_up},
      {"polls", polls},
      {"nothing", nothing},
      {"host_function", host_function},
      {"tools", a_minute_of_tools},
      {"compiling", a_minute_of_compiling},
      {"loading", a_minute_of_loading},
      {"full_queue", a_minute_of_full_queue},
      {"no_context", no_context}};
  const auto way = argc > 1 ? kWays.find(argv[1]) : kWays.end();
  if (way == kWays.end()) return 2;
  way->second();
  return fake_cupti_misdeeds();
}
