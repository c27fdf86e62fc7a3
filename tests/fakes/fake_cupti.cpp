// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fakes/fake_cupti.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using Record = std::vector<char>;

constexpr uint32_t kVersion = 130001;
/// What versions do wrong, each from the first to before the last.
struct Versions {
  uint32_t first, end;
  bool contain(uint32_t version) const { return version >= first && version < end; }
};
constexpr Versions kNoTimesWithAClock = {24, 130100};
constexpr Versions kNoDeviceSync = {130000, 130001};

/// Function names as CUPTI lists them; the index is the number, from 1.
constexpr const char* kRuntime[] = {"cudaLaunchKernel_v7000",
                                    "cudaMemcpyAsync_v3020",
                                    "cudaMemcpy_v3020",
                                    "cudaStreamSynchronize_v3020",
                                    "cudaEventRecord_v3020",
                                    "cudaStreamWaitEvent_v3020",
                                    "cudaEventSynchronize_v3020",
                                    "cudaDeviceSynchronize_v3020",
                                    "cudaGraphLaunch_v10000",
                                    "cudaMemsetAsync_v3020",
                                    "cudaFree_v3020",
                                    "cudaGetLastError_v3020",
                                    "cudaMalloc_v3020",
                                    "cudaSetDevice_v3020",
                                    "cudaThreadSynchronize_v3020",
                                    "cudaEventQuery_v3020",
                                    "cudaStreamQuery_v3020",
                                    "cudaLaunchHostFunc_v10000",
                                    "cudaStreamAddCallback_v5000",
                                    "cudaStreamBeginCapture_v10000",
                                    "cudaStreamEndCapture_v10000"};
constexpr const char* kDriver[] = {
    "cuLaunchKernel",      "cuMemcpyDtoH_v2",          "cuLaunchKernel_ptsz", "cuCtxSynchronize",
    "cuCtxSynchronize_v2", "cuStreamSynchronize_ptsz", "cuStreamQuery_ptsz",  "cuEventQuery"};

FakeCuptiWishes wishes_of_environment() {
  FakeCuptiWishes wishes{};
  if (const char* version = getenv("FAKE_CUPTI_VERSION")) {
    wishes.version = static_cast<uint32_t>(atoi(version));
  }
  wishes.event_sync = getenv("FAKE_CUPTI_EVENT_SYNC") != nullptr;
  wishes.per_thread = getenv("FAKE_CUPTI_PER_THREAD") != nullptr;
  return wishes;
}

/// A thread's own buffer.
struct Own {
  uint8_t* buffer = nullptr;
  size_t size = 0, used = 0;
  uint64_t complete_at = 0;  ///< when all that it tells of is over
};

struct Fake {
  std::mutex mutex;
  FakeCuptiWishes wishes = wishes_of_environment();
  std::vector<Own*> owns;  ///< of all threads that there have ever been
  CUpti_CallbackFunc callback = nullptr;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc clock = nullptr;
  std::set<std::pair<int, uint32_t>> enabled;
  std::set<int> kinds;
  std::vector<Record> kept;
  std::vector<uint8_t*> hoarded;
  std::atomic<size_t> dropped{0};
  int misdeeds = 0;
};
/// Never torn down: threads may be in here while the process ends, as in CUPTI itself.
Fake& fake() {
  static Fake& all = *new Fake;
  return all;
}

std::pair<int, uint32_t> number_of(const std::string& function) {
  for (uint32_t i = 0; i < std::size(kRuntime); ++i) {
    if (function == kRuntime[i]) return {CUPTI_CB_DOMAIN_RUNTIME_API, i + 1};
  }
  for (uint32_t i = 0; i < std::size(kDriver); ++i) {
    if (function == kDriver[i]) return {CUPTI_CB_DOMAIN_DRIVER_API, i + 1};
  }
  return {CUPTI_CB_DOMAIN_INVALID, 0};
}

void call(const char* function, uint32_t correlation, CUpti_ApiCallbackSite site,
          const void* arguments = nullptr, int* result = nullptr) {
  const auto [domain, number] = number_of(function);
  if (fake().callback == nullptr || !fake().enabled.contains({domain, number})) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = function;
  data.context = reinterpret_cast<CUcontext>(uintptr_t{1});
  data.contextUid = 1;
  data.correlationId = correlation;
  data.functionParams = arguments;
  data.functionReturnValue = result;
  fake().callback(nullptr, static_cast<CUpti_CallbackDomain>(domain), number, &data);
}

/// Of the records that were kept, those for which `which` holds.
template <class Which>
std::vector<Record> take_if(Which which) {
  const std::lock_guard lock(fake().mutex);
  std::vector<Record>& kept = fake().kept;
  const auto rest = std::stable_partition(kept.begin(), kept.end(), which);
  std::vector<Record> taken(std::make_move_iterator(kept.begin()), std::make_move_iterator(rest));
  kept.erase(kept.begin(), rest);
  return taken;
}

/// Whether what a kernel's record tells of is over. Others are complete at once.
bool is_complete(const Record& record) {
  CUpti_ActivityKernel9 kernel;
  if (record.size() < sizeof kernel) return true;
  memcpy(&kernel, record.data(), sizeof kernel);
  return kernel.kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kernel.end <= fake_cupti_now();
}

bool is_of_context(const Record& record, uint32_t context) {
  CUpti_ActivityKernel9 kernel;
  if (record.size() < sizeof kernel) return false;
  memcpy(&kernel, record.data(), sizeof kernel);
  return kernel.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && kernel.contextId == context;
}

uint32_t version() {
  return fake().wishes.version != 0 ? fake().wishes.version : kVersion;
}

/// The record as this version tells it; empty if it does not.
Record as_told(Record record) {
  CUpti_ActivityKind kind;
  memcpy(&kind, record.data(), sizeof kind);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fake().clock != nullptr &&
      kNoTimesWithAClock.contain(version())) {
    CUpti_ActivityKernel9 kernel;
    memcpy(&kernel, record.data(), sizeof kernel);
    kernel.start = kernel.end = 0;
    memcpy(record.data(), &kernel, sizeof kernel);
  }
  if (kind != CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) return record;
  CUpti_ActivitySynchronization sync;
  memcpy(&sync, record.data(), sizeof sync);
  if (sync.type != CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE) return record;
  if (kNoDeviceSync.contain(version())) return {};
  if (!fake().wishes.event_sync) return record;
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
  sync.cudaEventId = sync.streamId = ~0u;
  memcpy(record.data(), &sync, sizeof sync);
  return record;
}

void resource(CUpti_CallbackIdResource what, uint32_t ordinal) {
  if (!fake().enabled.contains({CUPTI_CB_DOMAIN_RESOURCE, what})) return;
  CUpti_ResourceData data{};
  data.context = reinterpret_cast<CUcontext>(uintptr_t{ordinal} + 1);
  fake().callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, static_cast<uint32_t>(what), &data);
}

size_t stride(size_t size) {
  return (size + 7) / 8 * 8;
}

/// Puts it into the buffer, with its size in front of it, by which it is found again. False if
/// there is no room.
bool put(const Record& record, uint8_t* buffer, size_t size, size_t& used) {
  const uint64_t length = stride(record.size());
  if (used + sizeof length + length > size) return false;
  memcpy(buffer + used, &length, sizeof length);
  memcpy(buffer + used + sizeof length, record.data(), record.size());
  used += sizeof length + length;
  return true;
}

Own& own_buffer() {
  thread_local Own* own = nullptr;
  if (own == nullptr) {
    own = new Own;
    const std::lock_guard lock(fake().mutex);
    fake().owns.push_back(own);
  }
  return *own;
}

void request_own(Own& own) {
  size_t most = 0;
  own = {};
  fake().request(&own.buffer, &own.size, &most);
  if (own.buffer != nullptr && fake().wishes.buffer_bytes != 0) {
    own.size = std::min(own.size, fake().wishes.buffer_bytes);
  }
}

/// A buffer that is full goes back at once.
void keep_per_thread(const Record& record) {
  Own& own = own_buffer();
  CUpti_ActivityKernel9 kernel{};
  memcpy(&kernel, record.data(), std::min(record.size(), sizeof kernel));
  Own full;
  {
    const std::lock_guard lock(fake().mutex);
    if (own.buffer != nullptr && put(record, own.buffer, own.size, own.used)) {
      own.complete_at = std::max(own.complete_at, is_complete(record) ? 0 : kernel.end);
      return;
    }
    full = std::exchange(own, {});
  }
  if (full.buffer != nullptr) fake().complete(nullptr, 0, full.buffer, full.size, full.used);
  Own fresh;
  request_own(fresh);
  const std::lock_guard lock(fake().mutex);
  own = fresh;
  own.complete_at = is_complete(record) ? 0 : kernel.end;
  if (own.buffer == nullptr || !put(record, own.buffer, own.size, own.used)) ++fake().dropped;
}

/// As CUPTI does: a buffer goes back if all in it is over, or by force; whether its thread is still
/// there makes no difference.
void flush_per_thread(bool by_force) {
  std::vector<Own> taken;
  {
    const std::lock_guard lock(fake().mutex);
    for (Own* own : fake().owns) {
      const bool may_go = by_force || own->complete_at <= fake_cupti_now();
      if (own->buffer != nullptr && may_go) taken.push_back(std::exchange(*own, {}));
    }
  }
  for (const Own& own : taken) fake().complete(nullptr, 0, own.buffer, own.size, own.used);
}

/// Full buffers one after the other.
void deliver(std::vector<Record> records) {
  size_t next = 0;
  while (next < records.size()) {
    uint8_t* buffer = nullptr;
    size_t size = 0, most = 0, used = 0;
    fake().request(&buffer, &size, &most);
    if (buffer == nullptr) {
      fake().dropped += records.size() - next;
      break;
    }
    if (fake().wishes.buffer_bytes != 0) size = std::min(size, fake().wishes.buffer_bytes);
    while (next < records.size() && put(records[next], buffer, size, used)) ++next;
    fake().complete(nullptr, 0, buffer, size, used);
  }
}

std::vector<Record> take() {
  return take_if([](const Record&) { return true; });
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void fake_cupti_wish(const FakeCuptiWishes* wishes) {
  fake().wishes = *wishes;
}
EXPORT uint64_t fake_cupti_now() {
  uint64_t now = 0;
  if (fake().clock != nullptr) return fake().clock();
  cuptiGetTimestamp(&now);
  return now;
}
EXPORT void fake_cupti_context(uint32_t ordinal) {
  resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, ordinal);
}
EXPORT void fake_cupti_module() {
  resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, 0);
}
EXPORT void fake_cupti_context_ends(uint32_t ordinal) {
  resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, ordinal);
  // What has not been fetched by now is gone with the context.
  take_if([&](const Record& record) { return is_of_context(record, ordinal + 1); });
}
EXPORT void fake_cupti_enter(const char* function, uint32_t correlation) {
  call(function, correlation, CUPTI_API_ENTER);
}
EXPORT void fake_cupti_leave(const char* function, uint32_t correlation) {
  call(function, correlation, CUPTI_API_EXIT);
}
EXPORT void fake_cupti_answer(const char* function, uint32_t correlation, const void* arguments,
                              int result) {
  call(function, correlation, CUPTI_API_EXIT, arguments, &result);
}
EXPORT void fake_cupti_record(const void* record, size_t size) {
  const auto* bytes = static_cast<const char*>(record);
  CUpti_ActivityKind kind;
  memcpy(&kind, bytes, sizeof kind);
  if (!fake().kinds.contains(kind)) return;
  Record told = as_told(Record(bytes, bytes + size));
  if (told.empty()) return;
  if (fake().wishes.per_thread) return keep_per_thread(told);
  const std::lock_guard lock(fake().mutex);
  fake().kept.push_back(std::move(told));
}
EXPORT bool fake_cupti_wants(int kind) {
  return fake().kinds.contains(kind);
}
EXPORT void fake_cupti_drop(size_t count) {
  fake().dropped += count;
}
EXPORT int fake_cupti_hoard(int count) {
  int given = 0;
  for (int i = 0; i < count; ++i) {
    uint8_t* buffer = nullptr;
    size_t size = 0, most = 0;
    fake().request(&buffer, &size, &most);
    if (buffer == nullptr) continue;
    fake().hoarded.push_back(buffer);
    ++given;
  }
  return given;
}
EXPORT void fake_cupti_let_go() {
  for (uint8_t* buffer : std::exchange(fake().hoarded, {})) {
    fake().complete(nullptr, 0, buffer, 0, 0);
  }
}
EXPORT void fake_cupti_deliver(bool reversed) {
  std::vector<Record> records = take();
  if (reversed) std::reverse(records.begin(), records.end());
  deliver(std::move(records));
}
EXPORT int fake_cupti_misdeeds() {
  return fake().misdeeds;
}

// --- CUPTI ---

EXPORT CUptiResult cuptiGetVersion(uint32_t* answer) {
  *answer = version();
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                  void*) {
  if (fake().wishes.subscribe != CUPTI_SUCCESS) return fake().wishes.subscribe;
  if (fake().callback != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  fake().callback = callback;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&fake());
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  fake().callback = nullptr;
  fake().enabled.clear();
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle,
                                       CUpti_CallbackDomain domain, CUpti_CallbackId number) {
  if (enable != 0) fake().enabled.insert({domain, number});
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t number,
                                        const char** name) {
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (number == 0 || number > (runtime ? std::size(kRuntime) : std::size(kDriver))) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *name = runtime ? kRuntime[number - 1] : kDriver[number - 1];
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
          : result == CUPTI_ERROR_NOT_INITIALIZED ? "CUPTI_ERROR_NOT_INITIALIZED"
                                                  : "CUPTI_ERROR_UNKNOWN";
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t* number) {
  *number = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context));
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, uint8_t, uint32_t* number) {
  *number = stream != nullptr ? *reinterpret_cast<const uint32_t*>(stream) : 7;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* ordinal) {
  *ordinal = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context)) - 1;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiGetTimestamp(uint64_t* time) {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  *time = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                  CUpti_BuffersCallbackCompleteFunc complete) {
  fake().request = request;
  fake().complete = complete;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  fake().kinds.insert(kind);
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  fake().kinds.erase(kind);
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult
cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig*, uint32_t) {
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  if (fake().wishes.old_clock) return CUPTI_ERROR_NOT_SUPPORTED;
  fake().clock = clock;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  while (flag != 0 && fake().wishes.hang) pause();
  if (fake().wishes.per_thread) flush_per_thread(flag != 0);
  deliver(flag == 0 ? take_if(is_complete) : take());
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid,
                                              CUpti_Activity** record) {
  auto* at = reinterpret_cast<uint8_t*>(*record);
  uint8_t* next = buffer;
  if (at != nullptr && at >= buffer && at < buffer + valid) {
    uint64_t length = 0;
    memcpy(&length, at - sizeof length, sizeof length);
    next = at + length;
  }
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next + sizeof(uint64_t));
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = fake().dropped.exchange(0);
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiFinalize() {
  ++fake().misdeeds;
  return CUPTI_SUCCESS;
}
