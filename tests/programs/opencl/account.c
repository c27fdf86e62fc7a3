/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Uses OpenCL in one of several ways and keeps its own account of it, by OpenCL's profiling: a line
       op <queue> <what> <begin, ns of the device's clock> <end>
   for each operation. culprit's trace must say the same. Where the program asks for no profiling it
   checks that it gets none. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opencl_work.h"

#define BYTES 4096
#define MAX_OPS 4096

static Device device;
static struct {
  int queue;
  const char* what;
  cl_event event;
} ops[MAX_OPS];
static int op_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cl_event* add_op(int queue, const char* what) {
  pthread_mutex_lock(&lock);
  ops[op_count].queue = queue;
  ops[op_count].what = what;
  cl_event* event = &ops[op_count++].event;
  pthread_mutex_unlock(&lock);
  return event;
}

static void print_account(void) {
  for (int i = 0; i < op_count; ++i) {
    printf("op %d %s %llu %llu\n", ops[i].queue, ops[i].what,
           (unsigned long long)cl_time(ops[i].event, CL_PROFILING_COMMAND_START),
           (unsigned long long)cl_time(ops[i].event, CL_PROFILING_COMMAND_END));
    CL_CHECK(clReleaseEvent(ops[i].event));
  }
}

static void kernel(cl_command_queue queue, int number, double ms, cl_uint count,
                   const cl_event* after) {
  enqueue_turns(&device, queue, (cl_ulong)(ms * device.per_ms), count, after,
                add_op(number, "busy"));
}

/* Queue 0 was the calibration's: the account's queues count from 1. */

static void in_order(void) {
  cl_command_queue q = new_queue(&device, CL_QUEUE_PROFILING_ENABLE);
  static char data[BYTES];
  const cl_uint zero = 0;
  cl_int status;
  cl_mem other = clCreateBuffer(device.context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
  CL_CHECK(clEnqueueWriteBuffer(q, device.value, CL_FALSE, 0, BYTES, data, 0, NULL,
                                add_op(1, "copy_to_device")));
  kernel(q, 1, 2, 0, NULL);
  kernel(q, 1, 5, 0, NULL);
  CL_CHECK(clEnqueueFillBuffer(q, other, &zero, sizeof zero, 0, BYTES, 0, NULL, add_op(1, "fill")));
  CL_CHECK(clEnqueueCopyBuffer(q, device.value, other, 0, 0, BYTES, 0, NULL,
                               add_op(1, "copy_within_device")));
  void* mapped = clEnqueueMapBuffer(q, other, CL_TRUE, CL_MAP_READ, 0, BYTES, 0, NULL,
                                    add_op(1, "map"), &status);
  cl_check(status, "clEnqueueMapBuffer");
  CL_CHECK(clEnqueueUnmapMemObject(q, other, mapped, 0, NULL, add_op(1, "map")));
  CL_CHECK(clEnqueueReadBuffer(q, device.value, CL_TRUE, 0, BYTES, data, 0, NULL,
                               add_op(1, "copy_from_device")));
  CL_CHECK(clEnqueueMarkerWithWaitList(q, 0, NULL, add_op(1, "marker")));
  CL_CHECK(clFinish(q));
  print_account();
  CL_CHECK(clReleaseMemObject(other));
  CL_CHECK(clReleaseCommandQueue(q));
}

static void out_of_order(void) {
  cl_command_queue q =
      new_queue(&device, CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  for (int i = 0; i < 6; ++i) kernel(q, 1, 2 + i, 0, NULL);
  CL_CHECK(clFinish(q));
  print_account();
  CL_CHECK(clReleaseCommandQueue(q));
}

/* The second queue waits for the first one's kernel, and that for the host. */
static void two_queues(void) {
  cl_command_queue a = new_queue(&device, CL_QUEUE_PROFILING_ENABLE);
  cl_command_queue b = new_queue(&device, CL_QUEUE_PROFILING_ENABLE);
  cl_int status;
  cl_event go = clCreateUserEvent(device.context, &status);
  kernel(a, 1, 4, 1, &go);
  kernel(b, 2, 3, 1, &ops[0].event);
  CL_CHECK(clFlush(a));
  CL_CHECK(clFlush(b));
  usleep(20000);
  CL_CHECK(clSetUserEventStatus(go, CL_COMPLETE));
  CL_CHECK(clWaitForEvents(1, &ops[1].event));
  print_account();
  CL_CHECK(clReleaseEvent(go));
  CL_CHECK(clReleaseCommandQueue(a));
  CL_CHECK(clReleaseCommandQueue(b));
}

static int called;
static void CL_CALLBACK count_call(cl_event event, cl_int status, void* data) {
  (void)event;
  if (status == CL_COMPLETE && data == &called) __atomic_fetch_add(&called, 1, __ATOMIC_SEQ_CST);
}

static void callbacks(void) {
  cl_command_queue q = new_queue(&device, CL_QUEUE_PROFILING_ENABLE);
  for (int i = 0; i < 50; ++i) {
    kernel(q, 1, 0.1, 0, NULL);
    CL_CHECK(clSetEventCallback(ops[i].event, CL_COMPLETE, count_call, &called));
  }
  CL_CHECK(clFinish(q));
  for (int i = 0; i < 1000 && __atomic_load_n(&called, __ATOMIC_SEQ_CST) < 50; ++i) usleep(1000);
  if (__atomic_load_n(&called, __ATOMIC_SEQ_CST) != 50) {
    fprintf(stderr, "%d calls of 50\n", called);
    exit(1);
  }
  print_account();
  CL_CHECK(clReleaseCommandQueue(q));
}

/* What the program did not ask for it does not see. */
static void unprofiled(void) {
  cl_command_queue q = new_queue(&device, 0);
  cl_command_queue_properties properties = ~(cl_command_queue_properties)0;
  CL_CHECK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
  cl_event event;
  enqueue_turns(&device, q, (cl_ulong)device.per_ms, 0, NULL, &event);
  enqueue_busy(&device, q, 1);
  CL_CHECK(clFinish(q));
  cl_ulong time;
  const cl_int status =
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL);
  if (properties != 0 || status != CL_PROFILING_INFO_NOT_AVAILABLE) {
    fprintf(stderr, "properties %llu, profiling %d\n", (unsigned long long)properties, status);
    exit(1);
  }
  CL_CHECK(clReleaseEvent(event));
  CL_CHECK(clReleaseCommandQueue(q));
  printf("ops 1 2\n");
}

static void* one_thread(void* data) {
  const int number = *(int*)data;
  cl_int status;
  cl_command_queue q = new_queue(&device, CL_QUEUE_PROFILING_ENABLE);
  cl_kernel busy = clCreateKernel(device.program, "busy", &status);
  const cl_ulong turns = 100;
  const size_t one = 1;
  CL_CHECK(clSetKernelArg(busy, 0, sizeof device.value, &device.value));
  CL_CHECK(clSetKernelArg(busy, 1, sizeof turns, &turns));
  for (int i = 0; i < 300; ++i) {
    CL_CHECK(clEnqueueNDRangeKernel(q, busy, 1, NULL, &one, &one, 0, NULL, NULL));
  }
  CL_CHECK(clFinish(q));
  CL_CHECK(clReleaseKernel(busy));
  CL_CHECK(clReleaseCommandQueue(q));
  (void)number;
  return NULL;
}

static void threads(void) {
  pthread_t all[4];
  int numbers[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) pthread_create(&all[i], NULL, one_thread, &numbers[i]);
  for (int i = 0; i < 4; ++i) pthread_join(all[i], NULL);
  for (int i = 1; i <= 4; ++i) printf("ops %d 300\n", i);
}

static volatile int asking = 1;

static void* ask(void* queue) {
  cl_command_queue_properties properties;
  while (asking) {
    clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  }
  return NULL;
}

/* Children made while another thread asks of queues, and that ask themselves. */
static void fork_amid_questions(cl_command_queue q) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, ask, q) != 0) exit(1);
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      cl_command_queue_properties properties;
      clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    if (status != 0) exit(1);
  }
  asking = 0;
  pthread_join(thread, NULL);
}

/* A child that ends by itself is no part of the run, and does not hang. */
static void forks(void) {
  cl_command_queue q = new_queue(&device, CL_QUEUE_PROFILING_ENABLE);
  fork_amid_questions(q);
  kernel(q, 1, 2, 0, NULL);
  CL_CHECK(clFinish(q));
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0) exit(1);
  print_account();
  CL_CHECK(clReleaseCommandQueue(q));
}

/* Ends while an operation waits for what never comes. */
static void unfinished(void) {
  cl_command_queue q = new_queue(&device, CL_QUEUE_PROFILING_ENABLE);
  cl_int status;
  cl_event never = clCreateUserEvent(device.context, &status);
  kernel(q, 1, 2, 0, NULL);
  CL_CHECK(clFinish(q));
  print_account();
  op_count = 0;
  kernel(q, 1, 1, 1, &never);
  CL_CHECK(clFlush(q));
  fflush(stdout);
  exit(0);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } ways[] = {{"in_order", in_order},   {"out_of_order", out_of_order}, {"two_queues", two_queues},
              {"callbacks", callbacks}, {"unprofiled", unprofiled},     {"threads", threads},
              {"forks", forks},         {"unfinished", unfinished}};
  device = open_device();
  for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof ways[0]; ++i) {
    if (strcmp(argv[1], ways[i].name) != 0) continue;
    ways[i].run();
    close_device(&device);
    return 0;
  }
  return 2;
}
