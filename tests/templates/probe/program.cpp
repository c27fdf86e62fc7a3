// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What uses the made-up device: three operations of 40 ms; the host waits for each, and lets the
// device wait for 30 ms in between.
#include <unistd.h>

#include "tests/templates/probe/toy.h"

int main() {
  for (int i = 0; i < 3; ++i) {
    toy_wait(toy_launch("toy_kernel", 40));
    usleep(30'000);
  }
  return 0;
}
