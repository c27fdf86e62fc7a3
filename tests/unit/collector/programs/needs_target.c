/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Uses a function of libgomp that libomp does not have (built by gcc): must stay on libgomp. */
#include <omp.h>
#include <stdio.h>

int main(void) {
  int x = 1;
#pragma omp target map(tofrom : x)
  x += 1;
#pragma omp parallel num_threads(2) reduction(+ : x)
  x += 10;
  printf("%d\n", x);
  return 0;
}
