// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A pipe that holds data has no sleeping reader, so a write to it lets no thread go on, and needs
// no record; the same goes for a socket whose other side has not read all yet. Closing a descriptor
// that the process has never written to does not look up its object: such pipes are recorded only
// at the end of the process.
#include "collector/sampling/processes/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "collector/process/system_file.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/processes/sockets.h"
#include "collector/sampling/started.h"
#include "trace/objects.h"

namespace culprit::collector::sampling {

using trace::ObjectKind;

std::atomic<uint64_t> g_uses[kMostDescriptors];

namespace {

constinit Next<int(int, int)> g_dup2("dup2");
constinit Next<int(int, int, int)> g_dup3("dup3");
constinit Next<int(unsigned, unsigned, int)> g_close_range("close_range");
constinit Next<void(int)> g_closefrom("closefrom");
constinit Next<int(int, int, int, int*)> g_socketpair("socketpair");

bool is_in_table(int descriptor) {
  return static_cast<unsigned>(descriptor) < kMostDescriptors;
}

// --- what descriptors stand for -----------------------------------------------------------------

/// The system's number of an eventfd, the same in all processes that have it open. 0: the
/// descriptor is none.
uint64_t event_number(int descriptor) {
  char path[32], text[256];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
  if (!read_text(path, text, sizeof text)) return 0;
  constexpr char kKey[] = "eventfd-id:";
  const char* const found = strstr(text, kKey);
  return found != nullptr ? strtoull(found + sizeof kKey - 1, nullptr, 10) : 0;
}

uint64_t event_object(int descriptor) {
  const uint64_t number = event_number(descriptor);
  return number != 0 ? object_of(ObjectKind::event, number) : 0;
}

uint64_t pipe_object(const struct stat& what) {
  return object_of(ObjectKind::pipe, trace::file_number(what.st_dev, what.st_ino));
}

uint64_t use_of(int descriptor) {
  struct stat what;
  if (fstat(descriptor, &what) != 0) return use::unknown;
  if (S_ISFIFO(what.st_mode)) return pipe_object(what);
  if (S_ISSOCK(what.st_mode)) {
    const SocketEnds ends = ends_of_socket(descriptor, what);
    if (ends.other != 0) return object_of(ObjectKind::socket, ends.other);
    return ends.settled ? use::plain : use::unknown;
  }
  if ((what.st_mode & S_IFMT) != 0) return use::plain;
  return std::max(event_object(descriptor), use::plain);
}

/// The known use of a descriptor, looked up if need be.
uint64_t known_use(int descriptor) {
  std::atomic<uint64_t>& known = g_uses[descriptor];
  uint64_t answer = known.load(std::memory_order_relaxed);
  if (answer != use::unknown) return answer;
  answer = use_of(descriptor);
  // A child of vfork has descriptors of its own, but its parent's memory.
  if (is_same_process()) known.store(answer, std::memory_order_relaxed);
  return answer;
}

/// There is unread data: any reader would have read it before it waited.
bool holds_something(int descriptor, uint64_t use) {
  const ObjectKind kind = trace::kind_of(use);
  int left = 0;
  if (kind == ObjectKind::pipe) return ioctl(descriptor, FIONREAD, &left) == 0 && left > 0;
  if (kind == ObjectKind::socket) return ioctl(descriptor, TIOCOUTQ, &left) == 0 && left > 0;
  return false;
}

/// A writer may wait for room in the pipe, or in the queue of this socket. The system gives room by
/// the page, so a full pipe may lack some bytes; what a queue can hold differs from system to
/// system, but half of this is less.
bool may_lack_room(int descriptor, uint64_t use) {
  constexpr int kPage = 4096, kQueue = 64 << 10;
  int left = 0;
  if (ioctl(descriptor, FIONREAD, &left) != 0 || left < kPage) return false;
  if (trace::kind_of(use) == ObjectKind::socket) return left >= kQueue;
  const auto size = static_cast<int>(syscall(SYS_fcntl, descriptor, F_GETPIPE_SZ));
  return left > size - kPage;
}

/// The room in the queue of the socket with this number.
uint64_t room_of_socket(uint64_t reader) {
  return object_of(ObjectKind::room, trace::file_number(0, reader));
}
uint64_t room_of_pipe(const struct stat& what) {
  return object_of(ObjectKind::room, trace::file_number(what.st_dev, what.st_ino));
}

bool is_written(int descriptor) {
  const int flags = static_cast<int>(syscall(SYS_fcntl, descriptor, F_GETFL));
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

// --- what is given back -------------------------------------------------------------------------

std::atomic<bool> g_locked[kMostDescriptors];
std::atomic<pid_t> g_locker{0};  ///< the process that holds these locks: a forked child does not
                                 ///< have them

/// Records, if this was the last descriptor for writing, that readers will find the end of the
/// data.
void say_gone(int descriptor, uint64_t use, Whence whence) {
  if (has_lock(descriptor)) say_unlocked(descriptor, whence);
  const ObjectKind kind = trace::kind_of(use);
  if (kind != ObjectKind::pipe && kind != ObjectKind::socket) return;
  if (is_written(descriptor) && !holds_something(descriptor, use)) say_woke(use, now(), whence);
}

void before_closing(unsigned first, unsigned last) {
  for (unsigned i = first; i <= last && i < kMostDescriptors; ++i) {
    if (g_uses[i].load(std::memory_order_relaxed) != use::unknown || g_locked[i].load()) {
      before_close(static_cast<int>(i));
    }
  }
}

}  // namespace

void find_descriptor_calls() {
  const KeepErrno keep;
  g_dup2.find(), g_dup3.find(), g_close_range.find(), g_closefrom.find(), g_socketpair.find();
}

void say_written(int descriptor) {
  if (!is_watched()) return;
  const KeepErrno keep;
  const uint64_t use = known_use(descriptor);
  if (use > use::plain && !holds_something(descriptor, use)) say_woke(use, now());
}

void say_read(int descriptor) {
  if (!is_watched()) return;
  const KeepErrno keep;
  const uint64_t use = known_use(descriptor);
  if (use <= use::plain || !may_lack_room(descriptor, use)) return;
  struct stat what;
  if (fstat(descriptor, &what) != 0) return;
  say_woke(S_ISSOCK(what.st_mode) ? room_of_socket(ends_of_socket(descriptor, what).own)
                                  : room_of_pipe(what),
           now());
}

void before_close(int descriptor) {
  if (!is_in_table(descriptor)) return;
  const uint64_t use = g_uses[descriptor].exchange(use::unknown, std::memory_order_relaxed);
  const bool locked = has_lock(descriptor);
  if (use <= use::plain && !locked) return;
  const KeepErrno keep;
  if (is_watched()) say_gone(descriptor, use, Whence::caller);
  if (locked) g_locked[descriptor].store(false, std::memory_order_relaxed);
}

void before_close(FILE* stream) {
  if (stream == nullptr) return;
  const KeepErrno keep;
  const int descriptor = descriptor_of(stream);
  // The library's own writes were not seen.
  if (is_watched() && is_in_table(descriptor) && __fwriting(stream) != 0) known_use(descriptor);
  before_close(descriptor);
}

void before_end() {
  constexpr int kLooked = 256;  // programs have few descriptors, and their numbers are the lowest
  const KeepErrno keep;
  if (!is_watched() || !is_same_process()) return;
  for (int i = 0; i < kLooked; ++i) {
    if (syscall(SYS_fcntl, i, F_GETFD) >= 0) say_gone(i, known_use(i), Whence::nowhere);
  }
}

void say_opened(int descriptor, uint64_t time) {
  if (!is_watched()) return;
  const KeepErrno keep;
  // For seekable files lseek succeeds: distant file systems are not queried for each opened file.
  if (syscall(SYS_lseek, descriptor, 0, SEEK_CUR) >= 0 || errno != ESPIPE) return;
  const uint64_t object = object_to_open(descriptor);
  if (trace::kind_of(object) == ObjectKind::opening) say_woke(object, time);
}

uint64_t object_to_read(int descriptor) {
  struct stat what;
  if (descriptor < 0 || fstat(descriptor, &what) != 0) return 0;
  if (S_ISFIFO(what.st_mode)) return pipe_object(what);
  if (S_ISSOCK(what.st_mode)) {
    const uint64_t own = ends_of_socket(descriptor, what).own;
    return own != 0 ? object_of(ObjectKind::socket, own) : 0;
  }
  return (what.st_mode & S_IFMT) == 0 ? event_object(descriptor) : 0;
}

uint64_t object_to_write(int descriptor) {
  struct stat what;
  if (descriptor < 0 || fstat(descriptor, &what) != 0) return 0;
  if (S_ISFIFO(what.st_mode)) return room_of_pipe(what);
  if (!S_ISSOCK(what.st_mode)) return 0;
  const uint64_t other = ends_of_socket(descriptor, what).other;
  return other != 0 ? room_of_socket(other) : 0;
}

uint64_t object_to_open(int descriptor) {
  struct stat what;
  if (descriptor < 0 || fstat(descriptor, &what) != 0 || !S_ISFIFO(what.st_mode)) return 0;
  return object_of(ObjectKind::opening, trace::file_number(what.st_dev, what.st_ino));
}

uint64_t object_of_ready(const pollfd* files, nfds_t count) {
  const KeepErrno keep;
  for (nfds_t i = 0; i < count; ++i) {
    if ((files[i].revents & (POLLIN | POLLHUP | POLLRDHUP)) != 0) {
      return object_to_read(files[i].fd);
    }
  }
  for (nfds_t i = 0; i < count; ++i) {
    if ((files[i].revents & POLLOUT) != 0) return object_to_write(files[i].fd);
  }
  return 0;
}

uint64_t object_of_ready(const fd_set* in, const fd_set* out, int count) {
  const KeepErrno keep;
  for (int i = 0; in != nullptr && i < std::min(count, FD_SETSIZE); ++i) {
    if (FD_ISSET(i, in)) return object_to_read(i);
  }
  for (int i = 0; out != nullptr && i < std::min(count, FD_SETSIZE); ++i) {
    if (FD_ISSET(i, out)) return object_to_write(i);
  }
  return 0;
}

/// An event has the data that the program gave with its descriptor; the system shows which one that
/// is ("tfd: 5 events: 19 data: 5 ..."), for the first two dozen or so.
uint64_t object_of_ready(int queue, const epoll_event* first) {
  const KeepErrno keep;
  const epoll_event event = *first;
  char path[32], text[2048];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", queue);
  const bool is_to_read = (event.events & (EPOLLIN | EPOLLHUP | EPOLLRDHUP)) != 0;
  if (!is_to_read && (event.events & EPOLLOUT) == 0) return 0;
  if (!read_text(path, text, sizeof text)) return 0;
  constexpr char kKey[] = "tfd:", kData[] = "data:";
  int found = -1;
  for (const char* at = strstr(text, kKey); at != nullptr; at = strstr(at, kKey)) {
    at += sizeof kKey - 1;
    const char* const data = strstr(at, kData);
    if (data == nullptr) break;
    if (strtoull(data + sizeof kData - 1, nullptr, 16) != event.data.u64) continue;
    if (found >= 0) return 0;  // ambiguous: several descriptors have this data
    found = atoi(at);
  }
  return is_to_read ? object_to_read(found) : object_to_write(found);
}

uint64_t object_to_lock(int descriptor) {
  const KeepErrno keep;
  struct stat what;
  if (descriptor < 0 || fstat(descriptor, &what) != 0) return 0;
  return object_of(ObjectKind::file_lock, trace::file_number(what.st_dev, what.st_ino));
}

void note_lock(int descriptor) {
  if (!is_in_table(descriptor)) return;
  const pid_t self = getpid();
  if (g_locker.exchange(self, std::memory_order_relaxed) != self) {
    for (std::atomic<bool>& locked : g_locked) locked.store(false, std::memory_order_relaxed);
  }
  g_locked[descriptor].store(true, std::memory_order_relaxed);
}

bool has_lock(int descriptor) {
  if (!is_in_table(descriptor) || !g_locked[descriptor].load(std::memory_order_relaxed)) {
    return false;
  }
  return g_locker.load(std::memory_order_relaxed) == getpid();
}

void say_unlocked(int descriptor, Whence whence) {
  if (!is_watched()) return;
  if (const uint64_t object = object_to_lock(descriptor)) say_woke(object, now(), whence);
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

CULPRIT_EXPORT int dup2(int from, int to) noexcept {
  auto* const next = g_dup2.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  if (from != to) before_close(to);
  return next(from, to);
}

CULPRIT_EXPORT int dup3(int from, int to, int flags) noexcept {
  auto* const next = g_dup3.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  if (from != to) before_close(to);
  return next(from, to, flags);
}

CULPRIT_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  auto* const next = g_close_range.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  constexpr int kOnlyMark = 4;  // CLOSE_RANGE_CLOEXEC
  if ((flags & kOnlyMark) == 0) before_closing(first, last);
  return next(first, last, flags);
}

CULPRIT_EXPORT void closefrom(int first) noexcept {
  auto* const next = g_closefrom.get();
  if (next == nullptr) return;
  before_closing(first > 0 ? static_cast<unsigned>(first) : 0, kMostDescriptors - 1);
  next(first);
}

CULPRIT_EXPORT int socketpair(int domain, int type, int protocol, int sockets[2]) noexcept {
  auto* const next = g_socketpair.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  const int result = next(domain, type, protocol, sockets);
  if (result == 0) note_pair({sockets[0], sockets[1]});
  return result;
}

}  // extern "C"
