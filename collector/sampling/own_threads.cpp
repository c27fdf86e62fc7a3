// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for pthread_create, so that threads which the program makes by itself are sampled from
// their beginning. The thread begins in a function of ours, which calls the program's; what the
// two must know of each other lies in a slot until it has begun. Where there is none free, where
// the thread would have next to no stack, and for threads of libraries that serve the program (MPI,
// OpenMP's runtime, the collector's own), nothing is done. C11's thrd_create does not come by here.
// A program that makes threads is worth recording, whatever else it uses.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>

#include "base/launch/launchers.h"
#include "collector/lifecycle.h"
#include "collector/recorder/environment.h"
#include "collector/recorder/system_file.h"
#include "collector/sampling/program_code.h"
#include "collector/sampling/sampler.h"
#include "collector/sampling/started.h"
#include "collector/sampling/thread_waits.h"

namespace culprit::collector::sampling {

namespace {

using Routine = void* (*)(void*);
using Create = int (*)(pthread_t*, const pthread_attr_t*, Routine, void*);

/// A signal's frame, the unwinder and we need about 10 KiB.
constexpr size_t kLeastStack = size_t{64} << 10;

struct Start {
  std::atomic<bool> taken;
  Routine routine;
  void* argument;
  uint64_t number;  ///< as of say_making()
};
/// Threads that have been made and have not begun yet.
constexpr unsigned kMaxStarts = 256;
Start g_starts[kMaxStarts];

Create next_create() {
  static std::atomic<Create> next{nullptr};
  Create known = next.load(std::memory_order_relaxed);
  if (known == nullptr) {
    known = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    next.store(known, std::memory_order_relaxed);
  }
  return known;
}

Start* take_start() {
  for (Start& start : g_starts) {
    if (!start.taken.exchange(true, std::memory_order_acquire)) return &start;
  }
  return nullptr;
}

void give_back(Start& start) {
  start.taken.store(false, std::memory_order_release);
}

bool has_room(const pthread_attr_t* attributes) {
  size_t bytes = 0;
  if (attributes != nullptr && pthread_attr_getstacksize(attributes, &bytes) == 0) {
    return bytes >= kLeastStack;
  }
  rlimit limit = {};
  return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastStack;
}

void* begin(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  const Routine routine = start.routine;
  void* const its = start.argument;
  note_made(start.number);
  give_back(start);
  begin_own_thread(reinterpret_cast<uintptr_t>(routine));
  void* const result = routine(its);
  say_ended();
  return result;
}

/// Launchers serve the program, however many threads they have.
bool is_launcher() {
  static const bool known = is_launchers_name(program_invocation_short_name);
  return known;
}

Start* prepare(uintptr_t cfa, const pthread_attr_t* attributes, Routine routine, void* argument) {
  const KeepErrno keep;
  if (!has_started() || !has_room(attributes) || !is_called_by_program(cfa)) return nullptr;
  if (!is_launcher()) lifecycle::activate_for_threads();
  Start* start = take_start();
  if (start == nullptr) return nullptr;
  start->routine = routine;
  start->argument = argument;
  start->number = say_making();
  return start;
}

}  // namespace

}  // namespace culprit::collector::sampling

extern "C" CULPRIT_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                             void* (*routine)(void*), void* argument) {
  using namespace culprit::collector::sampling;
  const Create next = next_create();
  if (next == nullptr) return EAGAIN;
  const auto cfa = reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
  Start* const start = prepare(cfa, attributes, routine, argument);
  if (start == nullptr) return next(thread, attributes, routine, argument);
  const int error = next(thread, attributes, begin, start);
  if (error != 0) give_back(*start);
  return error;
}
