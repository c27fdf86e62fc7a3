// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Throws and catches for most of its CPU time, most of which is the unwinder's. With an argument it
// first registers unwind tables of generated code, as just-in-time compilers do.
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <cstdint>
#include <stdexcept>

static double cpu_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

__attribute__((noinline)) static int parse(int depth) {
  if (depth > 0) return parse(depth - 1) + 1;
  throw std::runtime_error("no number");
}

__attribute__((noinline)) static int read_numbers(double seconds) {
  int wrong = 0;
  const double end = cpu_seconds() + seconds;
  while (cpu_seconds() < end) {
    for (int i = 0; i < 100; ++i) {
      try {
        parse(5);
      } catch (const std::exception&) {
        ++wrong;
      }
    }
  }
  return wrong;
}

__attribute__((noinline)) static int compute(double seconds) {
  volatile unsigned value = 1;
  const double end = cpu_seconds() + seconds;
  while (cpu_seconds() < end) {
    for (int i = 0; i < 100000; ++i) value = value * 1664525U + 1013904223U;
  }
  return value == 0 ? 1 : 0;
}

static void* run(void*) {
  int wrong = 0;
  for (int i = 0; i < 4; ++i) {
    compute(0.05);
    wrong += read_numbers(0.2);
  }
  return wrong > 0 ? nullptr : &wrong;
}

/// Words of unwind tables: a common entry, and one for a page of code without any instruction.
static uint32_t g_tables[] = {20, 0, 0x78010001, 0x08070c10, 0x00000190, 0, 28, 28,
                              0,  0, 0,          0,          0,          0, 0};
extern "C" void __register_frame(void*);

static void register_generated_code() {
  const auto code = reinterpret_cast<uint64_t>(g_tables) & ~uint64_t{4095};
  const uint64_t length = 4096;
  memcpy(g_tables + 8, &code, sizeof code);
  memcpy(g_tables + 10, &length, sizeof length);
  __register_frame(g_tables);
}

int main(int count, char**) {
  if (count > 1) register_generated_code();
  pthread_t thread = {};
  pthread_create(&thread, nullptr, run, nullptr);
  void* result = nullptr;
  pthread_join(thread, &result);
  return result == nullptr ? 0 : 1;
}
