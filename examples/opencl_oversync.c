/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: over-synchronised. In each of 5 steps the host launches a kernel of 40 ms, waits for it
 * at once, and then works 40 ms on something that does not need it. The two could overlap.
 *
 * By construction: the host waits 0.2 s for the kernels, and the device idles 0.2 s because of
 * work_of_its_own. */
#include "opencl_work.h"
#include "work.h"

KERNEL double work_of_its_own(double value) {
  WORK_MS(40);
  return value + 0.5;
}

int main(void) {
  Device device = open_device();
  cl_command_queue queue = new_queue(&device, 0);
  double value = 0;
  for (int step = 0; step < 5; ++step) {
    enqueue_busy(&device, queue, 40);
    PHASE("clFinish", CL_CHECK(clFinish(queue)));
    PHASE("work_of_its_own", value = work_of_its_own(value));
  }
  CL_CHECK(clReleaseCommandQueue(queue));
  close_device(&device);
  printf("opencl_oversync: value %.6f\n", value);
  return 0;
}
