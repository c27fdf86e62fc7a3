// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads and stacks of unusual number, size and shape. Threads become known to culprit by taking
// an OpenMP lock.
#include <limits.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "survive.h"

namespace survive {
namespace {

struct Lock {
  Lock() { omp_init_lock(&lock); }
  ~Lock() { omp_destroy_lock(&lock); }
  void take() {
    omp_set_lock(&lock);
    ++taken;
    omp_unset_lock(&lock);
  }
  omp_lock_t lock;
  int taken = 0;
};

Lock* g_lock = nullptr;

void* take_lock(void*) {
  g_lock->take();
  return nullptr;
}

void tell_taken() {
  char line[60];
  snprintf(line, sizeof line, "taken: %d", g_lock->taken);
  say(line);
}

void run_thread(size_t stack, void* (*body)(void*)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack != 0) pthread_attr_setstacksize(&attributes, stack);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, body, nullptr) != 0) return say("no thread");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

void churn_threads() {
  const int count = g_argv[3] != nullptr ? atoi(g_argv[3]) : 300;
  Lock lock;
  g_lock = &lock;
  for (int i = 0; i < count; ++i) run_thread(0, take_lock);
  tell_taken();
}

void* take_lock_and_burn(void*) {
  g_lock->take();
  burn(50);
  g_lock->take();
  return nullptr;
}

void small_stacks() {
  Lock lock;
  g_lock = &lock;
  for (int i = 0; i < 3; ++i) run_thread(PTHREAD_STACK_MIN, take_lock_and_burn);
  tell_taken();
}

void huge_stack() {
  Lock lock;
  g_lock = &lock;
  run_thread(size_t{1} << 30, take_lock_and_burn);
  tell_taken();
}

__attribute__((noinline)) int dive(int depth) {
  if (depth % 100 == 0) g_lock->take();
  if (depth % 1000 == 0) burn(5);
  volatile int one = 1;
  return depth == 0 ? 0 : dive(depth - 1) + one;
}

void deep_recursion() {
  Lock lock;
  g_lock = &lock;
  for (int i = 0; i < 3; ++i) (void)dive(10'000);
  tell_taken();
}

ucontext_t g_main_context, g_fibers[8];

void fiber_body(int number) {
  for (int i = 0; i < 20; ++i) {
    g_lock->take();
    if (i % 5 == number % 5) burn(4);
    swapcontext(&g_fibers[number], &g_main_context);
  }
}

void run_fibers(size_t stack) {
  void* stacks[8];
  for (int n = 0; n < 8; ++n) {
    stacks[n] = mmap(nullptr, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&g_fibers[n]);
    g_fibers[n].uc_stack.ss_sp = stacks[n];
    g_fibers[n].uc_stack.ss_size = stack;
    g_fibers[n].uc_link = &g_main_context;
    makecontext(&g_fibers[n], reinterpret_cast<void (*)()>(fiber_body), 1, n);
  }
  for (int round = 0; round < 21; ++round) {
    for (int n = 0; n < 8; ++n) swapcontext(&g_main_context, &g_fibers[n]);
  }
  for (void* memory : stacks) munmap(memory, stack);
}

// Stacks of other sizes appear where earlier ones were.
void fibers() {
  Lock lock;
  g_lock = &lock;
  for (const size_t stack : {size_t{1} << 16, size_t{1} << 17, size_t{1} << 16}) run_fibers(stack);
  tell_taken();
}

jmp_buf g_back;

__attribute__((noinline)) void jump_from(int depth) {
  g_lock->take();
  if (depth == 0) longjmp(g_back, 1);
  jump_from(depth - 1);
}

void long_jumps() {
  Lock lock;
  g_lock = &lock;
  for (volatile int i = 0; i < 50; i = i + 1) {
    if (setjmp(g_back) == 0) jump_from(i % 7);
  }
  tell_taken();
}

void jump_out(MPI_Comm*, int*, ...) {
  longjmp(g_back, 1);
}

// Out of an MPI call by way of the program's error handler. The calls that follow are still seen.
void long_jump_from_mpi() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(jump_out, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  for (volatile int i = 0; i < 3; i = i + 1) {
    int word = 0;
    if (setjmp(g_back) == 0) MPI_Send(&word, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
  }
  for (int i = 0; i < 100; ++i) {
    int word = i, sum = 0;
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  say("jumped three times");
}

void* rest(void*) {
  const timespec time{1, 0};
  nanosleep(&time, nullptr);
  return nullptr;
}

void* end_at_once(void*) {
  return nullptr;
}

// From the first moment on there are new threads whenever culprit looks at all of them, which takes
// it longer than it may.
void many_at_once() {
  pthread_t resting[400] = {};
  for (pthread_t& thread : resting) {
    if (pthread_create(&thread, nullptr, rest, nullptr) != 0) return say("no thread");
  }
  for (int i = 0; i < 5000; ++i) run_thread(0, end_at_once);
  for (const pthread_t thread : resting) pthread_join(thread, nullptr);
  say("all threads have ended");
}

}  // namespace

const Case kThreads[] = {
    {"churn", churn_threads},
    {"many_at_once", many_at_once},
    {"small_stacks", small_stacks},
    {"huge_stack", huge_stack},
    {"deep_recursion", deep_recursion},
    {"fibers", fibers},
    {"long_jumps", long_jumps},
    {"long_jump_from_mpi", long_jump_from_mpi},
    {nullptr, nullptr},
};

}  // namespace survive
