// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in calls the system's own, and looks at a clock before and after it; all else is for
// calls that took long. What libraries of MPI and OpenMP do while they wait is not told.
#include "collector/sampling/sleeps.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "collector/sampling/blocking_call.h"

namespace culprit::collector::sampling {

namespace {

#define CALL(result_type, name, parameters, arguments, without, what) \
  constinit Next<result_type parameters> g_##name(#name);
#include "collector/sampling/blocking_calls.def"

// Their last argument is there or not, and is passed on as it comes.
using Open = int(const char*, int, mode_t);
using OpenAt = int(int, const char*, int, mode_t);
using Control = int(int, int, void*);
constinit Next<Open> g_open("open"), g_open64("open64");
constinit Next<OpenAt> g_openat("openat"), g_openat64("openat64");
constinit Next<Control> g_fcntl("fcntl"), g_fcntl64("fcntl64");
// What they close, or change, is asked for before.
constinit Next<int(int)> g_close("close");
constinit Next<int(FILE*)> g_fclose("fclose");
constinit Next<int(int, fd_set*, fd_set*, fd_set*, timeval*)> g_select("select");
constinit Next<void()> g_sync("sync");
// Programs that are compiled with _FORTIFY_SOURCE; they never make a file.
constinit Next<int(const char*, int)> g_open_2("__open_2"), g_open64_2("__open64_2");
constinit Next<int(int, const char*, int)> g_openat_2("__openat_2"), g_openat64_2("__openat64_2");

/// Sockets and pipes have no position. One system call that fails costs less than all that the
/// system knows of a file.
Slept in_closed(int descriptor) {
  const KeepErrno keep;
  return lseek(descriptor, 0, SEEK_CUR) >= 0 ? io() : blocked();
}

bool waits_for_lock(int command) {
  return command == F_SETLKW || command == F_OFD_SETLKW;
}

int control(Next<Control>& function, int file, int command, void* argument) {
  auto* const next = function.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  return next(file, command, argument);
}

}  // namespace

void find_sleeping_calls() {
  const KeepErrno keep;
#define CALL(result_type, name, parameters, arguments, without, what) g_##name.find();
#include "collector/sampling/blocking_calls.def"
  g_open.find(), g_open64.find(), g_openat.find(), g_openat64.find();
  g_fcntl.find(), g_fcntl64.find();
  g_close.find(), g_fclose.find(), g_select.find(), g_sync.find();
  g_open_2.find(), g_open64_2.find(), g_openat_2.find(), g_openat64_2.find();
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

#define STAND_IN(result_type, name, parameters, arguments, without, what, promise) \
  CULPRIT_EXPORT result_type name parameters promise {                             \
    auto* const next = g_##name.get();                                             \
    if (next == nullptr) return errno = ENOSYS, without;                           \
    Watch watch;                                                                   \
    result_type const result = next arguments;                                     \
    if (watch.was_long()) [[unlikely]]                                             \
      watch.say(#name, what);                                                      \
    return result;                                                                 \
  }
#define CALL(result_type, name, parameters, arguments, without, what) \
  STAND_IN(result_type, name, parameters, arguments, without, what, )
#define CALL_NOEXCEPT(result_type, name, parameters, arguments, without, what) \
  STAND_IN(result_type, name, parameters, arguments, without, what, noexcept)
#include "collector/sampling/blocking_calls.def"

/// Whoever opens a FIFO waits for the other side.
#define OPENS(name, parameters, arguments)                            \
  CULPRIT_EXPORT int name parameters {                                \
    auto* const next = g_##name.get();                                \
    if (next == nullptr) return errno = ENOSYS, -1;                   \
    mode_t mode = 0;                                                  \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
      va_list rest;                                                   \
      va_start(rest, flags);                                          \
      mode = va_arg(rest, mode_t);                                    \
      va_end(rest);                                                   \
    }                                                                 \
    Watch watch;                                                      \
    const int result = next arguments;                                \
    if (watch.was_long()) [[unlikely]]                                \
      watch.say(#name, in(result, 0));                                \
    return result;                                                    \
  }
OPENS(open, (const char* path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char* path, int flags, ...), (path, flags, mode))
OPENS(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
OPENS(openat64, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
#undef OPENS

/// Only where it waits for a lock of a file.
#define CONTROLS(name)                                                               \
  CULPRIT_EXPORT int name(int file, int command, ...) {                              \
    va_list rest;                                                                    \
    va_start(rest, command);                                                         \
    void* const argument = va_arg(rest, void*);                                      \
    va_end(rest);                                                                    \
    if (!waits_for_lock(command)) return control(g_##name, file, command, argument); \
    Watch watch;                                                                     \
    const int result = control(g_##name, file, command, argument);                   \
    if (watch.was_long()) [[unlikely]]                                               \
      watch.say(#name, blocked());                                                   \
    return result;                                                                   \
  }
CONTROLS(fcntl)
CONTROLS(fcntl64)
#undef CONTROLS

#define OPENS_2(name, plain, parameters, arguments) \
  CULPRIT_EXPORT int __##name parameters;           \
  CULPRIT_EXPORT int __##name parameters {          \
    auto* const next = g_##name.get();              \
    if (next == nullptr) return errno = ENOSYS, -1; \
    Watch watch;                                    \
    const int result = next arguments;              \
    if (watch.was_long()) [[unlikely]]              \
      watch.say(plain, in(result, 0));              \
    return result;                                  \
  }
OPENS_2(open_2, "open", (const char* path, int flags), (path, flags))
OPENS_2(open64_2, "open", (const char* path, int flags), (path, flags))
OPENS_2(openat_2, "openat", (int folder, const char* path, int flags), (folder, path, flags))
OPENS_2(openat64_2, "openat", (int folder, const char* path, int flags), (folder, path, flags))
#undef OPENS_2

CULPRIT_EXPORT int close(int file) {
  auto* const next = g_close.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  Watch watch;
  const Slept slept = watch.watches() ? in_closed(file) : io();
  const int result = next(file);
  if (watch.was_long()) [[unlikely]]
    watch.say("close", slept);
  return result;
}

CULPRIT_EXPORT int fclose(FILE* stream) {
  auto* const next = g_fclose.get();
  if (next == nullptr) return errno = ENOSYS, EOF;
  Watch watch;
  const Slept slept = watch.watches() ? in_closed(fileno(stream)) : io();
  const int result = next(stream);
  if (watch.was_long()) [[unlikely]]
    watch.say("fclose", slept);
  return result;
}

/// Afterwards the system has put what is left in place of the time.
CULPRIT_EXPORT int select(int count, fd_set* in, fd_set* out, fd_set* odd, timeval* timeout) {
  auto* const next = g_select.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  Watch watch;
  const long time = timeout != nullptr ? (timeout->tv_sec | timeout->tv_usec) : -1;
  const int result = next(count, in, out, odd, timeout);
  if (watch.was_long()) [[unlikely]]
    watch.say("select", unless_time_was_up(result, time));
  return result;
}

CULPRIT_EXPORT void sync() noexcept {
  auto* const next = g_sync.get();
  if (next == nullptr) return;
  Watch watch;
  next();
  if (watch.was_long()) [[unlikely]]
    watch.say("sync", io());
}

}  // extern "C"
