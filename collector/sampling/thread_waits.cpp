// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the calls by which threads wait for each other, but for locks (lock_waits.cpp) and
// C11's own (c11_waits.cpp).
#include "collector/sampling/thread_waits.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "collector/process/next.h"
#include "collector/recorder/thread_registry.h"
#include "collector/sampling/signals/system_call.h"
#include "collector/sampling/thread_wait.h"
#include "collector/sampling/watch/watcher.h"
#include "trace/objects.h"

namespace culprit::collector::sampling {

namespace {

// glibc distinguishes two kinds of condition variables by symbol version.
constinit Next<int(pthread_cond_t*, pthread_mutex_t*)> g_cond_wait("pthread_cond_wait",
                                                                   "GLIBC_2.3.2");
constinit Next<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)> g_cond_timedwait(
    "pthread_cond_timedwait", "GLIBC_2.3.2");
constinit Next<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)> g_cond_clockwait(
    "pthread_cond_clockwait");
constinit Next<int(pthread_cond_t*)> g_cond_signal("pthread_cond_signal", "GLIBC_2.3.2");
constinit Next<int(pthread_cond_t*)> g_cond_broadcast("pthread_cond_broadcast", "GLIBC_2.3.2");
constinit Next<int(sem_t*)> g_sem_wait("sem_wait");
constinit Next<int(sem_t*)> g_sem_trywait("sem_trywait");
constinit Next<int(sem_t*, const timespec*)> g_sem_timedwait("sem_timedwait");
constinit Next<int(sem_t*, clockid_t, const timespec*)> g_sem_clockwait("sem_clockwait");
constinit Next<int(sem_t*)> g_sem_post("sem_post");
constinit Next<int(pthread_barrier_t*)> g_barrier_wait("pthread_barrier_wait");
constinit Next<int(pthread_once_t*, void (*)())> g_once("pthread_once");
constinit Next<int()> g_yield("sched_yield");
constinit Next<int(pthread_t, void**)> g_join("pthread_join");
constinit Next<void(void*)> g_exit("pthread_exit");
constinit Next<void(int)> g_c_exit("thrd_exit");

/// Names are compared by their address.
constexpr char kFutex[] = "futex";

#if defined(__x86_64__)  // elsewhere nothing stands in front of syscall()
uint64_t name_of_futex(long address, bool is_shared) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how syscall() is called
  const auto* const word = reinterpret_cast<const void*>(address);
  return is_shared ? shared_object(word) : number_of(word);
}

/// Whether threads of other processes wait is not seen.
void wake_futex(uint64_t word) {
  if (!trace::is_of_node(word)) return wake(word, Kind::lock);
  say_woke(word, now(), Whence::caller);
}
#endif

/// The state as glibc keeps it in the word itself.
enum class OnceState { untouched, in_progress, done };
OnceState state_of(const pthread_once_t& once) {
  constexpr int kInProgress = 1, kDone = 2;
  const int word = __atomic_load_n(&once, __ATOMIC_ACQUIRE);
  if ((word & kDone) != 0) return OnceState::done;
  return (word & kInProgress) != 0 ? OnceState::in_progress : OnceState::untouched;
}

/// The routine that a thread is about to execute for all callers of pthread_once().
struct Once {
  pthread_once_t* once;
  void (*routine)();
};
constinit thread_local Once t_once __attribute__((tls_model("initial-exec"))) = {};

/// Its routine may call pthread_once() itself, or throw.
void run_once() {
  const Once mine = t_once;
  mine.routine();
  wake(number_of(mine.once), Kind::lock);
}

/// Threads are numbered as they are made; the numbers are no addresses.
constinit std::atomic<uint64_t> g_made{0};
struct Made {
  uint64_t time, number;
};
constinit thread_local Made t_made __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

void find_thread_calls() {
  const KeepErrno keep;
  g_cond_wait.find(), g_cond_timedwait.find(), g_cond_clockwait.find();
  g_cond_signal.find(), g_cond_broadcast.find();
  g_sem_wait.find(), g_sem_trywait.find(), g_sem_timedwait.find(), g_sem_clockwait.find();
  g_yield.find(), g_sem_post.find(), g_once.find(), g_join.find(), g_exit.find(), g_c_exit.find();
  g_barrier_wait.find();
}

uint64_t say_making() {
  if (!lifecycle::is_watching() || selection::is_off()) return 0;
  ThreadLog* const log = lifecycle::watched_log();
  if (log == nullptr || log->waiting > 0) return 0;
  const uint64_t number = g_made.fetch_add(1, std::memory_order_relaxed) + 1;
  log->put(now(), raw::woke{.object = number});
  return number;
}

void note_made(uint64_t number) {
  t_made = {now(), number};
}

void say_made() {
  if (t_made.number == 0) return;
  if (ThreadLog* log = registry::existing_log()) {
    // The log may have been made at the end of the thread's first sleep, long after it began.
    log->put_blocked(t_made.time, raw::blocked{.until = t_made.time, .object = t_made.number});
  }
  t_made = {};
}

void say_ended() {
  wake(static_cast<uint64_t>(pthread_self()), Kind::other);
}

namespace {

/// Called before the thread ends by a call.
void leave_thread() {
  say_ended();
  // The process must end with the last of the program's threads, which would otherwise be our
  // watcher.
  if (syscall(SYS_gettid) == getpid()) watcher::end();
}

}  // namespace

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

// --- conditions ---------------------------------------------------------------------------------

CULPRIT_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  auto* const next = g_cond_wait.get();
  if (next == nullptr) return EINVAL;
  wake_all(*mutex, Kind::lock);
  Wait wait("pthread_cond_wait", name_of(*condition), Kind::other, owner_of(*condition));
  const int error = next(condition, mutex);
  wait.end();
  return error;
}

CULPRIT_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          const timespec* until) {
  auto* const next = g_cond_timedwait.get();
  if (next == nullptr) return EINVAL;
  wake_all(*mutex, Kind::lock);
  Wait wait("pthread_cond_timedwait", name_of(*condition), Kind::other, owner_of(*condition));
  const int error = next(condition, mutex, until);
  wait.end(error == ETIMEDOUT);
  return error;
}

CULPRIT_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          clockid_t clock, const timespec* until) {
  auto* const next = g_cond_clockwait.get();
  if (next == nullptr) return EINVAL;
  wake_all(*mutex, Kind::lock);
  Wait wait("pthread_cond_clockwait", name_of(*condition), Kind::other, owner_of(*condition));
  const int error = next(condition, mutex, clock, until);
  wait.end(error == ETIMEDOUT);
  return error;
}

CULPRIT_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  auto* const next = g_cond_signal.get();
  if (next == nullptr) return EINVAL;
  wake_all(*condition, Kind::other);
  return next(condition);
}

CULPRIT_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  auto* const next = g_cond_broadcast.get();
  if (next == nullptr) return EINVAL;
  wake_all(*condition, Kind::other);
  return next(condition);
}

// --- semaphores ---------------------------------------------------------------------------------

CULPRIT_EXPORT int sem_wait(sem_t* semaphore) {
  auto* const next = g_sem_wait.get();
  auto* const attempt = g_sem_trywait.get();
  if (next == nullptr || attempt == nullptr) return errno = ENOSYS, -1;
  const int saved = errno;
  if (attempt(semaphore) == 0) return 0;
  errno = saved;
  Wait wait("sem_wait", name_of(*semaphore), Kind::other, owner_of(*semaphore));
  const int result = next(semaphore);
  wait.end();
  return result;
}

CULPRIT_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  auto* const next = g_sem_timedwait.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  Wait wait("sem_timedwait", name_of(*semaphore), Kind::other, owner_of(*semaphore));
  const int result = next(semaphore, until);
  wait.end(result != 0 && errno == ETIMEDOUT);
  return result;
}

CULPRIT_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  auto* const next = g_sem_clockwait.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  Wait wait("sem_clockwait", name_of(*semaphore), Kind::other, owner_of(*semaphore));
  const int result = next(semaphore, clock, until);
  wait.end(result != 0 && errno == ETIMEDOUT);
  return result;
}

CULPRIT_EXPORT int sem_post(sem_t* semaphore) noexcept {
  auto* const next = g_sem_post.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  wake_all(*semaphore, Kind::other);
  return next(semaphore);
}

/// The last thread to arrive lets the others go on; each arrival is recorded, and the last one
/// counts.
CULPRIT_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  auto* const next = g_barrier_wait.get();
  if (next == nullptr) return EINVAL;
  wake_all(*barrier, Kind::other);
  Wait wait("pthread_barrier_wait", name_of(*barrier), Kind::other, owner_of(*barrier));
  const int result = next(barrier);
  wait.end();
  return result;
}

/// Others wait while one executes the routine.
CULPRIT_EXPORT int pthread_once(pthread_once_t* once, void (*routine)()) {
  auto* const next = g_once.get();
  if (next == nullptr) return EINVAL;
  const OnceState state = state_of(*once);
  if (state == OnceState::done) [[likely]]
    return next(once, routine);
  t_once = {once, routine};
  if (state == OnceState::untouched) return next(once, run_once);
  Wait wait("pthread_once", number_of(once), Kind::lock);
  const int error = next(once, run_once);
  wait.end();
  return error;
}

// --- futexes ------------------------------------------------------------------------------------

/// Futexes that the program waits for itself: C++'s barriers, latches, semaphores, atomics, futures
/// and static variables, Rust's locks. C's own library makes this call internally.
#if defined(__x86_64__)  // elsewhere nothing stands in front of syscall()
long culprit_futex_call(long number, long address, long operation, long value, long time,
                        long other, long mask) {
  const bool is_shared = (operation & FUTEX_PRIVATE_FLAG) == 0;
  const auto word = name_of_futex(address, is_shared);
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
      Wait wait(kFutex, word, Kind::lock, is_shared ? kShared : kUnknown);
      wait.take_yields();
      const long result = culprit_next_call(number, address, operation, value, time, other, mask);
      wait.end(result != 0 && errno == ETIMEDOUT);
      return result;
    }
    case FUTEX_WAKE_OP:
      wake_futex(name_of_futex(other, is_shared));
      [[fallthrough]];
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      wake_futex(word);
      break;
    default:
      break;
  }
  return culprit_next_call(number, address, operation, value, time, other, mask);
}

#endif

CULPRIT_EXPORT int sched_yield() noexcept {
  auto* const next = g_yield.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  Yields& yields = t_yields;
  const auto site = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  if (yields.site == site && yields.object != 0) {
    Wait wait(kFutex, yields.object, Kind::lock);
    wait.be_yield();
    const int result = next();
    wait.end(true);
    return result;
  }
  yields.begin_one(site);
  const int result = next();
  yields.end_one();
  return result;
}

// --- threads ------------------------------------------------------------------------------------

CULPRIT_EXPORT int pthread_join(pthread_t thread, void** result) {
  auto* const next = g_join.get();
  if (next == nullptr) return ESRCH;
  Wait wait("pthread_join", static_cast<uint64_t>(thread), Kind::other);
  const int error = next(thread, result);
  wait.end();
  return error;
}

CULPRIT_EXPORT void pthread_exit(void* result) {
  leave_thread();
  auto* const next = g_exit.get();
  if (next != nullptr) next(result);
  for (;;) pause();  // there is no system without it
}

CULPRIT_EXPORT void thrd_exit(int result) {
  leave_thread();
  auto* const next = g_c_exit.get();
  if (next != nullptr) next(result);
  for (;;) pause();
}

}  // extern "C"
