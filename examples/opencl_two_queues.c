/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Disease: one queue waits for another. In each of 5 steps the second queue's kernel of 10 ms
 * depends on the first one's of 40 ms, so that the two never run side by side.
 *
 * By construction: the second queue waits 0.2 s for the first one's kernel. */
#include "opencl_work.h"

int main(void) {
  Device device = open_device();
  cl_command_queue first = new_queue(&device, 0);
  cl_command_queue second = new_queue(&device, 0);
  for (int step = 0; step < 5; ++step) {
    cl_event done;
    enqueue_turns(&device, first, (cl_ulong)(40 * device.per_ms), 0, NULL, &done);
    CL_CHECK(clFlush(first));
    enqueue_turns(&device, second, (cl_ulong)(10 * device.per_ms), 1, &done, NULL);
    PHASE("clFinish", CL_CHECK(clFinish(second)));
    CL_CHECK(clReleaseEvent(done));
  }
  CL_CHECK(clReleaseCommandQueue(first));
  CL_CHECK(clReleaseCommandQueue(second));
  close_device(&device);
  printf("opencl_two_queues: done\n");
  return 0;
}
