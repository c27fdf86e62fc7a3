// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// These functions stand before CUPTI's, for programs that are linked with it and for those that ask
// for it by a handle. Python loads it for one module only, where a search from here does not lead:
// it is then found among all that is loaded.
#include "collector/process/cupti_place.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>

namespace {

using Result = unsigned;
/// CUPTI_ERROR_NOT_INITIALIZED: the answer where there is no CUPTI after all.
constexpr Result kNotInitialized = 15;

std::atomic<void (*)()> g_leave{nullptr};

void leave_place() {
  if (void (*leave)() = g_leave.exchange(nullptr, std::memory_order_acq_rel)) leave();
}

}  // namespace

extern "C" {
CULPRIT_EXPORT Result cuptiSubscribe(void** subscriber, void* callback, void* data);
CULPRIT_EXPORT Result cuptiSubscribe_v2(void** subscriber, void* callback, void* data,
                                        void* parameters);
CULPRIT_EXPORT Result cuptiActivityRegisterCallbacks(void* request, void* complete);
}

namespace {

struct StandIn {
  const char* name;
  void* own;
  std::atomic<void*> real;  ///< CUPTI's own
};

StandIn g_stand_ins[] = {
    {"cuptiSubscribe", reinterpret_cast<void*>(&cuptiSubscribe), nullptr},
    {"cuptiSubscribe_v2", reinterpret_cast<void*>(&cuptiSubscribe_v2), nullptr},
    {"cuptiActivityRegisterCallbacks", reinterpret_cast<void*>(&cuptiActivityRegisterCallbacks),
     nullptr},
};
enum Which { subscribe, subscribe_v2, register_callbacks };

int open_if_cupti(dl_phdr_info* info, size_t, void* handle) {
  constexpr char kName[] = "libcupti.so";
  const char* const slash = strrchr(info->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (strncmp(name, kName, sizeof kName - 1) != 0) return 0;
  *static_cast<void**>(handle) = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
  return *static_cast<void**>(handle) != nullptr ? 1 : 0;
}

template <class Function>
Function* real(Which which) {
  StandIn& stand_in = g_stand_ins[which];
  if (stand_in.real.load(std::memory_order_acquire) == nullptr) {
    void* handle = nullptr;
    dl_iterate_phdr(open_if_cupti, &handle);
    // Our own dlsym() may answer with our own function, and then has noted the real one.
    void* const found =
        handle != nullptr ? dlsym(handle, stand_in.name) : dlsym(RTLD_NEXT, stand_in.name);
    if (found != nullptr) culprit::collector::in_front_of_cupti(stand_in.name, found);
  }
  return reinterpret_cast<Function*>(stand_in.real.load(std::memory_order_acquire));
}

}  // namespace

extern "C" {

Result cuptiSubscribe(void** subscriber, void* callback, void* data) {
  auto* const next = real<decltype(cuptiSubscribe)>(subscribe);
  if (next == nullptr) return kNotInitialized;
  leave_place();
  return next(subscriber, callback, data);
}

Result cuptiSubscribe_v2(void** subscriber, void* callback, void* data, void* parameters) {
  auto* const next = real<decltype(cuptiSubscribe_v2)>(subscribe_v2);
  if (next == nullptr) return kNotInitialized;
  leave_place();
  return next(subscriber, callback, data, parameters);
}

Result cuptiActivityRegisterCallbacks(void* request, void* complete) {
  auto* const next = real<decltype(cuptiActivityRegisterCallbacks)>(register_callbacks);
  if (next == nullptr) return kNotInitialized;
  leave_place();
  return next(request, complete);
}

}  // extern "C"

namespace culprit::collector {

void hold_cupti_place(void (*leave)()) {
  g_leave.store(leave, std::memory_order_release);
}

void* in_front_of_cupti(const char* name, void* found) {
  for (StandIn& stand_in : g_stand_ins) {
    if (strcmp(stand_in.name, name) != 0) continue;
    if (found != stand_in.own) stand_in.real.store(found, std::memory_order_release);
    return stand_in.own;
  }
  return found;
}

}  // namespace culprit::collector
