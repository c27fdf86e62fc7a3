/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that uses neither MPI nor OpenMP: there is nothing to measure, and its status is 7. */
#include <stdio.h>

int main(void) {
  puts("neither: done");
  return 7;
}
