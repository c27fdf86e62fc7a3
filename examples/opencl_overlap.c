/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * No disease: host and device work side by side. In each of 5 steps the host launches a kernel of
 * 60 ms, works 50 ms itself, launches the next one behind it, and only waits at the very end.
 *
 * By construction: the device has something to do all the time; the host waits about 0.05 s, for
 * the last kernels. */
#include "opencl_work.h"
#include "work.h"

KERNEL double work_beside(double value) {
  WORK_MS(50);
  return value + 0.5;
}

int main(void) {
  Device device = open_device();
  cl_command_queue queue = new_queue(&device, 0);
  double value = 0;
  for (int step = 0; step < 5; ++step) {
    enqueue_busy(&device, queue, 60);
    CL_CHECK(clFlush(queue));
    PHASE("work_beside", value = work_beside(value));
  }
  PHASE("clFinish", CL_CHECK(clFinish(queue)));
  CL_CHECK(clReleaseCommandQueue(queue));
  close_device(&device);
  printf("opencl_overlap: value %.6f\n", value);
  return 0;
}
