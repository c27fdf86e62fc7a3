// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A taskloop downwards whose tasks take C++ objects along: copying them takes a function, and each
// task must find its own bounds all the same. Prints the sum and how often the objects were right.
#include <cstdio>
#include <string>

int main() {
  const std::string text = "a string too long to be kept inside of its object";
  long sum = 0, right = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop firstprivate(text) num_tasks(4)
  for (int i = 100; i > 0; i -= 3) {
#pragma omp atomic
    sum += i;
#pragma omp atomic
    right += text.size() == 49;
  }
  std::printf("%ld %ld\n", sum, right);
  return 0;
}
