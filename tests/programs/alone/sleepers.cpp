// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program sees of its own calls that sleep, and threads that wait for each other without
// pthreads' own objects. Each case returns whether all was as it is without culprit; the name of
// the case that was not is printed.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

namespace {

constexpr int kMs = 20;

void doze(int ms) {
  usleep(static_cast<useconds_t>(ms) * 1000);
}

[[gnu::noinline]] void heavy() {
  doze(kMs);
  asm volatile("" ::: "memory");
}

// --- what calls return ---

/// A receive whose time is up.
bool time_is_up() {
  int sides[2];
  timeval limit = {0, kMs * 1000};
  char one;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sides) != 0) return false;
  setsockopt(sides[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  errno = 0;
  if (recv(sides[0], &one, 1, 0) != -1 || errno != EAGAIN) return false;
  errno = 0;
  if (read(sides[0], &one, 1) != -1 || errno != EAGAIN) return false;
  pollfd none = {sides[0], POLLIN, 0};
  errno = 77;
  return poll(&none, 1, kMs) == 0 && errno == 77;
}

/// A read that a signal ends.
bool interrupted() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  int ends[2];
  if (pipe(ends) != 0) return false;
  itimerval soon = {{0, 0}, {0, kMs * 1000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  char one;
  errno = 0;
  return read(ends[0], &one, 1) == -1 && errno == EINTR;
}

/// A handler that writes, reads and sleeps while the thread does the same.
int g_ends[2];
std::atomic<int> g_handled{0};
bool in_handlers() {
  if (pipe(g_ends) != 0) return false;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    const int saved = errno;
    char one;
    if (write(g_ends[1], "x", 1) == 1 && read(g_ends[0], &one, 1) == 1) ++g_handled;
    const timespec moment = {0, 200000};
    nanosleep(&moment, nullptr);
    errno = saved;
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval often = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < 200; ++i) {
    const timespec moment = {0, 300000};
    nanosleep(&moment, nullptr);
    FILE* const file = fopen("/proc/self/stat", "r");
    char text[64];
    if (file == nullptr || fgets(text, sizeof text, file) == nullptr || fclose(file) != 0)
      return false;
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  return g_handled > 0;
}

/// A thread that is cancelled while it reads.
bool cancelled() {
  int ends[2];
  if (pipe(ends) != 0) return false;
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void* argument) -> void* {
        char one;
        return read(*static_cast<int*>(argument), &one, 1) == 1 ? argument : nullptr;
      },
      ends);
  doze(kMs);
  void* result = nullptr;
  return pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 &&
         result == PTHREAD_CANCELED;
}

bool futexes() {
  int word = 5;
  const timespec limit = {0, kMs * 1000000};
  errno = 0;
  if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 4, nullptr, nullptr, 0) != -1) return false;
  if (errno != EAGAIN) return false;
  errno = 0;
  if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, &limit, nullptr, 0) != -1) return false;
  return errno == ETIMEDOUT && syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0) == 0;
}

/// The routine throws at first, so that another call executes it.
bool call_once_again() {
  std::once_flag once;
  int calls = 0;
  try {
    std::call_once(once, [&] {
      ++calls;
      throw 1;
    });
  } catch (int) {
    ++calls;
  }
  std::call_once(once, [&] {
    static std::once_flag inner;
    std::call_once(inner, [&] { ++calls; });
    ++calls;
  });
  std::call_once(once, [&] { calls = 100; });
  return calls == 4;
}

bool children() {
  int status = 0;
  if (system("sleep 0.02; exit 3") == -1) return false;
  FILE* const lines = popen("sleep 0.02; echo line", "r");
  char text[16] = "";
  if (lines == nullptr || fgets(text, sizeof text, lines) == nullptr || pclose(lines) != 0) {
    return false;
  }
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "sleep 0.02; exit 4", nullptr);
    _exit(1);
  }
  return strcmp(text, "line\n") == 0 && waitpid(child, &status, 0) == child &&
         WEXITSTATUS(status) == 4;
}

/// The mode of a new file is passed on, and a lock of a file is waited for.
bool files() {
  char path[] = "/tmp/culprit-sleepers-XXXXXX";
  const int first = mkstemp(path);
  struct flock all = {};
  all.l_type = F_WRLCK;
  if (first < 0 || fcntl(first, F_SETLKW, &all) != 0) return false;
  if (write(first, "abcdefgh", 8) != 8 || fsync(first) != 0) return false;
  char text[8];
  if (pread(first, text, 4, 2) != 4 || memcmp(text, "cdef", 4) != 0) return false;
  close(first);
  unlink(path);
  const int second = open(path, O_CREAT | O_WRONLY | O_EXCL, 0640);
  const int flags = fcntl(second, F_GETFL);
  unlink(path);
  return second >= 0 && (flags & O_ACCMODE) == O_WRONLY && close(second) == 0 &&
         close(second) == -1 && errno == EBADF;
}

// --- who made whom wait ---

/// The other thread is late each time. C++'s own waits first yield their core for a while, and on a
/// busy machine may never come to sleep.
bool meets() {
  static std::atomic<int> rounds{0};
  const auto futex = [](int operation, int value) {
    return syscall(SYS_futex, &rounds, operation, value, nullptr, nullptr, 0);
  };
  std::thread other([&] {
    for (int i = 0; i < 10; ++i) {
      heavy();
      ++rounds;
      futex(FUTEX_WAKE_PRIVATE, 1);
    }
  });
  for (int i = 0; i < 10; ++i) {
    while (rounds == i) futex(FUTEX_WAIT_PRIVATE, i);
  }
  other.join();
  return true;
}

/// A wait of 200 ms in slices of 10.
bool slices() {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread other([&] {
    for (int i = 0; i < 10; ++i) heavy();
    const std::lock_guard<std::mutex> guard(mutex);
    done = true;
    changed.notify_one();
  });
  {
    std::unique_lock<std::mutex> guard(mutex);
    while (!done) changed.wait_for(guard, std::chrono::milliseconds(10));
  }
  other.join();
  return true;
}

/// Threads that do nothing but lock a mutex once, which main holds while it works.
bool locks() {
  std::mutex mutex;
  for (int i = 0; i < 5; ++i) {
    std::atomic<bool> begun{false};
    std::unique_lock lock(mutex);
    std::thread waiter([&] {
      begun = true;
      const std::lock_guard guard(mutex);
    });
    while (!begun) std::this_thread::yield();
    heavy();
    lock.unlock();
    doze(kMs);  // the waiter has ended before anyone waits for it
    waiter.join();
  }
  return true;
}

bool futures() {
  for (int i = 0; i < 5; ++i) std::async(std::launch::async, heavy).get();
  return true;
}

struct Case {
  const char* name;
  bool (*run)();
};
constexpr Case kCases[] = {
    {"time_is_up", time_is_up},
    {"interrupted", interrupted},
    {"in_handlers", in_handlers},
    {"cancelled", cancelled},
    {"futexes", futexes},
    {"call_once_again", call_once_again},
    {"children", children},
    {"files", files},
    {"meets", meets},
    {"slices", slices},
    {"futures", futures},
    {"locks", locks},
};

}  // namespace

int main(int argc, char** argv) {
  // A thread makes the program worth recording.
  std::thread([] {}).join();
  int wrong = 0;
  for (const Case& one : kCases) {
    if (argc > 1 && strcmp(argv[1], one.name) != 0) continue;
    if (!one.run()) ++wrong, printf("sleepers: %s is wrong, errno %d\n", one.name, errno);
  }
  printf("sleepers: done\n");
  return wrong;
}
