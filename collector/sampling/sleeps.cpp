// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in calls the system's own function, and reads a clock before and after it; nearly all
// other work is done only for calls that took long. Waits of MPI and OpenMP libraries are not
// recorded.
#include "collector/sampling/sleeps.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
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

#include <tuple>

#include "collector/process/lifecycle.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/processes/descriptors.h"
#include "collector/sampling/processes/system_queues.h"
#include "trace/objects.h"

namespace culprit::collector::sampling {

namespace {

#define CALL(result_type, name, parameters, arguments, without, what) \
  constinit Next<result_type parameters> g_##name(#name);
#include "collector/sampling/blocking_calls.def"

// Their last argument is optional, and is passed on unchanged.
using Open = int(const char*, int, mode_t);
using OpenAt = int(int, const char*, int, mode_t);
using OpenStream = FILE*(const char*, const char*);
constinit Next<Open> g_open("open"), g_open64("open64");
constinit Next<OpenAt> g_openat("openat"), g_openat64("openat64");
constinit Next<OpenStream> g_fopen("fopen"), g_fopen64("fopen64");
// For these, the object of the descriptor is looked up before the call, which closes or changes it.
constinit Next<int(int)> g_close("close");
constinit Next<int(FILE*)> g_fclose("fclose");
constinit Next<int(FILE*)> g_pclose("pclose");
constinit Next<FILE*(const char*, const char*, FILE*)> g_freopen("freopen"),
    g_freopen64("freopen64");
constinit Next<int(int, fd_set*, fd_set*, fd_set*, timeval*)> g_select("select");
constinit Next<void()> g_sync("sync");
// Programs that are compiled with _FORTIFY_SOURCE; they never make a file.
constinit Next<int(const char*, int)> g_open_2("__open_2"), g_open64_2("__open64_2");
constinit Next<int(int, const char*, int)> g_openat_2("__openat_2"), g_openat64_2("__openat64_2");

/// Sockets and pipes have no position. One system call that fails costs less than all that fstat
/// would gather about a file.
Slept in_closed(int descriptor) {
  const KeepErrno keep;
  return lseek(descriptor, 0, SEEK_CUR) >= 0 ? io() : blocked();
}

/// For a call that returns when a descriptor is ready, or its time is over.
template <class... Where>
Slept ready(int result, long timeout, const Where&... where) {
  Slept slept = unless_time_was_up(result, timeout);
  if (result > 0 && slept.in == Slept::In::outside) slept.object = object_of_ready(where...);
  return slept;
}
/// For a call that receives.
Slept received(int socket, ssize_t result, int flags) {
  Slept slept = on_socket(socket, result, flags);
  if (result >= 0) slept.object = object_to_read(socket);
  return slept;
}
/// For a call that sends.
Slept sent(int socket, ssize_t result, int flags) {
  Slept slept = on_socket(socket, result, flags);
  if (result >= 0) slept.object = object_to_write(socket);
  return slept;
}
/// For a call that takes a message from a queue, or puts one into it.
Slept from_queue(mqd_t queue, ssize_t result) {
  Slept slept = on_socket(queue, result);
  if (result >= 0) slept.object = message_of_posix(queue);
  return slept;
}
Slept onto_queue(mqd_t queue, int result) {
  Slept slept = on_socket(queue, result);
  if (result >= 0) slept.object = room_of_posix(queue);
  return slept;
}
/// For a call that returns when a child has ended.
Slept child(pid_t process, int options = 0) {
  Slept slept = unless_at_once((options & WNOHANG) != 0);
  if (process > 0) {
    slept.object = object_of(trace::ObjectKind::process, static_cast<uint64_t>(process));
  }
  return slept;
}
/// For a call that opens a file, or waits for the other side of a FIFO.
Slept opening(int descriptor) {
  const KeepErrno keep;
  const uint64_t object = object_to_open(descriptor);
  return object != 0 ? waited_for(object) : in(descriptor, 0);
}

/// A driver whose device is opened begins to work for the process: that takes long, and what for is
/// worth knowing. `result` of the call that opened it: only one that succeeded, or found nothing
/// there, has read the path.
void after_open(const char* path, int result) {
  constexpr char kDevices[] = "/dev/nvidia";
  const KeepErrno keep;
  const bool was_read = result >= 0 || errno == ENOENT;
  if (was_read && strncmp(path, kDevices, sizeof kDevices - 1) == 0) watch_early();
}

/// Who lets commands work waits for them: without threads, too, that is worth recording.
void before_command() {
  if (!has_started()) return;
  const KeepErrno keep;
  lifecycle::activate_for_sharing();
}

template <class File, class... Rest>
void to_write(File file, const Rest&...) {
  before_write(file);
}
/// A stream is the last argument of the calls that read from one.
template <class... Rest>
void to_read(int descriptor, const Rest&...) {
  before_read(descriptor);
}
template <class First, class... Rest>
void to_read(const First&, const Rest&... rest) {
  before_read(std::get<sizeof...(Rest) - 1>(std::tie(rest...)));
}

}  // namespace

void find_sleeping_calls() {
  const KeepErrno keep;
#define CALL(result_type, name, parameters, arguments, without, what) g_##name.find();
#include "collector/sampling/blocking_calls.def"
  g_open.find(), g_open64.find(), g_openat.find(), g_openat64.find();
  g_fopen.find(), g_fopen64.find(), g_freopen.find(), g_freopen64.find();
  g_close.find(), g_fclose.find(), g_pclose.find(), g_select.find(), g_sync.find();
  g_open_2.find(), g_open64_2.find(), g_openat_2.find(), g_openat64_2.find();
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

#define STAND_IN(result_type, name, parameters, arguments, without, what, promise, before) \
  CULPRIT_EXPORT result_type name parameters promise {                                     \
    auto* const next = g_##name.get();                                                     \
    if (next == nullptr) return errno = ENOSYS, without;                                   \
    before;                                                                                \
    Watch watch;                                                                           \
    result_type const result = next arguments;                                             \
    if (watch.was_long()) [[unlikely]]                                                     \
      watch.say(#name, what);                                                              \
    return result;                                                                         \
  }
#define CALL(result_type, name, parameters, arguments, without, what) \
  STAND_IN(result_type, name, parameters, arguments, without, what, , )
#define CALL_NOEXCEPT(result_type, name, parameters, arguments, without, what) \
  STAND_IN(result_type, name, parameters, arguments, without, what, noexcept, )
#define WRITES(result_type, name, parameters, arguments, without, what) \
  STAND_IN(result_type, name, parameters, arguments, without, what, , to_write arguments)
#define READS(result_type, name, parameters, arguments, without, what) \
  STAND_IN(result_type, name, parameters, arguments, without, what, , to_read arguments)
#define LETS_GO(result_type, name, parameters, arguments, without, what, before) \
  STAND_IN(result_type, name, parameters, arguments, without, what, , before)
#define LETS_GO_NOEXCEPT(result_type, name, parameters, arguments, without, what, before) \
  STAND_IN(result_type, name, parameters, arguments, without, what, noexcept, before)
#include "collector/sampling/blocking_calls.def"

/// Opening a FIFO waits for the other side, which is itself in such a call.
#define OPENED(watch, name, descriptor, may_be_fifo)                           \
  if (descriptor >= 0 && (may_be_fifo)) say_opened(descriptor, watch.begin()); \
  if (watch.was_long()) [[unlikely]]                                           \
    watch.say(name, opening(descriptor));
#define OPENS(name, parameters, arguments)                                        \
  CULPRIT_EXPORT int name parameters {                                            \
    auto* const next = g_##name.get();                                            \
    if (next == nullptr) return errno = ENOSYS, -1;                               \
    mode_t mode = 0;                                                              \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {             \
      va_list rest;                                                               \
      va_start(rest, flags);                                                      \
      mode = va_arg(rest, mode_t);                                                \
      va_end(rest);                                                               \
    }                                                                             \
    Watch watch;                                                                  \
    const int result = next arguments;                                            \
    after_open(path, result);                                                     \
    OPENED(watch, #name, result, (flags & (O_CREAT | O_DIRECTORY | O_PATH)) == 0) \
    return result;                                                                \
  }
OPENS(open, (const char* path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char* path, int flags, ...), (path, flags, mode))
OPENS(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
OPENS(openat64, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
#undef OPENS

#define OPENS_STREAM(name)                                        \
  CULPRIT_EXPORT FILE* name(const char* path, const char* mode) { \
    auto* const next = g_##name.get();                            \
    if (next == nullptr) return errno = ENOSYS, nullptr;          \
    Watch watch;                                                  \
    FILE* const result = next(path, mode);                        \
    const int descriptor = descriptor_of(result);                 \
    OPENED(watch, #name, descriptor, true)                        \
    return result;                                                \
  }
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)
#undef OPENS_STREAM

#define OPENS_2(name, plain, parameters, arguments) \
  CULPRIT_EXPORT int __##name parameters;           \
  CULPRIT_EXPORT int __##name parameters {          \
    auto* const next = g_##name.get();              \
    if (next == nullptr) return errno = ENOSYS, -1; \
    Watch watch;                                    \
    const int result = next arguments;              \
    OPENED(watch, plain, result, true)              \
    return result;                                  \
  }
OPENS_2(open_2, "open", (const char* path, int flags), (path, flags))
OPENS_2(open64_2, "open", (const char* path, int flags), (path, flags))
OPENS_2(openat_2, "openat", (int folder, const char* path, int flags), (folder, path, flags))
OPENS_2(openat64_2, "openat", (int folder, const char* path, int flags), (folder, path, flags))
#undef OPENS_2
#undef OPENED

#define REOPENS(name)                                                           \
  CULPRIT_EXPORT FILE* name(const char* path, const char* mode, FILE* stream) { \
    auto* const next = g_##name.get();                                          \
    if (next == nullptr) return errno = ENOSYS, nullptr;                        \
    before_close(stream);                                                       \
    Watch watch;                                                                \
    FILE* const result = next(path, mode, stream);                              \
    if (watch.was_long()) [[unlikely]]                                          \
      watch.say(#name, in(result, 0));                                          \
    return result;                                                              \
  }
REOPENS(freopen)
REOPENS(freopen64)
#undef REOPENS

CULPRIT_EXPORT int close(int file) {
  auto* const next = g_close.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  before_close(file);
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
  before_close(stream);
  Watch watch;
  const Slept slept = watch.watches() ? in_closed(descriptor_of(stream)) : io();
  const int result = next(stream);
  if (watch.was_long()) [[unlikely]]
    watch.say("fclose", slept);
  return result;
}

CULPRIT_EXPORT int pclose(FILE* stream) {
  auto* const next = g_pclose.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  before_close(stream);
  Watch watch;
  const int result = next(stream);
  if (watch.was_long()) [[unlikely]]
    watch.say("pclose", blocked());
  return result;
}

/// The system replaces the timeout by the time that is left, so it is copied before.
CULPRIT_EXPORT int select(int count, fd_set* in, fd_set* out, fd_set* odd, timeval* timeout) {
  auto* const next = g_select.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  Watch watch;
  const long time = timeout != nullptr ? (timeout->tv_sec | timeout->tv_usec) : -1;
  const int result = next(count, in, out, odd, timeout);
  if (watch.was_long()) [[unlikely]]
    watch.say("select", ready(result, time, in, out, count));
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
