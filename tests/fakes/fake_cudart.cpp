// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A libcudart without a device behind it, so that real CUDA programs (compiled by nvcc) run
// anywhere. A device here is a clock: each stream has a time up to which it is busy, operations
// have lengths, and those who wait sleep. A kernel named `busy` lasts as many nanoseconds as its
// first argument says, any other 1.5 us; nothing is computed. As the driver does, it opens the
// injected library at the start; what that library's fake CUPTI wants to know, it is told. The
// context is made in the first call, and each kernel's code is loaded at its first launch. Assumes:
// graphs are captured from one stream. Nothing is torn down at the end of the process: threads may
// still be in here.

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fakes/fake_cupti.h"

namespace {

constexpr uint64_t kShortKernel = 1500;
constexpr uint64_t kBytesPerMicrosecond = 10'000;
constexpr uint64_t kCopyLatency = 2'000;
constexpr uint32_t kContext = 1;
constexpr long kDriverTime = 60'000'000;
constexpr uint64_t kContextTime = 20'000'000;
constexpr uint64_t kLoadingTime = 2'000'000;
constexpr uint64_t kHostFunction = 6'000'000;

struct Node {
  const char* name;
  uint64_t nanoseconds;
};

/// The fake CUPTI's functions, if a tool has opened it.
struct Tool {
  decltype(&fake_cupti_now) now = nullptr;
  decltype(&fake_cupti_wants) wants = nullptr;
  decltype(&fake_cupti_enter) enter = nullptr;
  decltype(&fake_cupti_answer) answer = nullptr;
  decltype(&fake_cupti_record) record = nullptr;
  decltype(&fake_cupti_context) context = nullptr;
  decltype(&fake_cupti_module) module = nullptr;
};

}  // namespace

struct CUstream_st {
  uint32_t number = 0;
  bool alone = false;  ///< does not wait for the default stream
  uint64_t busy_until = 0;
  bool captures = false;
  std::vector<Node> captured;
};
struct CUevent_st {
  uint32_t number = 0;
  uint64_t time = 0;
  uint64_t recordings = 0;
};
struct CUgraph_st {
  std::vector<Node> nodes;
};
struct CUgraphExec_st {
  std::vector<Node> nodes;
};
struct CUkern_st {
  std::string name;
  bool loaded = false;
};

namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};

struct Device {
  std::mutex mutex;
  Tool tool;
  CUstream_st standard;
  std::set<CUstream_st*> streams;
  std::map<const void*, CUkern_st> kernels;
  std::atomic<uint32_t> calls{0};
  uint32_t streams_made = 7, events_made = 0;
  uint64_t recordings = 0;
};
/// Kernels register before main(); the device itself waits for the first call, as a real one does.
std::map<const void*, std::string>& kernel_names() {
  static auto& names = *new std::map<const void*, std::string>;
  return names;
}

thread_local std::vector<Configuration> t_configurations;
thread_local cudaError_t t_error = cudaSuccess;

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

/// As the driver does, which takes its time: nothing shows it, since no tool is there yet.
void start_driver() {
  close(open("/dev/nvidiactl", O_RDWR));
  timespec begin = {}, time = {};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &time);
  } while ((time.tv_sec - begin.tv_sec) * 1'000'000'000 + time.tv_nsec - begin.tv_nsec <
           kDriverTime);
}

/// As the driver does: the injected library comes first, the context when it is needed.
void attach(Tool& tool) {
  start_driver();
  const char* injected = getenv("CUDA_INJECTION64_PATH");
  void* const library = injected != nullptr ? dlopen(injected, RTLD_NOW) : nullptr;
  if (library == nullptr) return;
  const auto start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (start != nullptr) start();
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (cupti == nullptr || dlsym(cupti, "fake_cupti_record") == nullptr) return;
  look_up(cupti, "fake_cupti_now", tool.now);
  look_up(cupti, "fake_cupti_wants", tool.wants);
  look_up(cupti, "fake_cupti_enter", tool.enter);
  look_up(cupti, "fake_cupti_answer", tool.answer);
  look_up(cupti, "fake_cupti_record", tool.record);
  look_up(cupti, "fake_cupti_context", tool.context);
  look_up(cupti, "fake_cupti_module", tool.module);
}

Device& device() {
  static Device& all = *[] {
    auto* const made = new Device;
    made->standard.number = 7;
    attach(made->tool);
    return made;
  }();
  return all;
}

uint64_t now() {
  if (device().tool.now != nullptr) return device().tool.now();
  timespec time = {};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void sleep_until(uint64_t moment) {
  for (uint64_t time = now(); time < moment; time = now()) {
    const uint64_t rest = moment - time;
    if (rest < 50'000) continue;
    const timespec nap = {static_cast<time_t>(rest / 1'000'000'000),
                          static_cast<long>(rest % 1'000'000'000)};
    nanosleep(&nap, nullptr);
  }
}

void take(uint64_t nanoseconds) {
  sleep_until(now() + nanoseconds);
}

/// The first to need it makes it, and all others wait for it.
void need_context() {
  static const bool made = [] {
    take(kContextTime);
    if (device().tool.context != nullptr) device().tool.context(0);
    return true;
  }();
  static_cast<void>(made);
}

/// One call of the runtime, as CUPTI's callbacks show it.
class Call {
 public:
  /// `arguments`: as CUPTI's structs of them begin.
  explicit Call(const char* name, const void* arguments = nullptr)
      : name_(name), arguments_(arguments), number_(++device().calls) {
    if (device().tool.enter != nullptr) device().tool.enter(name_, number_);
    need_context();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    if (device().tool.answer != nullptr) device().tool.answer(name_, number_, arguments_, result_);
  }
  uint32_t number() const { return number_; }
  cudaError_t ends(cudaError_t result) { return result_ = result; }

 private:
  const char* name_;
  const void* arguments_;
  uint32_t number_;
  cudaError_t result_ = cudaSuccess;
};

template <class Record>
void tell(const Record& record) {
  if (device().tool.record != nullptr) device().tool.record(&record, sizeof record);
}

CUstream_st& stream_of(cudaStream_t stream) {
  return stream != nullptr ? *stream : device().standard;
}

/// When the next operation of this stream begins. The default stream waits for others, and they for
/// it.
uint64_t next_begin(CUstream_st& stream) {
  uint64_t begin = std::max(stream.busy_until, now() + 1000);
  if (&stream == &device().standard) {
    for (const CUstream_st* other : device().streams) {
      if (!other->alone) begin = std::max(begin, other->busy_until);
    }
  } else if (!stream.alone) {
    begin = std::max(begin, device().standard.busy_until);
  }
  return begin;
}

uint64_t end_of_everything() {
  uint64_t end = device().standard.busy_until;
  for (const CUstream_st* stream : device().streams) end = std::max(end, stream->busy_until);
  return end;
}

template <class Record>
Record record_of(CUpti_ActivityKind kind, const CUstream_st& stream, uint32_t number,
                 uint64_t begin, uint64_t end) {
  Record record{};
  record.kind = kind;
  record.contextId = kContext;
  record.streamId = stream.number;
  record.correlationId = number;
  record.start = begin;
  record.end = end;
  return record;
}

/// Puts a kernel at the stream's end.
void run_kernel(CUstream_st& stream, const Node& node, uint32_t number, uint64_t graph_node) {
  const uint64_t begin = next_begin(stream);
  stream.busy_until = begin + node.nanoseconds;
  auto record = record_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, stream,
                                                  number, begin, stream.busy_until);
  record.name = node.name;
  record.graphNodeId = graph_node;
  tell(record);
}

void synchronised(CUpti_ActivitySynchronizationType type, uint32_t number, uint32_t stream,
                  uint32_t event, uint64_t recording) {
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = type;
  record.correlationId = number;
  record.contextId = kContext;
  record.streamId = stream;
  record.cudaEventId = event;
  record.cudaEventSyncId = recording;
  tell(record);
}

uint8_t kind_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    case cudaMemcpyDeviceToHost:
      return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    default:
      return CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  }
}

void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream_st& stream,
          uint32_t number) {
  std::memmove(to, from, bytes);
  const uint64_t begin = next_begin(stream);
  stream.busy_until = begin + kCopyLatency + bytes * 1000 / kBytesPerMicrosecond;
  auto record = record_of<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, stream, number, begin,
                                                 stream.busy_until);
  record.copyKind = kind_of(kind);
  record.srcKind = record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  record.bytes = bytes;
  tell(record);
}

/// As lazy loading does; CUPTI tells of it in two ways.
void load(CUkern_st& kern, uint32_t call) {
  if (std::exchange(kern.loaded, true)) return;
  CUpti_ActivityOverhead3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING;
  record.correlationId = call;
  record.start = now();
  take(kLoadingTime);
  record.end = now();
  if (device().tool.module != nullptr) device().tool.module();
  tell(record);
}

cudaError_t launch(cudaKernel_t kernel, void** arguments, cudaStream_t on) {
  const Call call("cudaLaunchKernel_v7000");
  const std::lock_guard lock(device().mutex);
  auto& kern = *reinterpret_cast<CUkern_st*>(kernel);
  load(kern, call.number());
  Node node{kern.name.c_str(), kShortKernel};
  if (kern.name.find("busy") != std::string::npos) memcpy(&node.nanoseconds, arguments[0], 8);
  CUstream_st& stream = stream_of(on);
  if (stream.captures) {
    stream.captured.push_back(node);
  } else {
    run_kernel(stream, node, call.number(), 0);
  }
  return cudaSuccess;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// --- What nvcc's code calls ---

EXPORT void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
EXPORT void __cudaRegisterFatBinaryEnd(void**) {}
EXPORT void __cudaUnregisterFatBinary(void**) {}
EXPORT void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*,
                                   uint3*, dim3*, dim3*, int*) {
  kernel_names()[host] = name;
}
EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  const std::lock_guard lock(device().mutex);
  CUkern_st& kern = device().kernels[host];
  kern.name = kernel_names()[host];
  *kernel = reinterpret_cast<cudaKernel_t>(&kern);
  return cudaSuccess;
}
EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                            CUstream_st* stream) {
  t_configurations.push_back({grid, block, shared, stream});
  return 0;
}
EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                              void* stream) {
  const Configuration last = t_configurations.back();
  t_configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  memcpy(stream, &last.stream, sizeof last.stream);
  return cudaSuccess;
}
EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void** arguments, size_t,
                                      cudaStream_t stream) {
  return launch(kernel, arguments, stream);
}

// --- Devices and memory ---

EXPORT cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "simulated device");
  return cudaSuccess;
}
EXPORT cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
EXPORT cudaError_t cudaSetDevice(int) {
  const Call call("cudaSetDevice_v3020");
  return cudaSuccess;
}
EXPORT cudaError_t cudaMalloc(void** memory, size_t bytes) {
  const Call call("cudaMalloc_v3020");
  *memory = std::malloc(bytes);
  return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
EXPORT cudaError_t cudaFree(void* memory) {
  const Call call("cudaFree_v3020");
  uint64_t end = 0;
  {
    const std::lock_guard lock(device().mutex);
    end = end_of_everything();
  }
  if (memory != nullptr) sleep_until(end);
  std::free(memory);
  return cudaSuccess;
}
EXPORT cudaError_t cudaGetLastError() {
  const Call call("cudaGetLastError_v3020");
  return std::exchange(t_error, cudaSuccess);
}
EXPORT const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "an error of the simulated device";
}
EXPORT cudaError_t cudaDeviceSynchronize() {
  const Call call("cudaDeviceSynchronize_v3020");
  uint64_t end = 0;
  {
    const std::lock_guard lock(device().mutex);
    end = end_of_everything();
  }
  sleep_until(end);
  synchronised(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, call.number(), ~0u, ~0u, 0);
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceReset() {
  return cudaDeviceSynchronize();
}
EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  const Call call("cudaMemcpyAsync_v3020");
  const std::lock_guard lock(device().mutex);
  copy(to, from, bytes, kind, stream_of(stream), call.number());
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const Call call("cudaMemcpy_v3020");
  uint64_t end = 0;
  {
    const std::lock_guard lock(device().mutex);
    copy(to, from, bytes, kind, device().standard, call.number());
    end = device().standard.busy_until;
  }
  sleep_until(end);
  return cudaSuccess;
}

// --- Streams and events ---

EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const std::lock_guard lock(device().mutex);
  *stream = new CUstream_st;
  (*stream)->number = ++device().streams_made;
  (*stream)->alone = (flags & cudaStreamNonBlocking) != 0;
  device().streams.insert(*stream);
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(device().mutex);
  device().streams.erase(stream);
  delete stream;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t on) {
  const Call call("cudaStreamSynchronize_v3020");
  CUstream_st& stream = stream_of(on);
  uint64_t end = 0;
  {
    const std::lock_guard lock(device().mutex);
    end = stream.busy_until;
  }
  sleep_until(end);
  synchronised(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, call.number(), stream.number,
               ~0u, 0);
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamQuery(cudaStream_t on) {
  Call call("cudaStreamQuery_v3020", &on);
  const std::lock_guard lock(device().mutex);
  return call.ends(stream_of(on).busy_until <= now() ? cudaSuccess : cudaErrorNotReady);
}
EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t on, cudaEvent_t event, unsigned) {
  const Call call("cudaStreamWaitEvent_v3020");
  const std::lock_guard lock(device().mutex);
  CUstream_st& stream = stream_of(on);
  stream.busy_until = std::max(stream.busy_until, event->time);
  synchronised(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, call.number(), stream.number,
               event->number, event->recordings);
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const std::lock_guard lock(device().mutex);
  *event = new CUevent_st;
  (*event)->number = ++device().events_made;
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventQuery(cudaEvent_t event) {
  Call call("cudaEventQuery_v3020", &event);
  return call.ends(event->time <= now() ? cudaSuccess : cudaErrorNotReady);
}
EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t on) {
  const Call call("cudaEventRecord_v3020", &event);
  const std::lock_guard lock(device().mutex);
  CUstream_st& stream = stream_of(on);
  event->time = next_begin(stream);
  event->recordings = ++device().recordings;
  CUpti_ActivityCudaEvent2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  record.correlationId = call.number();
  record.contextId = kContext;
  record.streamId = stream.number;
  record.eventId = event->number;
  record.cudaEventSyncId = event->recordings;
  tell(record);
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Call call("cudaEventSynchronize_v3020");
  sleep_until(event->time);
  synchronised(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, call.number(), ~0u,
               event->number, event->recordings);
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  *ms = static_cast<float>(static_cast<double>(end->time - begin->time) * 1e-6);
  return cudaSuccess;
}

/// What the stream does next is planned at once, so the function is taken to last as long as any.
EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t on, cudaHostFn_t function, void* argument) {
  const void* const arguments[] = {on, reinterpret_cast<const void*>(function), argument};
  const Call call("cudaLaunchHostFunc_v10000", arguments);
  const std::lock_guard lock(device().mutex);
  CUstream_st& stream = stream_of(on);
  const uint64_t begin = next_begin(stream);
  stream.busy_until = begin + kHostFunction;
  std::thread([=] { sleep_until(begin), function(argument); }).detach();
  return cudaSuccess;
}

// --- Graphs ---

EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const std::lock_guard lock(device().mutex);
  stream->captures = true;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::lock_guard lock(device().mutex);
  stream->captures = false;
  *graph = new CUgraph_st{std::exchange(stream->captured, {})};
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph,
                                                 unsigned long long) {
  *ready = new CUgraphExec_st{graph->nodes};
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t on) {
  const Call call("cudaGraphLaunch_v10000");
  const std::lock_guard lock(device().mutex);
  CUstream_st& stream = stream_of(on);
  const Tool& tool = device().tool;
  if (tool.wants != nullptr && tool.wants(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
    const uint64_t begin = next_begin(stream);
    stream.busy_until = begin;
    for (const Node& node : graph->nodes) stream.busy_until += node.nanoseconds;
    tell(record_of<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, stream,
                                              call.number(), begin, stream.busy_until));
    return cudaSuccess;
  }
  uint64_t number = uint64_t{5} << 32;
  for (const Node& node : graph->nodes) run_kernel(stream, node, call.number(), number++);
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
