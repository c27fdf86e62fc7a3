// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Queues, as the program makes them, plus profiling. The program is to notice nothing: what it asks
// about its queues is answered as if we had not asked for profiling.
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <unordered_map>

#include "gpu/lock.h"
#include "gpu/opencl/layer.h"

namespace culprit::gpu::opencl {

namespace {

constexpr cl_command_queue_properties kProfiling = CL_QUEUE_PROFILING_ENABLE;

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

template <class Key, class Number>
class Numbers {
 public:
  /// The number that is known for `key`, or what `make` makes, without the lock.
  template <class Make>
  Number get(Key key, Make make) {
    {
      const Lock lock(g_mutex);
      const auto known = numbers().find(key);
      if (known != numbers().end()) return known->second;
    }
    const Number number = make();
    const Lock lock(g_mutex);
    numbers()[key] = number;
    return number;
  }
  void forget(Key key) {
    const Lock lock(g_mutex);
    numbers().erase(key);
  }

 private:
  static std::unordered_map<Key, Number>& numbers() {
    static auto* const all = new std::unordered_map<Key, Number>;  // never torn down
    return *all;
  }
};

std::string text_of(cl_device_id device, cl_device_info what) {
  char text[512] = {};
  if (next_layer->clGetDeviceInfo(device, what, sizeof text - 1, text, nullptr) != CL_SUCCESS) {
    return "";
  }
  return text;
}

/// If the runtime has no identity for a device, this is its position among those of its platform,
/// which is the same in all processes.
std::string identity_of(cl_device_id device) {
  constexpr cl_device_info kUuid = 0x106A;  // CL_DEVICE_UUID_KHR
  std::array<unsigned char, 16> uuid{};
  std::string identity = text_of(device, CL_DEVICE_NAME);
  if (next_layer->clGetDeviceInfo(device, kUuid, sizeof uuid, uuid.data(), nullptr) == CL_SUCCESS) {
    constexpr char kDigits[] = "0123456789abcdef";
    identity = "uuid ";
    for (const unsigned char byte : uuid) identity += {kDigits[byte >> 4], kDigits[byte & 15]};
    return identity;
  }
  cl_platform_id platform = nullptr;
  std::array<cl_device_id, 64> all{};
  cl_uint count = 0;
  next_layer->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
  next_layer->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, all.size(), all.data(), &count);
  for (cl_uint i = 0; i < count && i < all.size(); ++i) {
    if (all[i] == device) identity += " #" + std::to_string(i);
  }
  return identity;
}

DeviceNumber number_of(cl_device_id device) {
  static Numbers<cl_device_id, DeviceNumber> devices;
  return devices.get(device, [&] {
    return add_device({DeviceApi::opencl, text_of(device, CL_DEVICE_NAME), identity_of(device)});
  });
}

Numbers<cl_kernel, NameNumber> g_kernels;

void follow(cl_command_queue handle, cl_device_id device, cl_command_queue_properties asked) {
  Queue queue;
  queue.device = number_of(device);
  queue.asked = asked;
  queue.out_of_order = (asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  // Users count queues in the order in which the process made them.
  static std::atomic<uint64_t> made{0};
  queue.number = add_queue({queue.device, 0, made++, queue.out_of_order});
  queue.followed = queue.number != QueueNumber::none;
  add(handle, queue);
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties asked, cl_int* error) {
  const bool on = begin_following();
  cl_command_queue queue =
      next_layer->clCreateCommandQueue(context, device, on ? asked | kProfiling : asked, error);
  if (on && queue != nullptr) follow(queue, device, asked);
  return queue;
}

/// Pairs of a property and its value, ended by a zero.
struct Properties {
  static constexpr size_t kMost = 64;
  std::array<cl_queue_properties, kMost> list{};
  cl_command_queue_properties asked = 0;
  bool usable = true;

  explicit Properties(const cl_queue_properties* given) {
    size_t count = 0;
    cl_queue_properties* flags = nullptr;
    for (; given != nullptr && given[count] != 0; count += 2) {
      if (count + 4 >= kMost) {
        usable = false;
        return;
      }
      list[count] = given[count];
      list[count + 1] = given[count + 1];
      if (given[count] == CL_QUEUE_PROPERTIES) flags = &list[count + 1];
    }
    if (flags == nullptr) {
      list[count] = CL_QUEUE_PROPERTIES;
      flags = &list[count + 1];
    }
    asked = *flags;
    usable = (asked & CL_QUEUE_ON_DEVICE) == 0;
    *flags |= kProfiling;
  }
};

cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id device,
                                               const cl_queue_properties* given, cl_int* error) {
  const Properties properties(given);
  const bool on = properties.usable && begin_following();
  cl_command_queue queue = next_layer->clCreateCommandQueueWithProperties(
      context, device, on ? properties.list.data() : given, error);
  if (on && queue != nullptr) follow(queue, device, properties.asked);
  return queue;
}

cl_int CL_API_CALL queue_info(cl_command_queue handle, cl_command_queue_info what, size_t size,
                              void* value, size_t* size_needed) {
  const cl_int status = next_layer->clGetCommandQueueInfo(handle, what, size, value, size_needed);
  if (status != CL_SUCCESS || value == nullptr || what != CL_QUEUE_PROPERTIES) return status;
  const Queue queue = is_on() ? find(handle) : Queue{};
  if (queue.followed && size >= sizeof queue.asked) memcpy(value, &queue.asked, sizeof queue.asked);
  return status;
}

/// Answers the program's queries about an event of a queue that it made without profiling.
cl_int CL_API_CALL profiling_info(cl_event event, cl_profiling_info what, size_t size, void* value,
                                  size_t* size_needed) {
  cl_command_queue handle = nullptr;
  next_layer->clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, &handle, nullptr);
  const Queue queue = is_on() ? find(handle) : Queue{};
  if (queue.followed && (queue.asked & kProfiling) == 0) return CL_PROFILING_INFO_NOT_AVAILABLE;
  return next_layer->clGetEventProfilingInfo(event, what, size, value, size_needed);
}

/// A handle may be one that a kernel had before which is gone.
void forget(cl_kernel kernel) {
  if (is_on()) g_kernels.forget(kernel);
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* error) {
  cl_kernel kernel = next_layer->clCreateKernel(program, name, error);
  forget(kernel);
  return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program program, cl_uint count, cl_kernel* kernels,
                                  cl_uint* made) {
  cl_uint number = 0;
  const cl_int status = next_layer->clCreateKernelsInProgram(program, count, kernels, &number);
  if (made != nullptr) *made = number;
  for (cl_uint i = 0; status == CL_SUCCESS && kernels != nullptr && i < number; ++i) {
    forget(kernels[i]);
  }
  return status;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel kernel, cl_int* error) {
  cl_kernel made = next_layer->clCloneKernel(kernel, error);
  forget(made);
  return made;
}

}  // namespace

NameNumber name_of(cl_kernel kernel) {
  return g_kernels.get(kernel, [&] {
    char text[1024] = {};
    next_layer->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof text - 1, text, nullptr);
    return number_of_name(text);
  });
}

void take_queues(cl_icd_dispatch& table) {
  table.clCreateCommandQueue = create_queue;
  table.clCreateCommandQueueWithProperties = create_queue_with;
  table.clGetCommandQueueInfo = queue_info;
  table.clGetEventProfilingInfo = profiling_info;
  table.clCreateKernel = create_kernel;
  table.clCreateKernelsInProgram = create_kernels;
  table.clCloneKernel = clone_kernel;
}

}  // namespace culprit::gpu::opencl
