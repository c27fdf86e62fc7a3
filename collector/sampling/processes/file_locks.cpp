// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A released lock lets others go on, in any process: whether any thread waits is unknown. Locks of
// parts of a file count as locks of the whole file.
#include "collector/sampling/processes/file_locks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <unistd.h>

#include "collector/sampling/blocking_call.h"
#include "collector/sampling/processes/descriptors.h"

namespace culprit::collector::sampling {

namespace {

// The last argument is optional, and is passed on unchanged.
using Control = int(int, int, void*);
constinit Next<Control> g_fcntl("fcntl"), g_fcntl64("fcntl64");
constinit Next<int(int, int)> g_flock("flock");
constinit Next<int(int, int, off_t)> g_lockf("lockf");
constinit Next<int(int, int, off64_t)> g_lockf64("lockf64");

enum class Wish : uint8_t { other, try_lock, lock, unlock };

Wish wish_of_flock(int operation) {
  if ((operation & LOCK_UN) != 0) return Wish::unlock;
  return (operation & LOCK_NB) != 0 ? Wish::try_lock : Wish::lock;
}

Wish wish_of_lockf(int command) {
  switch (command) {
    case F_LOCK:
      return Wish::lock;
    case F_TLOCK:
      return Wish::try_lock;
    case F_ULOCK:
      return Wish::unlock;
    default:
      return Wish::other;
  }
}

/// `argument` is read only for commands about locks.
Wish wish_of_fcntl(int command, const void* argument) {
  const bool waits = command == F_SETLKW || command == F_OFD_SETLKW;
  if (!waits && command != F_SETLK && command != F_OFD_SETLK) return Wish::other;
  if (argument == nullptr) return Wish::other;
  if (static_cast<const struct flock*>(argument)->l_type == F_UNLCK) return Wish::unlock;
  return waits ? Wish::lock : Wish::try_lock;
}

/// Called before the lock call. A lock that replaces another may be a weaker one.
void say_given_back(Wish wish, int file) {
  if (wish == Wish::unlock || (wish != Wish::other && has_lock(file))) {
    const KeepErrno keep;
    say_unlocked(file);
  }
}

/// Called after the lock call.
void note_taken(Wish wish, int file, int result) {
  if (result == 0 && (wish == Wish::lock || wish == Wish::try_lock)) note_lock(file);
}

Slept awaited_lock(int file) {
  return waited_for(object_to_lock(file));
}

}  // namespace

void find_lock_calls() {
  const KeepErrno keep;
  g_fcntl.find(), g_fcntl64.find(), g_flock.find(), g_lockf.find(), g_lockf64.find();
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

#define LOCKS(name, call, its_wish)                                                 \
  auto* const next = g_##name.get();                                                \
  if (next == nullptr) return errno = ENOSYS, -1;                                   \
  const Wish wish = its_wish;                                                       \
  say_given_back(wish, file);                                                       \
  Watch watch;                                                                      \
  const int result = next call;                                                     \
  if (wish == Wish::lock && watch.was_long()) watch.say(#name, awaited_lock(file)); \
  note_taken(wish, file, result);                                                   \
  return result

CULPRIT_EXPORT int flock(int file, int operation) noexcept {
  LOCKS(flock, (file, operation), wish_of_flock(operation));
}
CULPRIT_EXPORT int lockf(int file, int command, off_t size) {
  LOCKS(lockf, (file, command, size), wish_of_lockf(command));
}
CULPRIT_EXPORT int lockf64(int file, int command, off64_t size) {
  LOCKS(lockf64, (file, command, size), wish_of_lockf(command));
}

#define CONTROLS(name)                                                        \
  CULPRIT_EXPORT int name(int file, int command, ...) {                       \
    va_list rest;                                                             \
    va_start(rest, command);                                                  \
    void* const argument = va_arg(rest, void*);                               \
    va_end(rest);                                                             \
    LOCKS(name, (file, command, argument), wish_of_fcntl(command, argument)); \
  }
CONTROLS(fcntl)
CONTROLS(fcntl64)
#undef CONTROLS
#undef LOCKS

}  // extern "C"
