/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * kinds <barriers | serial | critical | tasks> <rounds>: short rounds, as many that each
 * thread's records fill several windows, in which threads wait for each other in one kind of way.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 3 };

static double work(int amount) {
  volatile double x = 1;
  for (int i = 0; i < amount; ++i) x = x * 1.0;
  return x;
}

static double uneven(int round, int thread) {
  return work(40000 + 120000 * ((round + thread) % kThreads));
}

/* Many barriers in one region. */
static double barriers(int rounds) {
  double sum = 0;
#pragma omp parallel num_threads(kThreads) reduction(+ : sum)
  for (int i = 0; i < rounds; ++i) {
    sum += uneven(i, omp_get_thread_num());
#pragma omp barrier
  }
  return sum;
}

/* The threads of the pool wait for serial code. */
static double serial(int rounds) {
  double sum = 0;
  for (int i = 0; i < rounds; ++i) {
    sum += work(90000);
#pragma omp parallel num_threads(kThreads) reduction(+ : sum)
    sum += uneven(i, omp_get_thread_num());
  }
  return sum;
}

static double critical(int rounds) {
  double sum = 0;
#pragma omp parallel num_threads(kThreads)
  for (int i = 0; i < rounds; ++i) {
    const double own = uneven(i, omp_get_thread_num());
#pragma omp critical
    sum += own + work(omp_get_thread_num() == 1 ? 150000 : 6000);
  }
  return sum;
}

/* One thread creates tasks faster or slower than the others execute them. */
static double tasks(int rounds) {
  double sum = 0;
#pragma omp parallel num_threads(kThreads)
#pragma omp single
  for (int i = 0; i < rounds; ++i) {
    for (int t = 0; t < kThreads; ++t) {
#pragma omp task firstprivate(i, t) shared(sum)
      {
        const double own = uneven(i, t);
#pragma omp atomic
        sum += own;
      }
    }
#pragma omp taskwait
    work(30000);
  }
  return sum;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    double (*run)(int);
  } kinds[] = {
      {"barriers", barriers}, {"serial", serial}, {"critical", critical}, {"tasks", tasks}};
  if (argc != 3) return 2;
  for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    if (strcmp(argv[1], kinds[i].name) != 0) continue;
    printf("kinds: %s gives %g\n", argv[1], kinds[i].run(atoi(argv[2])));
    return 0;
  }
  return 2;
}
