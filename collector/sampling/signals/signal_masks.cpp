// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the calls that change which signals a thread blocks, or return its pending signals.
// A set that names the signal of samples, and not all that samples could use, means that the
// program intends to use that very signal (a signalfd, sigwait): samples leave it to the program.
// Masks that change otherwise (by a handler's flags, sigsuspend, siglongjmp) are not intercepted: a
// sample may then wait until they change back.
#include "collector/sampling/signals/signal_masks.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/sampling/blocking_call.h"
#include "collector/sampling/signals/sample_signal.h"
#include "collector/sampling/signals/sample_timers.h"

namespace culprit::collector::sampling {

namespace {

using Change = int(int, const sigset_t*, sigset_t*);
constinit Next<Change> g_pthread_sigmask("pthread_sigmask");
constinit Next<Change> g_sigprocmask("sigprocmask");
constinit Next<int(sigset_t*)> g_sigpending("sigpending");
constinit Next<int(int)> g_sighold("sighold");

/// Whether the thread will block `signal` afterwards: 1 or 0, or -1 if that does not change.
int will_block(int how, const sigset_t& set, int signal) {
  const bool is_in = sigismember(&set, signal) == 1;
  if (how == SIG_SETMASK) return is_in ? 1 : 0;
  if (!is_in) return -1;
  if (how == SIG_BLOCK) return 1;
  return how == SIG_UNBLOCK ? 0 : -1;
}

/// `call` changes the mask. Errors are returned in two ways, so the caller must interpret the
/// result; 0 means success in both.
template <class Call>
int change(int how, const sigset_t* set, const Call& call) {
  const int signal = sample_signal();
  if (signal == 0 || set == nullptr) return call();
  int blocks = will_block(how, *set, signal);
  if (blocks == -1 || !is_same_process()) return call();
  if (blocks == 1 && !has_all_sample_signals(*set)) {
    leave_to_program(signal);
    blocks = will_block(how, *set, sample_signal());
  }
  if (blocks == 1) timers::pause();
  const int result = call();
  if (blocks == 0) {
    const KeepErrno keep;
    on_unblocked();
  }
  return result;
}

/// Whether the program blocks `signal`, and the only pending one for this thread was ours.
bool was_ours(int signal) {
  timers::pause();
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  const timespec at_once = {};
  siginfo_t found = {};
  if (syscall(SYS_rt_sigtimedwait, &only, &found, &at_once, sizeof(uint64_t)) < 0) return true;
  if (timers::is_ours(found)) return was_ours(signal);
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, &found);
  return false;
}

}  // namespace

void find_mask_calls() {
  const KeepErrno keep;
  g_pthread_sigmask.find(), g_sigprocmask.find(), g_sigpending.find();
  g_sighold.find();
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

CULPRIT_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  auto* const next = g_pthread_sigmask.get();
  if (next == nullptr) return ENOSYS;
  return change(how, set, [&] { return next(how, set, before); });
}

CULPRIT_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  auto* const next = g_sigprocmask.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  return change(how, set, [&] { return next(how, set, before); });
}

CULPRIT_EXPORT int sigpending(sigset_t* set) noexcept {
  auto* const next = g_sigpending.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  const int result = next(set);
  const int signal = sample_signal();
  const culprit::collector::KeepErrno keep;
  if (result != 0 || signal == 0 || sigismember(set, signal) != 1) return result;
  if (is_same_process() && was_ours(signal)) sigdelset(set, signal);
  return result;
}

CULPRIT_EXPORT int sighold(int signal) noexcept {
  auto* const next = g_sighold.get();
  if (next == nullptr) return errno = ENOSYS, -1;
  if (signal == sample_signal()) leave_to_program(signal);
  return next(signal);
}

}  // extern "C"
