// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What CUPTI costs by itself: a library that CUDA's driver opens (CUDA_INJECTION64_PATH), which
// enables the activities that culprit enables, and throws away what it gets. CULPRIT_KIT_CUPTI
// names CUPTI's library. Writes the number of records to the file that CULPRIT_KIT_RECORDS names.

#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kBufferBytes = size_t{4} << 20;

decltype(&cuptiActivityGetNextRecord) g_next = nullptr;
decltype(&cuptiActivityFlushAll) g_flush = nullptr;
std::atomic<uint64_t> g_records{0};

void CUPTIAPI on_request(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;
}

void CUPTIAPI on_complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  uint64_t records = 0;
  while (valid > 0 && g_next(buffer, valid, &record) == CUPTI_SUCCESS) ++records;
  g_records += records;
  std::free(buffer);
}

void at_the_end() {
  g_flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const char* path = getenv("CULPRIT_KIT_RECORDS");
  FILE* const file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%llu\n", static_cast<unsigned long long>(g_records.load()));
  std::fclose(file);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  const char* path = getenv("CULPRIT_KIT_CUPTI");
  void* const cupti = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
  if (cupti == nullptr) return 1;
  g_next = reinterpret_cast<decltype(g_next)>(dlsym(cupti, "cuptiActivityGetNextRecord"));
  g_flush = reinterpret_cast<decltype(g_flush)>(dlsym(cupti, "cuptiActivityFlushAll"));
  const auto callbacks = reinterpret_cast<decltype(&cuptiActivityRegisterCallbacks)>(
      dlsym(cupti, "cuptiActivityRegisterCallbacks"));
  const auto enable =
      reinterpret_cast<decltype(&cuptiActivityEnable)>(dlsym(cupti, "cuptiActivityEnable"));
  if (g_next == nullptr || g_flush == nullptr || callbacks == nullptr || enable == nullptr)
    return 1;
  if (callbacks(on_request, on_complete) != CUPTI_SUCCESS) return 1;
  for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                          CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
                          CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                          CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_GRAPH_TRACE}) {
    enable(kind);
  }
  std::atexit(at_the_end);
  return 1;
}
