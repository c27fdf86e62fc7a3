// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What Kokkos reports to tools (KOKKOS_TOOLS_LIBS) as regions of the program, by the labels that
// the program gave: kernels, regions, fences and copies between views. Kokkos calls these functions
// on the thread that runs them. A kernel on a device has begun when its begin is reported, but need
// not have ended when its end is: the device's own probe knows when it ran.
#include <pthread.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "include/culprit.h"

#define CULPRIT_TOOL extern "C" __attribute__((visibility("default")))

/// Not there in a process that took the variable over, but not the preload library.
extern "C" __attribute__((weak)) const culprit_calls culprit_calls_1;

namespace culprit::gpu::kokkos {

namespace {

enum class Kind : uint8_t { kernel, region, fence, copy };

constexpr size_t kMostBytes = 255;  ///< regions' names are cut there

struct Label {
  char bytes[kMostBytes];
  size_t length = 0;

  void add(std::string_view more) {
    const size_t taken = more.size() < kMostBytes - length ? more.size() : kMostBytes - length;
    memcpy(bytes + length, more.data(), taken);
    length += taken;
  }
  void add(const char* text) {
    if (text != nullptr) add(std::string_view(text, strnlen(text, kMostBytes)));
  }
};

struct Open {
  Kind kind = Kind::kernel;
  Label label;
};

/// Those that are deeper are only counted.
constexpr unsigned kDeepest = 64;
struct OpenRegions {
  Open regions[kDeepest];
  unsigned count = 0;
  unsigned deeper = 0;
};

/// Made at a thread's first region, so that threads without any take no memory; gone with it.
pthread_key_t g_key;
const bool g_has_key = pthread_key_create(&g_key, free) == 0;

OpenRegions* open_regions() {
  if (!g_has_key || &culprit_calls_1 == nullptr) return nullptr;
  if (void* known = pthread_getspecific(g_key)) return static_cast<OpenRegions*>(known);
  void* const memory = malloc(sizeof(OpenRegions));
  if (memory == nullptr) return nullptr;
  auto* const made = ::new (memory) OpenRegions;
  if (pthread_setspecific(g_key, made) == 0) return made;
  free(memory);
  return nullptr;
}

void begin(Kind kind, const Label& label) {
  OpenRegions* const open = open_regions();
  if (open == nullptr) return;
  if (open->count == kDeepest) {
    ++open->deeper;
    return;
  }
  Open& region = open->regions[open->count++];
  region.kind = kind;
  region.label = label;
  culprit_calls_1.region_begin(region.label.bytes, region.label.length);
}

void begin(Kind kind, std::string_view what, const char* text) {
  Label label;
  label.add(what);
  label.add(text);
  begin(kind, label);
}

/// Ends the last that was begun of its kind, and what was begun in it: a region need not end in the
/// kernel, or the fence, in which it began.
void end(Kind kind) {
  OpenRegions* const open = open_regions();
  if (open == nullptr) return;
  if (open->deeper > 0) {
    --open->deeper;
    return;
  }
  unsigned which = open->count;
  while (which > 0 && open->regions[which - 1].kind != kind) --which;
  if (which == 0) return;
  while (open->count >= which) {
    const Label& label = open->regions[--open->count].label;
    culprit_calls_1.region_end(label.bytes, label.length);
  }
}

void begin_kernel(const char* name, uint64_t* number) {
  if (number != nullptr) *number = 0;
  begin(Kind::kernel, {}, name);
}

}  // namespace

}  // namespace culprit::gpu::kokkos

using culprit::gpu::kokkos::Kind;
using culprit::gpu::kokkos::Label;

/// As Kokkos passes them, by value.
struct KokkosSpace {
  char name[64];
};
struct KokkosToolSettings {
  bool requires_global_fencing;
  bool reserved[255];
};

CULPRIT_TOOL void kokkosp_init_library(int, uint64_t, uint32_t, void*) {}
CULPRIT_TOOL void kokkosp_finalize_library() {}

/// Otherwise Kokkos waits for the device around each kernel, so that its times look like the
/// kernel's.
CULPRIT_TOOL void kokkosp_request_tool_settings(uint32_t, KokkosToolSettings* settings) {
  if (settings != nullptr) settings->requires_global_fencing = false;
}

CULPRIT_TOOL void kokkosp_begin_parallel_for(const char* name, uint32_t, uint64_t* number) {
  culprit::gpu::kokkos::begin_kernel(name, number);
}
CULPRIT_TOOL void kokkosp_end_parallel_for(uint64_t) {
  culprit::gpu::kokkos::end(Kind::kernel);
}
CULPRIT_TOOL void kokkosp_begin_parallel_reduce(const char* name, uint32_t, uint64_t* number) {
  culprit::gpu::kokkos::begin_kernel(name, number);
}
CULPRIT_TOOL void kokkosp_end_parallel_reduce(uint64_t) {
  culprit::gpu::kokkos::end(Kind::kernel);
}
CULPRIT_TOOL void kokkosp_begin_parallel_scan(const char* name, uint32_t, uint64_t* number) {
  culprit::gpu::kokkos::begin_kernel(name, number);
}
CULPRIT_TOOL void kokkosp_end_parallel_scan(uint64_t) {
  culprit::gpu::kokkos::end(Kind::kernel);
}

CULPRIT_TOOL void kokkosp_push_profile_region(const char* name) {
  culprit::gpu::kokkos::begin(Kind::region, {}, name);
}
CULPRIT_TOOL void kokkosp_pop_profile_region() {
  culprit::gpu::kokkos::end(Kind::region);
}

CULPRIT_TOOL void kokkosp_begin_fence(const char* name, uint32_t, uint64_t* number) {
  if (number != nullptr) *number = 0;
  culprit::gpu::kokkos::begin(Kind::fence, "fence: ", name);
}
CULPRIT_TOOL void kokkosp_end_fence(uint64_t) {
  culprit::gpu::kokkos::end(Kind::fence);
}

CULPRIT_TOOL void kokkosp_begin_deep_copy(KokkosSpace, const char* to, const void*, KokkosSpace,
                                          const char* from, const void*, uint64_t) {
  Label label;
  label.add(std::string_view("copy: "));
  label.add(from);
  label.add(std::string_view(" to "));
  label.add(to);
  culprit::gpu::kokkos::begin(Kind::copy, label);
}
CULPRIT_TOOL void kokkosp_end_deep_copy() {
  culprit::gpu::kokkos::end(Kind::copy);
}
