// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// SIGURG is tried first, because the system ignores it if it has no handler: runtimes that reset
// all signals to the default by the bare system call, which cannot be intercepted, would end by any
// other. The others are real-time signals in the middle of their range: glibc, .NET and musl use
// the first ones, PAPI and other profilers those after them, Java and valgrind the last. Those
// queue: one of the program's is never merged with one of ours. If the program takes them all, the
// last one is shared with it: then its handler lacks an effect that only the system can produce,
// that an interrupted call ends with EINTR.
#include "collector/sampling/signals/sample_signal.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>

#include "collector/process/process_record.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/signals/quiet_handlers.h"
#include "collector/sampling/signals/sample_timers.h"
#include "collector/sampling/signals/signal_turn.h"
#include "collector/sampling/started.h"

namespace culprit::collector::sampling {

namespace {

constinit Next<int(int, const struct sigaction*, struct sigaction*)> g_sigaction("sigaction");

constexpr int kLastSignal = 64;
constexpr int kFirstRealTime = 55, kLastRealTime = 42;

/// The program's action behind our handler.
struct Kept {
  std::atomic<bool> ours{false};   ///< our handler is installed, as far as we know
  std::atomic<bool> spent{false};  ///< the action was for one signal, which has come (SA_RESETHAND)

  struct sigaction action() const { return actions_[newest_.load(std::memory_order_acquire)]; }
  /// The action that was in force when the signal that this thread handles now was delivered. The
  /// system looks the action up when a thread takes a signal, and we do when that thread gets a
  /// core: another thread may meanwhile have restored the default, which would end the process.
  struct sigaction action_when_taken() const {
    const unsigned newest = newest_.load(std::memory_order_acquire);
    const bool by_another = setter_.load() != 0 && setter_.load() != syscall(SYS_gettid);
    const bool just_now = coarse_seconds() - set_s_.load() <= kJustNow_s;
    return actions_[by_another && just_now && is_default(actions_[newest]) ? 1 - newest : newest];
  }
  /// Handlers may still be reading the previous action.
  void keep(const struct sigaction& action) {
    const unsigned other = 1 - newest_.load(std::memory_order_relaxed);
    actions_[other] = action;
    setter_.store(static_cast<pid_t>(syscall(SYS_gettid)));
    set_s_.store(coarse_seconds());
    newest_.store(other, std::memory_order_release);
    spent.store(false);
  }

 private:
  static constexpr time_t kJustNow_s = 1;
  static time_t coarse_seconds() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return time.tv_sec;
  }
  static bool is_default(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
  }

  struct sigaction actions_[2] = {};  ///< the program's
  std::atomic<unsigned> newest_{0};
  std::atomic<pid_t> setter_{0};  ///< the thread that has set the newest
  std::atomic<time_t> set_s_{0};  ///< time at which it was set
};
constinit Kept g_kept[kLastSignal + 1];

std::atomic<int> g_signal{0};
std::atomic<bool> g_over{false};
/// The counter for a change that the record does not contain yet: the process may have no record
/// yet.
std::atomic<uint64_t trace::RawProcess::*> g_untold{nullptr};

void on_signal(int signal, siginfo_t* info, void* context);

int install(int signal, const struct sigaction* action, struct sigaction* previous) {
  auto* const next = g_sigaction.get();
  return next != nullptr ? next(signal, action, previous) : -1;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal;
}

bool stands(int signal) {
  struct sigaction current;
  return install(signal, nullptr, &current) == 0 && is_ours(current);
}

bool is_plain(const struct sigaction& action, void (*handler)(int)) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}

/// Installs the handler that takes samples. `program`: the program's action behind it.
bool install_sampling(int signal, const struct sigaction& program) {
  struct sigaction ours = {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | (program.sa_flags & SA_ONSTACK);
  // A handler of the program that leaves by siglongjmp must not interrupt ours half way.
  sigfillset(&ours.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&ours.sa_mask, fault);
  }
  return install(signal, &ours, nullptr) == 0;
}

/// Installs our handler in front of the program's own: all else is as the program asked.
bool install_front(int signal, const struct sigaction& program) {
  struct sigaction ours = program;
  ours.sa_sigaction = on_signal;
  ours.sa_flags |= SA_SIGINFO;
  // The program's stack for handlers may be too small for a sample's frame, too.
  const int samples = g_signal.load();
  if (samples != 0 && (program.sa_flags & SA_ONSTACK) != 0) sigaddset(&ours.sa_mask, samples);
  return install(signal, &ours, nullptr) == 0;
}

/// Samples use another signal from now on.
void keep_waiting_in_handlers(int samples) {
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    struct sigaction action;
    if (!is_handler_quiet(signal) || install(signal, nullptr, &action) != 0) continue;
    if (!keeps_samples_waiting(action, samples)) continue;
    sigaddset(&action.sa_mask, samples);
    install(signal, &action, nullptr);
  }
}

bool take(int signal) {
  Kept& kept = g_kept[signal];
  struct sigaction current;
  if (kept.ours.load() || install(signal, nullptr, &current) != 0) return false;
  if (!is_plain(current, SIG_DFL)) return false;
  kept.keep(current);
  if (!install_sampling(signal, current)) return false;
  kept.ours.store(true);
  g_signal.store(signal);
  keep_waiting_in_handlers(signal);
  if (trace::RawProcess* record = process(); record != nullptr) {
    std::atomic_ref<uint64_t>(record->sampling_signal).store(static_cast<uint64_t>(signal));
  }
  return true;
}

bool take_a_free_one() {
  if (take(SIGURG)) return true;
  for (int signal = kFirstRealTime; signal >= kLastRealTime; --signal) {
    if (take(signal)) return true;
  }
  return false;
}

/// Moves samples to another signal. False if there is none.
bool move_on() {
  if (!take_a_free_one()) return false;
  timers::move_all(g_signal.load());
  return true;
}

/// Returns the signal to the program alone.
int give_back(int signal, const struct sigaction& action) {
  g_kept[signal].ours.store(false);
  return install(signal, &action, nullptr);
}

/// Performs the system's default action; our signals have one of two.
void do_default(int signal, const siginfo_t& info) {
  if (signal == SIGURG || !stands(signal)) return;
  const struct sigaction standard = {};
  install(signal, &standard, nullptr);
  siginfo_t again = info;
  // It comes when this handler returns.
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, &again);
}

/// Sets the mask that the program asked for, since the system has applied our handler's flags.
void set_program_mask(int signal, const struct sigaction& action, const void* context) {
  sigset_t mask = action.sa_mask;
  if ((action.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  uint64_t wanted = 0, before = 0;
  const auto& interrupted = static_cast<const ucontext_t*>(context)->uc_sigmask;
  static_assert(sizeof interrupted >= sizeof before);
  __builtin_memcpy(&before, &interrupted, sizeof before);
  __builtin_memcpy(&wanted, &mask, sizeof wanted);
  wanted |= before;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &wanted, nullptr, sizeof wanted);
}

/// Passes a signal that is not ours to the program.
void hand_over(int signal, siginfo_t* info, void* context) {
  Kept& kept = g_kept[signal];
  const struct sigaction action = kept.action_when_taken();
  if (is_plain(action, SIG_IGN)) return;
  const bool once = (action.sa_flags & SA_RESETHAND) != 0;
  const bool spent = once && kept.spent.exchange(true);
  if (spent || is_plain(action, SIG_DFL)) return do_default(signal, *info);
  if (signal == g_signal.load()) set_program_mask(signal, action, context);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

/// Drops a sample's signal that was on its way when samples moved to another signal. If the
/// program's handler was set for one signal only, the system has reset it: it is set again.
void keep_back(int signal) {
  const struct sigaction action = g_kept[signal].action();
  if ((action.sa_flags & SA_RESETHAND) != 0) install_front(signal, action);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const KeepErrno keep;
  if (!timers::is_ours(*info)) return hand_over(signal, info, context);
  if (signal != g_signal.load(std::memory_order_relaxed)) return keep_back(signal);
  on_sample(context);
}

/// The action as the program would find it if it had set it itself.
struct sigaction as_found(const struct sigaction& action, const struct sigaction& current) {
  struct sigaction found = action;
  constexpr int kRestorer = 0x04000000;
  found.sa_flags |= current.sa_flags & kRestorer;
  found.sa_restorer = current.sa_restorer;
  sigdelset(&found.sa_mask, SIGKILL);
  sigdelset(&found.sa_mask, SIGSTOP);
  return found;
}

/// The action for a child that shares our memory, or has a copy of it, without our knowledge.
int set_in_another_process(int signal, const struct sigaction* action, struct sigaction* previous) {
  struct sigaction found;
  if (install(signal, action, &found) != 0) return -1;
  if (previous != nullptr) *previous = is_ours(found) ? g_kept[signal].action() : found;
  return 0;
}

void tell_end() {
  if (process() == nullptr) return;
  if (auto counter = g_untold.exchange(nullptr); counter != nullptr) tally(counter);
}

}  // namespace

int claim_sample_signal() {
  if (g_over.load()) return 0;
  if (g_signal.load() == 0 && !take_a_free_one()) end_sampling(Over::displaced);
  return g_signal.load();
}

int sample_signal() {
  return g_signal.load(std::memory_order_relaxed);
}

bool has_all_sample_signals(const sigset_t& set) {
  bool all = sigismember(&set, SIGURG) == 1;
  for (int signal = kLastRealTime; signal <= kFirstRealTime; ++signal) {
    all = all && sigismember(&set, signal) == 1;
  }
  return all;
}

bool concerns_us(int signal) {
  return signal > 0 && signal <= kLastSignal && g_kept[signal].ours.load(std::memory_order_relaxed);
}

int set_program_action(int signal, const struct sigaction* action, struct sigaction* previous) {
  if (!is_same_process()) return set_in_another_process(signal, action, previous);
  const SignalTurn turn;
  struct sigaction current;
  if (install(signal, nullptr, &current) != 0) return -1;
  Kept& kept = g_kept[signal];
  if (!is_ours(current)) {  // another action was set by the bare system call
    kept.ours.store(false);
    if (signal == g_signal.load()) end_sampling(Over::displaced);
    return install(signal, action, previous);
  }
  struct sigaction before = kept.action();
  if (kept.spent.load()) before.sa_handler = SIG_DFL, before.sa_flags &= ~SA_SIGINFO;
  const struct sigaction wanted = action != nullptr ? as_found(*action, current) : before;
  if (previous != nullptr) *previous = before;
  if (action == nullptr) return 0;
  const bool is_default = is_plain(wanted, SIG_DFL);
  const bool in_use = signal == g_signal.load();
  const bool alone = in_use && !is_default && move_on();
  kept.keep(wanted);
  if (in_use && !alone) return install_sampling(signal, wanted) ? 0 : -1;
  const bool is_harmless = is_plain(wanted, SIG_IGN) || (is_default && signal == SIGURG);
  if (is_harmless) return give_back(signal, wanted);
  return install_front(signal, wanted) ? 0 : -1;
}

void leave_to_program(int signal) {
  if (!is_same_process()) return;
  const SignalTurn turn;
  if (signal != g_signal.load() || !is_plain(g_kept[signal].action(), SIG_DFL)) return;
  if (move_on()) give_back(signal, g_kept[signal].action());
}

void end_sampling(Over why) {
  if (g_over.exchange(true)) return;
  g_signal.store(0);  // signals that are still on their way are dropped
  timers::move_all(0);
  g_untold.store(why == Over::displaced ? &trace::RawProcess::displaced_samplers
                                        : &trace::RawProcess::confined_samplers);
  tell_end();
}

void check_sample_signal() {
  if (g_over.load()) return tell_end();
  if (g_signal.load() == 0 || !is_same_process()) return;
  const SignalTurn turn;
  if (!stands(g_signal.load())) end_sampling(Over::displaced);
}

void forget_sample_signal() {
  SignalTurn::reset();
  timers::forget_all();
}

}  // namespace culprit::collector::sampling
