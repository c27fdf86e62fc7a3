// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for pthread_create and thrd_create, so that threads which the program makes by itself
// are sampled from their beginning. The thread begins in a function of ours, which calls the
// program's; the data that the maker passes to the thread is in a slot until it has begun. If no
// slot is free, or the thread would have next to no stack, the call is passed on unchanged. Threads
// of libraries that serve the program (MPI, OpenMP's runtime, the collector's own), and those made
// before this library was initialized, are not sampled from there: only the library that made them
// is noted. A program that makes threads is worth recording, whatever else it uses.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <threads.h>

#include <atomic>
#include <cstring>

#include "base/cores/thread_libraries.h"
#include "base/launch/launchers.h"
#include "collector/process/environment.h"
#include "collector/process/lifecycle.h"
#include "collector/process/next.h"
#include "collector/process/system_file.h"
#include "collector/recorder/tasks.h"
#include "collector/sampling/program_code.h"
#include "collector/sampling/sampler.h"
#include "collector/sampling/started.h"
#include "collector/sampling/thread_waits.h"
#include "collector/sampling/watch/watcher.h"

namespace culprit::collector::sampling {

namespace {

/// What a thread executes: a function of POSIX's form, or of C11's.
struct Routine {
  void* (*posix)(void*) = nullptr;
  int (*c11)(void*) = nullptr;

  uintptr_t address() const {
    return posix != nullptr ? reinterpret_cast<uintptr_t>(posix) : reinterpret_cast<uintptr_t>(c11);
  }
};
using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
using CreateC11 = int(thrd_t*, thrd_start_t, void*);

/// A signal's frame, the unwinder and we need about 10 KiB.
constexpr size_t kLeastStack = size_t{64} << 10;

struct Start {
  std::atomic<bool> taken{false};
  Routine routine;
  void* argument = nullptr;
  uint64_t number = 0;      ///< the number from say_making()
  bool is_sampled = false;  ///< false: it is a library's own thread
  char library[48] = {};    ///< the library that makes it; empty: the program itself
};
/// Threads that have been made and have not begun yet. Nothing may be initialised when this library
/// is loaded: others' constructors make threads before.
constexpr unsigned kMaxStarts = 256;
constinit Start g_starts[kMaxStarts];

// Found at their first call: threads may be made before this library is loaded in full.
constinit Next<Create> g_create("pthread_create");
constinit Next<CreateC11> g_create_c11("thrd_create");

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

/// What the new thread does before its own function.
struct Begun {
  Routine routine;
  void* argument;
  bool is_sampled;
};
Begun begin(void* slot) {
  auto& start = *static_cast<Start*>(slot);
  const Begun begun{start.routine, start.argument, start.is_sampled};
  if (start.library[0] != '\0') tasks::note_maker(start.library);
  if (begun.is_sampled) note_made(start.number);
  give_back(start);
  if (begun.is_sampled) begin_own_thread(begun.routine.address());
  return begun;
}

void* execute(void* slot) {
  const Begun begun = begin(slot);
  void* const result = begun.routine.posix(begun.argument);
  if (begun.is_sampled) say_ended();
  return result;
}

int execute_c11(void* slot) {
  const Begun begun = begin(slot);
  const int result = begun.routine.c11(begun.argument);
  if (begun.is_sampled) say_ended();
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
  // The collector makes threads of its own while it is called by libraries that leave no frame.
  const char* const library =
      is_collectors_code(routine.address()) ? kOwnThreadLibrary : file_that_calls(cfa);
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

/// A thread was to be made; `error`: of the call.
void end_making(Start& start, int error) {
  if (error != 0) give_back(start);
  watcher::note_thread();
  watcher::begin();
}

}  // namespace

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

CULPRIT_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                  void* (*routine)(void*), void* argument) {
  auto* const next = g_create.get();
  if (next == nullptr) return EAGAIN;
  const auto cfa = reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
  Start* const start = prepare(cfa, attributes, {.posix = routine}, argument);
  if (start == nullptr) return next(thread, attributes, routine, argument);
  const int error = next(thread, attributes, execute, start);
  end_making(*start, error);
  return error;
}

CULPRIT_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  auto* const next = g_create_c11.get();
  if (next == nullptr) return thrd_error;
  const auto cfa = reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
  Start* const start = prepare(cfa, nullptr, {.c11 = routine}, argument);
  if (start == nullptr) return next(thread, routine, argument);
  const int error = next(thread, execute_c11, start);
  end_making(*start, error);
  return error;
}

}  // extern "C"
