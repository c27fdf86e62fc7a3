// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fakes/fake_cupti.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using Record = std::vector<char>;

constexpr uint32_t kVersion = 130001;

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
                                    "cudaGetLastError_v3020"};
constexpr const char* kDriver[] = {"cuLaunchKernel", "cuMemcpyDtoH_v2", "cuLaunchKernel_ptsz"};

struct Fake {
  std::mutex mutex;
  FakeCuptiWishes wishes{};
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

void call(const char* function, uint32_t correlation, CUpti_ApiCallbackSite site) {
  const auto [domain, number] = number_of(function);
  if (fake().callback == nullptr || !fake().enabled.contains({domain, number})) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = function;
  data.contextUid = 1;
  data.correlationId = correlation;
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

void resource(CUpti_CallbackIdResource what, uint32_t ordinal) {
  if (!fake().enabled.contains({CUPTI_CB_DOMAIN_RESOURCE, what})) return;
  CUpti_ResourceData data{};
  data.context = reinterpret_cast<CUcontext>(uintptr_t{ordinal} + 1);
  fake().callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, static_cast<uint32_t>(what), &data);
}

size_t stride(size_t size) {
  return (size + 7) / 8 * 8;
}

/// Full buffers one after the other. Records are found again by their sizes, in front of them.
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
    for (; next < records.size(); ++next) {
      const uint64_t length = stride(records[next].size());
      if (used + sizeof length + length > size) break;
      memcpy(buffer + used, &length, sizeof length);
      memcpy(buffer + used + sizeof length, records[next].data(), records[next].size());
      used += sizeof length + length;
    }
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
EXPORT void fake_cupti_record(const void* record, size_t size) {
  const auto* bytes = static_cast<const char*>(record);
  CUpti_ActivityKind kind;
  memcpy(&kind, bytes, sizeof kind);
  if (!fake().kinds.contains(kind)) return;
  const std::lock_guard lock(fake().mutex);
  fake().kept.emplace_back(bytes, bytes + size);
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

EXPORT CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = kVersion;
  return CUPTI_SUCCESS;
}
EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                  void*) {
  if (fake().wishes.subscribe != CUPTI_SUCCESS) return fake().wishes.subscribe;
  fake().callback = callback;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&fake());
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
