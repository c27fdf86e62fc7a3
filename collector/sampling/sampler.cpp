// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One timer per thread on its CPU time: threads that sleep are not woken. The kernel checks such
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

#include "collector/code_map.h"
#include "collector/environment.h"
#include "collector/lifecycle.h"
#include "collector/process_record.h"
#include "collector/sampling/fault_guard.h"
#include "collector/sampling/rate.h"
#include "collector/selection.h"
#include "collector/system_file.h"
#include "collector/thread_log.h"
#include "collector/thread_registry.h"

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
  t_since_refresh += expirations * t_rate.period_ns();
  if (t_since_refresh < 1'000'000'000) return;
  t_since_refresh = 0;
  refresh_clock_pair();
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
  if (ThreadLog* log = registry::existing_log(); log != nullptr) {
    if (!Recorder::impl(*log).may_append_from_signal()) return;
    log->put(RawKind::sampling_period, now(), 0, 0, t_rate.period_ns());
  }
}

void handle(const siginfo_t& info, const void* context) {
  const int overrun = std::clamp(info.si_overrun, 0, kMaxOverrun);
  refresh_clock_now_and_then(1 + static_cast<uint64_t>(overrun));
  ThreadLog* log = registry::existing_log();
  if (log == nullptr || log->waiting > 0) return;
  const uintptr_t pc = interrupted_pc(context);
  if (code_map::owner_of(pc) == code_map::Owner::runtime) return;
  take_sample(*log, pc, static_cast<uint16_t>(overrun));
}

void on_signal(int, siginfo_t* info, void* context) {
  if (!is_our_signal(*info)) return;
  const KeepErrno keep;
  if (!lifecycle::is_active() || selection::is_off()) return;
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

void on_thread_begun() {
  const unsigned hz = environment().sampling_hz;
  const bool sampled = claim_signal() && start_timer(hz);
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
  if (environment().sampling_hz == 0 || !unwinder_is_signal_safe()) return;
  registry::add_hook({on_thread_begun, on_thread_ended});
  pthread_atfork(before_fork, after_fork, after_fork);
}

}  // namespace culprit::collector::sampling
