/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Times OpenCL calls that hand over next to nothing: what is added to them is the collector's own
   work on the launching thread. CPU time of that thread. Prints "name nanoseconds" lines. */
#define _POSIX_C_SOURCE 199309L
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <time.h>

enum { kCalls = 20000, kAtOnce = 1000 };

static double cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The wait for the queue between batches is not timed. */
#define TIMED(name, call)                                \
  do {                                                   \
    double spent = 0;                                    \
    for (int done = 0; done < kCalls; done += kAtOnce) { \
      const double begin = cpu_ns();                     \
      for (int i = 0; i < kAtOnce; ++i) call;            \
      spent += cpu_ns() - begin;                         \
      clFinish(queue);                                   \
    }                                                    \
    printf("%s %.1f\n", name, spent / kCalls);           \
  } while (0)

int main(void) {
  static const char* const source = "__kernel void nothing(__global int* x) { x[0] = 1; }";
  const size_t one = 1;
  int value = 0;
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 1;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, NULL);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) return 1;
  cl_kernel kernel = clCreateKernel(program, "nothing", NULL);
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
  clSetKernelArg(kernel, 0, sizeof memory, &memory);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
  clFinish(queue);
  TIMED("launch_kernel", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
  TIMED("write_4_bytes",
        clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, 4, &value, 0, NULL, NULL));
  TIMED("flush", clFlush(queue));
  clReleaseMemObject(memory);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
