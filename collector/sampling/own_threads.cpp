// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for pthread_create, so that threads which the program makes by itself are sampled from
// their beginning. The thread begins in a function of ours, which calls the program's; the data
// that the maker passes to the thread is in a slot until it has begun. If no slot is free, or the
// thread would have next to no stack, the call is passed on unchanged. Threads of libraries that
// serve the program (MPI, OpenMP's runtime, the collector's own), and those made before this
// library was initialized, are not sampled from there: only the library that made them is noted.
// C11's thrd_create is not intercepted. A program that makes threads is worth recording, whatever
// else it uses.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <cstring>

#include "base/launch/launchers.h"
#include "collector/process/environment.h"
#include "collector/process/lifecycle.h"
#include "collector/process/system_file.h"
#include "collector/recorder/tasks.h"
#include "collector/sampling/program_code.h"
#include "collector/sampling/sampler.h"
#include "collector/sampling/started.h"
#include "collector/sampling/thread_waits.h"
#include "collector/sampling/watch/watcher.h"

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
  uint64_t number;   ///< the number from say_making()
  bool is_sampled;   ///< false: it is a library's own thread
  char library[48];  ///< the library that makes it; empty: the program itself
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
  if (start.library[0] != '\0') tasks::note_maker(start.library);
  if (!start.is_sampled) {
    give_back(start);
    return routine(its);
  }
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
  if (!environment().wanted || !has_room(attributes)) return nullptr;
  const char* const library = file_that_calls(cfa);
  if (library == nullptr) return nullptr;
  const bool is_sampled = has_started() && !is_helpers_file(library);
  if (is_sampled && !is_launcher()) lifecycle::activate_for_threads();
  Start* start = take_start();
  if (start == nullptr) return nullptr;
  start->routine = routine;
  start->argument = argument;
  start->is_sampled = is_sampled;
  start->number = is_sampled ? say_making() : 0;
  start->library[0] = '\0';
  strncat(start->library, library, sizeof start->library - 1);
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
  watcher::note_thread();
  watcher::begin();
  return error;
}
