// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Native code that computes for long, as kernels of Python's extensions do. Built without frame
// pointers and unwind tables, so that its callers cannot be found. A frame of this size hides the
// return address from those who search the stack.
static double __attribute__((noinline)) inner(long n, double x) {
  for (long i = 0; i < n; ++i) x = x * 0.999999 + 1.0;
  return x;
}

double compute(long n) {
  volatile char room[40000];
  room[n % 40000] = 1;
  return inner(n, 1.0) + room[n % 40000];
}
