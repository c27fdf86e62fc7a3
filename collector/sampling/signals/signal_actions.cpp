// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the calls by which programs set the actions of signals: sigaction, and the
// library's older functions, none of which calls another one inside the library. Calls for signals
// that are not ours are passed on unchanged, but for handlers on stacks of their own: such a stack
// may be too small for a second signal's frame, for which the system would kill the program, so
// samples wait until these handlers return.
#include "collector/sampling/signals/signal_actions.h"

#include <signal.h>

#include "collector/process/fault_guard.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/signals/quiet_handlers.h"
#include "collector/sampling/signals/sample_signal.h"

namespace culprit::collector::sampling {

namespace {

using Handler = void (*)(int);
using Set = Handler(int, Handler);
constinit Next<int(int, const struct sigaction*, struct sigaction*)> g_sigaction("sigaction");
constinit Next<Set> g_signal("signal");
constinit Next<Set> g_sysv_signal("__sysv_signal");
constinit Next<Set> g_sigset("sigset");
constinit Next<int(int)> g_sigignore("sigignore");
constinit Next<int(int, int)> g_siginterrupt("siginterrupt");

int missing() {
  errno = ENOSYS;
  return -1;
}

/// Whether our handler is installed before the program's.
bool is_kept(int signal) {
  return concerns_us(signal) || is_guarded(signal);
}

int set_kept_action(int signal, const struct sigaction* action, struct sigaction* previous) {
  return is_guarded(signal) ? set_guarded_action(signal, action, previous)
                            : set_program_action(signal, action, previous);
}

/// As set_action() for a signal that is the program's alone.
int pass_on(int signal, const struct sigaction* action, struct sigaction* previous) {
  auto* const next = g_sigaction.get();
  if (next == nullptr) return missing();
  const int samples = sample_signal();
  struct sigaction quiet;
  const bool is_quiet = action != nullptr && keeps_samples_waiting(*action, samples);
  if (is_quiet) {
    quiet = *action;
    sigaddset(&quiet.sa_mask, samples);
  }
  if (next(signal, is_quiet ? &quiet : action, previous) != 0) return -1;
  const bool was_quiet = action != nullptr ? set_quiet(signal, is_quiet) : is_handler_quiet(signal);
  if (previous != nullptr && samples != 0 && was_quiet) sigdelset(&previous->sa_mask, samples);
  return 0;
}

int set_action(int signal, const struct sigaction* action, struct sigaction* previous) {
  if (is_kept(signal)) [[unlikely]]
    return set_kept_action(signal, action, previous);
  return pass_on(signal, action, previous);
}

/// Signals for which siginterrupt() asked that handlers interrupt calls.
std::atomic<uint64_t> g_interrupting{0};

Handler set_handler(int signal, Handler handler, int flags, bool masks_itself) {
  if (handler == SIG_ERR) return errno = EINVAL, SIG_ERR;
  struct sigaction action = {};
  struct sigaction previous = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (masks_itself) sigaddset(&action.sa_mask, signal);
  if (set_kept_action(signal, &action, &previous) != 0) return SIG_ERR;
  return previous.sa_handler;
}

Handler set_bsd(int signal, Handler handler) {
  auto* const next = g_signal.get();
  if (!is_kept(signal)) return next != nullptr ? next(signal, handler) : SIG_ERR;
  const bool interrupts = (g_interrupting.load() >> (signal - 1) & 1) != 0;
  return set_handler(signal, handler, interrupts ? 0 : SA_RESTART, true);
}

Handler set_sysv(int signal, Handler handler) {
  auto* const next = g_sysv_signal.get();
  if (!is_kept(signal)) return next != nullptr ? next(signal, handler) : SIG_ERR;
  return set_handler(signal, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER), false);
}

/// Sets the handler as System V's function does, which also returns whether the thread blocked the
/// signal, and unblocks it.
Handler set_and_unblock(int signal, Handler handler) {
  auto* const next = g_sigset.get();
  if (next == nullptr || !is_kept(signal)) {
    return next != nullptr ? next(signal, handler) : SIG_ERR;
  }
  sigset_t only, before;
  sigemptyset(&only);
  sigaddset(&only, signal);
  struct sigaction previous = {};
  if (handler == SIG_HOLD) {
    if (pthread_sigmask(SIG_BLOCK, &only, &before) != 0) return SIG_ERR;
    if (sigaction(signal, nullptr, &previous) != 0) return SIG_ERR;
  } else {
    previous.sa_handler = set_handler(signal, handler, 0, false);
    if (previous.sa_handler == SIG_ERR) return SIG_ERR;
    if (pthread_sigmask(SIG_UNBLOCK, &only, &before) != 0) return SIG_ERR;
  }
  return sigismember(&before, signal) == 1 ? SIG_HOLD : previous.sa_handler;
}

}  // namespace

void find_action_calls() {
  const KeepErrno keep;
  g_sigaction.find(), g_signal.find(), g_sysv_signal.find(), g_sigset.find();
  g_sigignore.find(), g_siginterrupt.find();
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

CULPRIT_EXPORT int sigaction(int signal, const struct sigaction* action,
                             struct sigaction* previous) noexcept {
  return set_action(signal, action, previous);
}

CULPRIT_EXPORT int __sigaction(int signal, const struct sigaction* action,
                               struct sigaction* previous) noexcept {
  return set_action(signal, action, previous);
}

CULPRIT_EXPORT __sighandler_t signal(int signal, __sighandler_t handler) noexcept {
  return set_bsd(signal, handler);
}

CULPRIT_EXPORT __sighandler_t bsd_signal(int signal, __sighandler_t handler) noexcept {
  return set_bsd(signal, handler);
}

CULPRIT_EXPORT __sighandler_t ssignal(int signal, __sighandler_t handler) noexcept {
  return set_bsd(signal, handler);
}

CULPRIT_EXPORT __sighandler_t sysv_signal(int signal, __sighandler_t handler) noexcept {
  return set_sysv(signal, handler);
}

CULPRIT_EXPORT __sighandler_t __sysv_signal(int signal, __sighandler_t handler) noexcept {
  return set_sysv(signal, handler);
}

CULPRIT_EXPORT __sighandler_t sigset(int signal, __sighandler_t handler) noexcept {
  return set_and_unblock(signal, handler);
}

CULPRIT_EXPORT int sigignore(int signal) noexcept {
  auto* const next = g_sigignore.get();
  if (!is_kept(signal)) return next != nullptr ? next(signal) : missing();
  return set_handler(signal, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

CULPRIT_EXPORT int siginterrupt(int signal, int interrupts) noexcept {
  auto* const next = g_siginterrupt.get();
  if (signal < 1 || signal >= NSIG) return errno = EINVAL, -1;
  const uint64_t bit = uint64_t{1} << (signal - 1);
  interrupts != 0 ? g_interrupting.fetch_or(bit) : g_interrupting.fetch_and(~bit);
  if (!is_kept(signal)) return next != nullptr ? next(signal, interrupts) : missing();
  struct sigaction action;
  if (set_kept_action(signal, nullptr, &action) != 0) return -1;
  action.sa_flags = interrupts != 0 ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return set_kept_action(signal, &action, nullptr);
}

}  // extern "C"
