/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   A library of loops: those in spins_*() only look at memory until somebody else changes it, those
   in works_*() get on. */

#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

struct node {
  const struct node* next;
  int value;
};

atomic_int arrived, passed, lock_word;
volatile int flag;
volatile double sink;
int table[1000];

void spins_barrier(void) {
  const int before = atomic_load(&passed);
  if (atomic_fetch_add(&arrived, 1) == 1) {
    atomic_store(&arrived, 0);
    atomic_fetch_add(&passed, 1);
  } else {
    while (atomic_load(&passed) == before) {
    }
  }
}

void spins_flag(void) {
  while (!flag) {
  }
}

void spins_pause(void) {
  while (!flag) __builtin_ia32_pause();
}

int spins_for_a_while(void) {
  for (int i = 0; i < 1000; i++) {
    if (flag) return 1;
    __builtin_ia32_pause();
  }
  return 0;
}

void spins_lock(void) {
  while (atomic_exchange(&lock_word, 1)) {
  }
}

void spins_until(atomic_int* counter, int value) {
  while (atomic_load_explicit(counter, memory_order_acquire) < value) {
  }
}

void spins_asleep(int value) {
  while (flag < value) usleep(100);
}

/* As C++'s sleep_for(). */
void spins_in_whole_naps(void) {
  while (!flag) {
    struct timespec nap = {0, 100000};
    while (nanosleep(&nap, &nap) == -1 && errno == EINTR) {
    }
  }
}

/* Between one wait and the next there is work. */
void spins_for_work(void) {
  for (;;) {
    while (!flag) {
    }
    if (flag == 2) return;
    for (int i = 0; i < 1000; i++) table[i] += i;
  }
}

/* Naps that nobody ends. */
void works_naps(int count) {
  for (int i = 0; i < count; i++) usleep(100);
}

void works_whole_nap(void) {
  struct timespec nap = {0, 100000};
  while (nanosleep(&nap, &nap) == -1 && errno == EINTR) {
  }
}

void works_between_naps(void (*work)(void)) {
  while (!flag) {
    usleep(100);
    work();
  }
}

long works_sum(int count) {
  long sum = 0;
  for (int i = 0; i < count; i++) sum += table[i];
  return sum;
}

int works_search(int value) {
  int i = 0;
  while (table[i] != value) i++;
  return i;
}

int works_list(const struct node* node) {
  int sum = 0;
  for (; node != NULL; node = node->next) sum += node->value;
  return sum;
}

void works_increment(void) {
  int seen = atomic_load(&arrived);
  while (!atomic_compare_exchange_weak(&arrived, &seen, seen + 1)) {
  }
}

void works_fill(double value, int count) {
  for (int i = 0; i < count; i++) sink = value;
}

double works_steps(double value, int count) {
  for (int i = 0; i < count; i++) value = value * 1.0000001 + 1e-9;
  return value;
}

void works_insertion(int* begin, const int* end) {
  for (int* one = begin + 1; one < end; one++) {
    const int value = *one;
    int* at = one;
    for (; at > begin && at[-1] > value; at--) *at = at[-1];
    *at = value;
  }
}
