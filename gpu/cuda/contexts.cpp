// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tables behind one lock, which is let go while CUPTI is asked; so two threads may ask the same at
// once, and the first answer is kept.
#include "gpu/cuda/contexts.h"

#include <dlfcn.h>
#include <pthread.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collector/process/recorder.h"
#include "gpu/lock.h"

namespace culprit::gpu::cuda {

namespace {

/// A number that no stream has; nor, with those below, a context.
constexpr auto kMigrations = static_cast<uint32_t>(trace::kRawMigrations);

struct Contexts {
  std::map<uint32_t, DeviceNumber> devices;         ///< by ordinal
  std::map<uint32_t, uint32_t> ordinal_of_context;  ///< by CUPTI's number
  std::map<std::tuple<uint32_t, uint32_t>, QueueNumber> queues;
};

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
Contexts& state() {
  static Contexts* const all = new Contexts;  // never torn down
  return *all;
}

template <class Function>
Function* driver_function(const char* name) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  return driver == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(driver, name));
}

std::string name_of_device(uint32_t ordinal) {
  char name[256] = {};
  const auto get = driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetName");
  if (get != nullptr &&
      get(name, sizeof name - 1, static_cast<CUdevice>(ordinal)) == CUDA_SUCCESS) {
    return name;
  }
  return "CUDA device " + std::to_string(ordinal);
}

/// Processes may see different devices under one ordinal, but never under one bus address.
std::string identity_of_device(uint32_t ordinal) {
  char address[64] = {};
  const auto get = driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetPCIBusId");
  if (get != nullptr &&
      get(address, sizeof address - 1, static_cast<CUdevice>(ordinal)) == CUDA_SUCCESS) {
    return address;
  }
  return "CUDA device " + std::to_string(ordinal);
}

}  // namespace

DeviceNumber device_number(uint32_t ordinal) {
  {
    const Lock lock(g_mutex);
    const auto known = state().devices.find(ordinal);
    if (known != state().devices.end()) return known->second;
  }
  const std::string name = name_of_device(ordinal);
  const std::string identity = identity_of_device(ordinal);
  const Lock lock(g_mutex);
  const auto [device, is_new] = state().devices.try_emplace(ordinal, DeviceNumber{});
  if (is_new) device->second = add_device({DeviceApi::cuda, name, identity});
  return device->second;
}

void add_context(const Cupti& cupti, CUcontext context) {
  uint32_t number = 0, ordinal = 0;
  if (cupti.cuptiGetContextId(context, &number) != CUPTI_SUCCESS) return;
  if (cupti.cuptiGetDeviceId(context, &ordinal) != CUPTI_SUCCESS) return;
  device_number(ordinal);
  const Lock lock(g_mutex);
  state().ordinal_of_context[number] = ordinal;
}

DeviceNumber device_of_context(uint32_t context) {
  uint32_t ordinal = 0;
  {
    const Lock lock(g_mutex);
    const auto known = state().ordinal_of_context.find(context);
    if (known != state().ordinal_of_context.end()) ordinal = known->second;
  }
  return device_number(ordinal);
}

QueueNumber queue_of(uint32_t ordinal, uint32_t context, uint32_t stream) {
  const DeviceNumber device = device_number(ordinal);
  const Lock lock(g_mutex);
  const auto [queue, is_new] = state().queues.try_emplace({context, stream}, QueueNumber::none);
  if (is_new) queue->second = add_queue({device, context, stream, stream == kMigrations});
  return queue->second;
}

QueueNumber queue_of(uint32_t context, uint32_t stream) {
  uint32_t ordinal = 0;
  {
    const Lock lock(g_mutex);
    const auto queue = state().queues.find({context, stream});
    if (queue != state().queues.end()) return queue->second;
    const auto known = state().ordinal_of_context.find(context);
    if (known != state().ordinal_of_context.end()) ordinal = known->second;
  }
  return queue_of(ordinal, context, stream);
}

QueueNumber migrations_of(uint32_t ordinal) {
  return queue_of(ordinal, kMigrations - ordinal, kMigrations);
}

void pair_clocks(uint64_t (*device_nanoseconds)()) {
  std::vector<DeviceNumber> devices;
  {
    const Lock lock(g_mutex);
    for (const auto& [ordinal, device] : state().devices) devices.push_back(device);
  }
  if (devices.empty()) return;
  const uint64_t before = collector::now();
  const uint64_t nanoseconds = device_nanoseconds();
  const uint64_t after = collector::now();
  for (const DeviceNumber device : devices) clock_was(device, nanoseconds, before, after);
}

}  // namespace culprit::gpu::cuda
