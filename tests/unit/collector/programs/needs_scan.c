/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   A reduction with scan (built by gcc): LLVM's runtime aborts such programs, so they must stay on
   libgomp. Also as a library of a program that has no OpenMP itself. */
#include <stdio.h>

void scan(void) {
  enum { kCount = 100 };
  long sum = 0, prefixes = 0, prefix[kCount];
#pragma omp parallel for reduction(inscan, + : sum) num_threads(3)
  for (int i = 0; i < kCount; ++i) {
    sum += i + 1;
#pragma omp scan inclusive(sum)
    prefix[i] = sum;
  }
  for (int i = 0; i < kCount; ++i) prefixes += prefix[i];
  printf("%ld %ld\n", prefix[kCount - 1], prefixes);
}

#ifdef WITH_MAIN
int main(void) {
  scan();
  return 0;
}
#endif
