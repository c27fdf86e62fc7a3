/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * As parts.c, with a device: in each of 30 steps the host prepares for 20 ms, launches a kernel of
 * 30 ms, does something of its own for 10 ms, and waits for the kernel. F_<part> is a factor. */
#include <stdlib.h>
#include <time.h>

#include "opencl_work.h"

static double takes(const char* part, double ms) {
  const char* factor = getenv(part);
  return factor == NULL ? ms : ms * atof(factor);
}

static void sleep_ms(double ms) {
  struct timespec time = {(time_t)(ms / 1e3), (long)((ms - 1e3 * (long)(ms / 1e3)) * 1e6)};
  if (ms > 0) nanosleep(&time, NULL);
}

#define PART __attribute__((noinline)) static double

PART prepare(void) {
  sleep_ms(takes("F_prepare", 20));
  return 1;
}
PART meanwhile(void) {
  sleep_ms(takes("F_meanwhile", 10));
  return 1;
}

int main(void) {
  Device device = open_device();
  cl_command_queue queue = new_queue(&device, 0);
  double sum = 0;
  for (int step = 0; step < 30; ++step) {
    sum += prepare();
    enqueue_busy(&device, queue, takes("F_kernel", 30));
    CL_CHECK(clFlush(queue));
    sum += meanwhile();
    CL_CHECK(clFinish(queue));
  }
  CL_CHECK(clReleaseCommandQueue(queue));
  close_device(&device);
  return sum < 0;
}
