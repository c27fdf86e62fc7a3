/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Loads its arguments, each for itself alone, and calls what is in them. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    void* library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 2;
    int (*work)(void) = (int (*)(void))dlsym(library, "work");
    printf("%d\n", work());
  }
  return 0;
}
