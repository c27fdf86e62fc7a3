/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Another tool for OpenMP: says that it was started, and wants nothing. */
#include <stdio.h>

void* ompt_start_tool(unsigned version, const char* runtime) {
  printf("other tool\n");
  fflush(stdout);
  return version == 0 && runtime == NULL ? &version : NULL;
}
