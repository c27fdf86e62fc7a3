/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Nothing here needs more than LLVM's runtime has, but its library does. */
#include <omp.h>

void scan(void);

int main(void) {
  int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
  threads += 1;
  scan();
  return threads == 2 ? 0 : 1;
}
