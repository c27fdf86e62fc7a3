/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * OpenCL for the examples: the first device there is, and a kernel that keeps one of its cores busy
 * for as long as asked. How much work a millisecond holds is measured first, by OpenCL's own
 * profiling. Any error ends the program; without a device it ends with status 77. What it did when,
 * it also writes down for itself: see account.h. */
#ifndef CULPRIT_EXAMPLES_OPENCL_WORK_H
#define CULPRIT_EXAMPLES_OPENCL_WORK_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static void cl_check(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", what, status);
  exit(1);
}
#define CL_CHECK(call) cl_check(call, #call)

static cl_ulong cl_time(cl_event event, cl_profiling_info what) {
  cl_ulong time = 0;
  CL_CHECK(clGetEventProfilingInfo(event, what, sizeof time, &time, NULL));
  return time;
}

#include "account.h"

typedef struct {
  cl_context context;
  cl_device_id device;
  cl_program program;
  cl_kernel busy;
  cl_mem value;
  double per_ms; /* turns of the kernel's loop */
} Device;

static const char* const busy_source =
    "__kernel void busy(__global ulong* value, ulong turns) {\n"
    "  ulong v = value[0];\n"
    "  for (ulong i = 0; i < turns; ++i) v = v * 6364136223846793005UL + 1442695040888963407UL;\n"
    "  value[0] = v;\n"
    "}\n";

static void enqueue_turns(const Device* device, cl_command_queue queue, cl_ulong turns,
                          cl_uint count, const cl_event* after, cl_event* event) {
  const size_t one = 1;
  cl_event noted;
  cl_event* const told = event != NULL ? event : account_is_kept() ? &noted : NULL;
  CL_CHECK(clSetKernelArg(device->busy, 0, sizeof device->value, &device->value));
  CL_CHECK(clSetKernelArg(device->busy, 1, sizeof turns, &turns));
  const long long before = account_now();
  CL_CHECK(clEnqueueNDRangeKernel(queue, device->busy, 1, NULL, &one, &one, count, after, told));
  const long long later = account_now();
  if (account_is_kept()) account_operation(queue, *told, before, later);
  if (account_is_kept() && event == NULL) CL_CHECK(clReleaseEvent(noted));
}

/* A kernel of about so many milliseconds. */
static inline void enqueue_busy(const Device* device, cl_command_queue queue, double ms) {
  enqueue_turns(device, queue, (cl_ulong)(ms * device->per_ms), 0, NULL, NULL);
}

static cl_command_queue new_queue(const Device* device, cl_command_queue_properties properties) {
  cl_int status = CL_SUCCESS;
  if (account_is_kept()) properties |= CL_QUEUE_PROFILING_ENABLE;
  cl_command_queue queue =
      clCreateCommandQueue(device->context, device->device, properties, &status);
  cl_check(status, "clCreateCommandQueue");
  return queue;
}

/* The fastest of a few runs, since others may have had the core meanwhile. */
static void calibrate(Device* device) {
  const cl_ulong turns = 4000000;
  cl_command_queue queue = new_queue(device, CL_QUEUE_PROFILING_ENABLE);
  cl_ulong best = 0;
  for (int i = 0; i < 6; ++i) {
    cl_event event;
    enqueue_turns(device, queue, turns, 0, NULL, &event);
    CL_CHECK(clWaitForEvents(1, &event));
    const cl_ulong took =
        cl_time(event, CL_PROFILING_COMMAND_END) - cl_time(event, CL_PROFILING_COMMAND_START);
    if (best == 0 || took < best) best = took;
    CL_CHECK(clReleaseEvent(event));
  }
  CL_CHECK(clReleaseCommandQueue(queue));
  device->per_ms = (double)turns / ((double)best * 1e-6);
}

static Device open_device(void) {
  Device device = {0};
  cl_platform_id platform;
  cl_uint count = 0;
  cl_int status = clGetPlatformIDs(1, &platform, &count);
  if (status == CL_SUCCESS && count > 0) {
    status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device.device, &count);
  }
  if (status != CL_SUCCESS || count == 0) {
    fprintf(stderr, "there is no OpenCL device\n");
    exit(77);
  }
  device.context = clCreateContext(NULL, 1, &device.device, NULL, NULL, &status);
  cl_check(status, "clCreateContext");
  device.program =
      clCreateProgramWithSource(device.context, 1, (const char**)&busy_source, NULL, &status);
  cl_check(status, "clCreateProgramWithSource");
  CL_CHECK(clBuildProgram(device.program, 1, &device.device, "", NULL, NULL));
  device.busy = clCreateKernel(device.program, "busy", &status);
  cl_check(status, "clCreateKernel");
  device.value = clCreateBuffer(device.context, CL_MEM_READ_WRITE, 1 << 20, NULL, &status);
  cl_check(status, "clCreateBuffer");
  calibrate(&device);
  return device;
}

static inline void close_device(Device* device) {
  account_print();
  CL_CHECK(clReleaseMemObject(device->value));
  CL_CHECK(clReleaseKernel(device->busy));
  CL_CHECK(clReleaseProgram(device->program));
  CL_CHECK(clReleaseContext(device->context));
}

#endif
