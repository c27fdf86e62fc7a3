/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: late launch. In each of 5 steps the host prepares for 60 ms and only then launches a
 * kernel of 20 ms, for which it waits. The device has nothing to do while the host prepares.
 *
 * By construction: the device idles 0.3 s because of prepare; the host waits 0.1 s for the kernel.
 */
#include "opencl_work.h"
#include "work.h"

KERNEL double prepare(double value) {
  WORK_MS(60);
  return value + 0.5;
}

int main(void) {
  Device device = open_device();
  cl_command_queue queue = new_queue(&device, 0);
  double value = 0;
  for (int step = 0; step < 5; ++step) {
    PHASE("prepare", value = prepare(value));
    enqueue_busy(&device, queue, 20);
    PHASE("clFinish", CL_CHECK(clFinish(queue)));
  }
  CL_CHECK(clReleaseCommandQueue(queue));
  close_device(&device);
  printf("opencl_late_launch: value %.6f\n", value);
  return 0;
}
