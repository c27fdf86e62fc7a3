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
#include <initializer_list>

#include "collector/code_map.h"
#include "collector/environment.h"
#include "collector/lifecycle.h"
#include "collector/process_record.h"
#include "collector/sampling/fault_guard.h"
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
/// Expirations since this thread refreshed the clock pair.
constinit thread_local unsigned t_expirations __attribute__((tls_model("initial-exec"))) = 0;

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

/// After each second of CPU time: a program that is killed has then told how fast its clock is.
void refresh_clock_now_and_then(int overrun) {
  t_expirations += 1 + static_cast<unsigned>(overrun);
  if (t_expirations < environment().sampling_hz) return;
  t_expirations = 0;
  refresh_clock_pair();
}

void on_signal(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &g_marker) return;
  const KeepErrno keep;
  if (!lifecycle::is_active()) return;
  const int overrun = std::clamp(info->si_overrun, 0, kMaxOverrun);
  refresh_clock_now_and_then(overrun);
  ThreadLog* log = registry::existing_log();
  if (log == nullptr || log->waiting > 0) return;
  const uintptr_t pc = interrupted_pc(context);
  if (code_map::owner_of(pc) == code_map::Owner::runtime) return;
  take_sample(*log, pc, static_cast<uint16_t>(overrun));
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

bool start_timer(unsigned hz) {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event.sigev_value.sival_ptr = &g_marker;
  event.sigev_notify_thread_id = static_cast<int>(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &t_timer) != 0) return false;
  itimerspec period = {};
  period.it_interval.tv_sec = hz == 1 ? 1 : 0;
  period.it_interval.tv_nsec = hz == 1 ? 0 : 1'000'000'000l / hz;
  period.it_value = period.it_interval;
  t_has_timer = true;
  return timer_settime(t_timer, 0, &period, nullptr) == 0;
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

void start() {
  if (environment().sampling_hz == 0 || !unwinder_is_signal_safe()) return;
  registry::add_hook({on_thread_begun, on_thread_ended});
  pthread_atfork(before_fork, after_fork, after_fork);
}

}  // namespace culprit::collector::sampling
