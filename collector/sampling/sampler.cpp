// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One timer per thread on its CPU time: threads that sleep are not woken. Threads of the program's
// own have it from their beginning (the first thread from when this library is loaded, where the
// program is likely to be recorded), all others from their first event on. The kernel checks such
// timers at its own ticks, so at high rates one signal stands for several expirations (the record's
// flags). SIGURG is used, unless the program has a handler of its own there: a program that puts
// all signals back to the system's default would end by any other, this one is ignored then. The
// handler takes no sample while the thread is inside the collector, waits (the events around tell
// that better), or is in the dynamic loader or the unwinder.
#include "collector/sampling/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>

#include "collector/callpath/unwind.h"
#include "collector/lifecycle.h"
#include "collector/recorder/code_map.h"
#include "collector/recorder/cpu_time.h"
#include "collector/recorder/environment.h"
#include "collector/recorder/process_record.h"
#include "collector/recorder/selection.h"
#include "collector/recorder/system_file.h"
#include "collector/recorder/thread_log.h"
#include "collector/recorder/thread_registry.h"
#include "collector/sampling/fault_guard.h"
#include "collector/sampling/program_code.h"
#include "collector/sampling/rate.h"
#include "collector/sampling/started.h"
#include "collector/sampling/thread_waits.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace culprit::collector::sampling {

namespace {

constexpr int kSignal = SIGURG;
constexpr int kMaxOverrun = 0xffff;

char g_marker;  ///< its address tells our timers' signals from others

constinit thread_local timer_t t_timer __attribute__((tls_model("initial-exec"))) = nullptr;
constinit thread_local bool t_has_timer __attribute__((tls_model("initial-exec"))) = false;
constinit thread_local Rate t_rate __attribute__((tls_model("initial-exec"))) = {};
constinit thread_local bool t_was_slowed __attribute__((tls_model("initial-exec"))) = false;
/// What the kernel takes to bring a signal to a handler and back, measured once.
std::atomic<uint64_t> g_delivery_ns{0};
std::atomic<pid_t> g_process{0};  ///< in which start() was called; 0: not yet
/// CPU time, in nanoseconds, since this thread refreshed the clock pair.
constinit thread_local uint64_t t_since_refresh __attribute__((tls_model("initial-exec"))) = 0;

uintptr_t interrupted_pc(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
#error "collector/sampling: say where this processor keeps the interrupted pc"
#endif
}

struct Interruption {
  uintptr_t pc;
  Frames& frames;
};

void unwind(void* argument) {
  auto& interruption = *static_cast<Interruption*>(argument);
  unwind_interrupted(interruption.pc, interruption.frames);
}

void take_sample(ThreadLog& log, uintptr_t pc, uint16_t overrun) {
  const uint64_t time = now();
  auto& impl = Recorder::impl(log);
  if (!impl.may_append_from_signal()) return;
  const Busy busy(impl.busy);
  Interruption interruption{pc, impl.frames};
  // A path that ends in a fault would hang under the wrong root: none is better.
  if (!run_guarded(unwind, &interruption)) interruption.frames.count = 0;
  impl.append_sample(time, overrun, interruption.frames);
  tally(&trace::RawProcess::unwind_ticks, now() - time);
}

/// This thread's CPU time: what it waits for a core while it handles a signal is not the sample's.
uint64_t cpu_nanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// After each second of CPU time: a program that is killed has then told how fast its clock is.
void refresh_clock_now_and_then(uint64_t expirations) {
  // The clock more often: it also says how long a process that waits has lived.
  constexpr uint64_t kClock = 100'000'000, kCoreUse = 1'000'000'000;
  const uint64_t before = t_since_refresh;
  t_since_refresh += expirations * t_rate.period_ns();
  if (before / kClock == t_since_refresh / kClock) return;
  refresh_clock_pair();
  if (t_since_refresh < kCoreUse) return;
  t_since_refresh = 0;
  ThreadLog* log = lifecycle::watched_log_in_signal();
  if (log != nullptr && Recorder::impl(*log).may_append_from_signal()) put_cpu_time(*log);
}

bool set_timer(uint64_t period_ns) {
  itimerspec period = {};
  period.it_interval.tv_sec = static_cast<time_t>(period_ns / 1'000'000'000);
  period.it_interval.tv_nsec = static_cast<long>(period_ns % 1'000'000'000);
  period.it_value = period.it_interval;
  return timer_settime(t_timer, 0, &period, nullptr) == 0;
}

void note_new_rate() {
  set_timer(t_rate.period_ns());
  if (!t_was_slowed) tally(&trace::RawProcess::slowed_samplers);
  t_was_slowed = true;
  if (ThreadLog* log = lifecycle::watched_log_in_signal(); log != nullptr) {
    if (!Recorder::impl(*log).may_append_from_signal()) return;
    log->put(now(), raw::sampling_period{.period = t_rate.period_ns()});
  }
}

void handle(const siginfo_t& info, const void* context) {
  const int overrun = std::clamp(info.si_overrun, 0, kMaxOverrun);
  refresh_clock_now_and_then(1 + static_cast<uint64_t>(overrun));
  ThreadLog* log = lifecycle::watched_log_in_signal();
  if (log == nullptr || log->waiting > 0) return;
  const uintptr_t pc = interrupted_pc(context);
  if (!code_map::is_there() || code_map::owner_of(pc) == code_map::Owner::runtime) return;
  take_sample(*log, pc, static_cast<uint16_t>(overrun));
}

/// A thread that may be cancelled at any moment is not, while it is in here.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

void on_signal(int, siginfo_t* info, void* context) {
  if (!is_our_signal(*info)) return;
  const KeepErrno keep;
  if (!lifecycle::is_watching() || selection::is_off()) return;
  const NoCancellation stays;
  const uint64_t begin = cpu_nanoseconds();
  handle(*info, context);
  const uint64_t cost = cpu_nanoseconds() - begin + g_delivery_ns.load(std::memory_order_relaxed);
  if (t_rate.account(cost, 1 + static_cast<uint64_t>(std::max(info->si_overrun, 0)))) {
    note_new_rate();
  }
}

/// Ours already, or free to take. A program that sets its own handler later keeps it: then it gets
/// our signals, as it would get any timer's.
bool claim_signal() {
  struct sigaction current;
  if (sigaction(kSignal, nullptr, &current) != 0) return false;
  if ((current.sa_flags & SA_SIGINFO) != 0) return current.sa_sigaction == on_signal;
  if (current.sa_handler != SIG_DFL && current.sa_handler != SIG_IGN) return false;
  struct sigaction ours = {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  // A handler of the program that leaves by siglongjmp must not take us along half way.
  sigfillset(&ours.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT}) {
    sigdelset(&ours.sa_mask, fault);
  }
  return sigaction(kSignal, &ours, nullptr) == 0;
}

/// The best of a few signals that this thread sends to itself, which the handler ignores.
/// Not by a thread that blocks it: there it would wait for somebody to fetch it.
void measure_delivery() {
  constexpr int kTries = 5;
  sigset_t blocked;
  if (pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || sigismember(&blocked, kSignal) != 0) {
    return;
  }
  const long process = getpid();
  const long thread = syscall(SYS_gettid);
  uint64_t best = ~uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const uint64_t begin = cpu_nanoseconds();
    syscall(SYS_tgkill, process, thread, kSignal);
    best = std::min(best, cpu_nanoseconds() - begin);
  }
  g_delivery_ns.store(best, std::memory_order_relaxed);
}

bool start_timer(unsigned hz) {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event.sigev_value.sival_ptr = &g_marker;
  event.sigev_notify_thread_id = static_cast<int>(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &t_timer) != 0) return false;
  t_has_timer = true;
  t_rate.begin(1'000'000'000 / hz);
  if (g_delivery_ns.load(std::memory_order_relaxed) == 0) measure_delivery();
  return set_timer(t_rate.period_ns());
}

/// Whether it now has one.
bool give_timer() {
  return t_has_timer || (claim_signal() && start_timer(environment().sampling));
}

void on_thread_begun() {
  say_made();
  const unsigned hz = environment().sampling;
  const bool sampled = give_timer();
  if (trace::RawProcess* record = process(); record != nullptr && sampled) {
    std::atomic_ref<uint32_t>(record->sampling_hz).store(hz, std::memory_order_relaxed);
  }
}

constinit thread_local sigset_t t_mask_before_fork __attribute__((tls_model("initial-exec"))) = {};

// A fork that a signal interrupts starts again; that of a large process could do so for ever.
void before_fork() {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, kSignal);
  pthread_sigmask(SIG_BLOCK, &ours, &t_mask_before_fork);
}

void after_fork() {
  pthread_sigmask(SIG_SETMASK, &t_mask_before_fork, nullptr);
}

/// Children inherit no timers.
void after_fork_in_child() {
  t_has_timer = false;
  g_process.store(getpid(), std::memory_order_release);
  if (lifecycle::is_watching() && registry::is_own_thread()) give_timer();
  after_fork();
}

bool is_blocked() {
  sigset_t blocked;
  return pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || sigismember(&blocked, kSignal) != 0;
}

/// Programs that may yet turn out to be worth recording: they have a runtime that we observe, or
/// are part of a job that somebody launched.
bool begins_early() {
  return environment().launcher_rank >= 0 || has_observed_runtime();
}

void on_thread_ended() {
  if (t_has_timer) timer_delete(t_timer);
  t_has_timer = false;
}

}  // namespace

bool is_our_signal(const siginfo_t& info) {
  return info.si_signo == kSignal && info.si_code == SI_TIMER &&
         info.si_value.sival_ptr == &g_marker;
}

void start() {
  if (environment().sampling == 0 || !unwinder_is_signal_safe()) return;
  registry::add_hook({on_thread_begun, on_thread_ended, true});
  pthread_atfork(before_fork, after_fork, after_fork_in_child);
  g_process.store(getpid(), std::memory_order_release);
  if (syscall(SYS_gettid) != getpid()) return;
  if (begins_early()) lifecycle::begin_early();
  begin_own_thread(0);
}

bool has_started() {
  return g_process.load(std::memory_order_acquire) != 0;
}

bool is_same_process() {
  return g_process.load(std::memory_order_acquire) == getpid();
}

void begin_own_thread(uintptr_t function) {
  if (!is_same_process()) return;
  registry::begin_own_thread(function);
  if (registry::is_own_thread() && lifecycle::is_watching() && !is_blocked()) give_timer();
}

}  // namespace culprit::collector::sampling
