/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Loads its argument for itself alone and calls what is in it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) return 2;
  int (*work)(void) = (int (*)(void))dlsym(library, "work");
  printf("%d\n", work());
  return 0;
}
