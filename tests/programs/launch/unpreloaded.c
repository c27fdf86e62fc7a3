/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   A program that uses nothing that culprit observes. Built for C libraries into which culprit's
   library cannot come; says that it ran, and ends with a status of its own. */
#include <stdio.h>

int main(void) {
  puts("it ran");
  return 7;
}
