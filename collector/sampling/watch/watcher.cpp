// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The watcher thread's life. It has descriptors of its own, so that the program finds none of its
// numbers taken and none of its files held open; it blocks all signals that may be blocked; it
// yields the core to computing threads until the system's next tick. Where an additional thread
// could be noticed, it ends first: unshare() and setns() refuse processes that have several.
#include "collector/sampling/watch/watcher.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "base/cores/thread_libraries.h"
#include "collector/process/lifecycle.h"
#include "collector/process/system_file.h"
#include "collector/recorder/tasks.h"
#include "collector/recorder/thread_registry.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/signals/system_call.h"
#include "collector/sampling/started.h"
#include "collector/sampling/watch/sleep_watch.h"
#include "trace/raw/own_threads.h"

namespace culprit::collector::sampling::watcher {

namespace {

#if defined(__x86_64__)

enum State : uint32_t { kNone, kBegun, kOver };
constinit std::atomic<uint32_t> g_state{kNone};
constinit std::atomic<pid_t> g_thread{0};
constinit Next<int(int)> g_unshare("unshare");
constinit Next<int(int, int)> g_setns("setns");

/// Makes the system call itself: no stand-in, no cancellation.
long call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  return culprit_bare_call(number, a, b, c, d, 0, 0);
}

template <class T>
long word(T* pointer) {
  return static_cast<long>(reinterpret_cast<uintptr_t>(pointer));
}

/// Reads the flag by which the C library spares single threads the locks in malloc and stdio. There
/// is no static variable with a guard here: dlsym() waits for the loader, and other threads may
/// wait for the guard within the loader.
bool has_several_threads() {
  static constinit std::atomic<const char*> known{nullptr};
  const char* is_single = known.load(std::memory_order_relaxed);
  if (is_single == nullptr) {
    is_single = static_cast<const char*>(dlsym(RTLD_DEFAULT, "__libc_single_threaded"));
    known.store(is_single, std::memory_order_relaxed);
  }
  return is_single != nullptr && *is_single == 0;
}

/// The only way to notice filters of system calls that were set before the program began.
bool is_confined() {
  char text[4096];
  if (!read_text("/proc/self/status", text, sizeof text)) return true;
  const char* const line = strstr(text, "\nSeccomp:\t");
  return line != nullptr && line[strlen("\nSeccomp:\t")] != '0';
}

/// Blocks all signals but the C library's own two, by which it notifies threads of new users and
/// cancels them.
uint64_t block_signals() {
  constexpr uint64_t kOurs = ~(uint64_t{3} << 31);
  uint64_t before = 0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, word(&kOurs), word(&before), sizeof before);
  return before;
}

void sleep_for(uint64_t nanoseconds) {
  const timespec time = {static_cast<time_t>(nanoseconds / 1'000'000'000),
                         static_cast<long>(nanoseconds % 1'000'000'000)};
  call(SYS_futex, word(&g_state), FUTEX_WAIT_PRIVATE, kBegun, word(&time));
}

/// Whether the first thread has ended before the process, by other ways than pthread_exit(), which
/// is intercepted. The C library ends a process with its last thread: it must not be ours, which
/// has none of the program's descriptors and could not flush its streams.
bool has_first_ended() {
  char text[512];
  if (!read_text("/proc/self/stat", text, sizeof text)) return false;
  const char* const name_end = strrchr(text, ')');
  return name_end != nullptr && strncmp(name_end, ") Z", 3) == 0;
}

bool goes_on() {
  return g_state.load(std::memory_order_relaxed) == kBegun && lifecycle::is_active() &&
         is_same_process();
}

/// Writes the rest of a log when its thread ends.
class Closing {
 public:
  explicit Closing(ThreadLog& log) : log_(log) {}
  ~Closing() { Recorder::destroy(&log_); }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

 private:
  ThreadLog& log_;
};

void* run(void* argument) {
  auto& log = *static_cast<ThreadLog*>(argument);
  const Closing closing(log);
  g_thread.store(static_cast<pid_t>(call(SYS_gettid)), std::memory_order_release);
  if (call(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE) != 0) return nullptr;
  const sched_param none = {};
  call(SYS_sched_setscheduler, 0, SCHED_BATCH, word(&none));
  call(SYS_prctl, PR_SET_NAME, word(trace::kRawWatcherThread));
  tasks::note_maker(kOwnThreadLibrary);
  SleepWatch& watch = SleepWatch::begin(log);
  while (goes_on() && !has_first_ended()) sleep_for(watch.look());
  watch.finish();
  return nullptr;
}

bool create(ThreadLog& log) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  constexpr size_t kStack = size_t{256} << 10;
  auto* const next = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  pthread_attr_t attributes;
  if (next == nullptr || pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const uint64_t mask = block_signals();
  const bool made = next(&thread, &attributes, run, &log) == 0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, word(&mask), 0, sizeof mask);
  pthread_attr_destroy(&attributes);
  return made;
}

#endif

}  // namespace

#if defined(__x86_64__)

void begin() {
  if (g_state.load(std::memory_order_relaxed) != kNone) return;
  if (!has_several_threads() || !lifecycle::is_active() || !is_same_process()) return;
  uint32_t none = kNone;
  if (!g_state.compare_exchange_strong(none, kBegun)) return;
  const KeepErrno keep;
  ThreadLog* const log = is_confined() ? nullptr : make_extra_log();
  if (log != nullptr) log->put(now(), raw::watch_begun{});
  if (log == nullptr || !create(*log)) g_state.store(kOver);
}

void note_thread() {
  SleepWatch::note_thread();
}

void end() {
  // A child of vfork has its parent's memory.
  if (!is_same_process() || g_state.exchange(kOver) != kBegun) return;
  const KeepErrno keep;
  call(SYS_futex, word(&g_state), FUTEX_WAKE_PRIVATE, 1);
  constexpr int kPatience = 1000;
  constexpr timespec kMoment = {0, 100'000};
  for (int tries = 0; tries < kPatience; ++tries) {
    const pid_t thread = g_thread.load(std::memory_order_acquire);
    if (thread == call(SYS_gettid)) return;  // the process ends with it
    if (thread != 0 && call(SYS_tgkill, getpid(), thread, 0) != 0) return;
    call(SYS_nanosleep, word(&kMoment));
  }
}

void forget() {
  g_state.store(kNone, std::memory_order_relaxed);
  g_thread.store(0, std::memory_order_relaxed);
}

#else

void begin() {}
void note_thread() {}
void end() {}
void forget() {}

#endif

}  // namespace culprit::collector::sampling::watcher

#if defined(__x86_64__)

extern "C" {

using namespace culprit::collector::sampling;

CULPRIT_EXPORT int unshare(int flags) noexcept {
  auto* const next = watcher::g_unshare.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  watcher::end();
  return next(flags);
}

CULPRIT_EXPORT int setns(int name_space, int kind) noexcept {
  auto* const next = watcher::g_setns.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  watcher::end();
  return next(name_space, kind);
}

}  // extern "C"

#endif
