// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One timer per thread on its CPU time (sample_timers.h). The program's own threads have it from
// their beginning (the first thread from when this library is loaded, if the program is likely to
// be recorded), all others from their first event on. The kernel checks such timers at its own
// ticks, so at high rates one signal stands for several periods (the record's flags). The handler
// takes no sample while the thread is inside the collector, waits (the events around the wait
// describe it better, unless MPI has called the program back), is in the dynamic loader or the
// unwinder, or runs on a stack without room.
#include "collector/sampling/sampler.h"
#include "collector/sampling/no_cancellation.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "collector/callpath/registered_frames.h"
#include "collector/callpath/unwind.h"
#include "collector/process/code_map.h"
#include "collector/process/environment.h"
#include "collector/process/fault_guard.h"
#include "collector/process/lifecycle.h"
#include "collector/process/process_record.h"
#include "collector/process/selection.h"
#include "collector/process/system_file.h"
#include "collector/recorder/core_use.h"
#include "collector/recorder/thread_log.h"
#include "collector/recorder/thread_registry.h"
#include "collector/sampling/kernel_use.h"
#include "collector/sampling/processes/forks.h"
#include "collector/sampling/program_code.h"
#include "collector/sampling/rate.h"
#include "collector/sampling/signals/sample_signal.h"
#include "collector/sampling/signals/sample_timers.h"
#include "collector/sampling/signals/signal_masks.h"
#include "collector/sampling/signals/signal_turn.h"
#include "collector/sampling/spin_watch.h"
#include "collector/sampling/started.h"
#include "collector/sampling/thread_waits.h"
#include "collector/sampling/watch/watcher.h"

namespace culprit::collector::sampling {

namespace {

constexpr uint64_t kMaxMissed = 0xffff;
/// Stack that a sample may need, estimated generously.
constexpr size_t kLeastStack = size_t{16} << 10;

/// This thread is to be sampled as soon as it no longer blocks the signal.
constinit thread_local bool t_is_blocked __attribute__((tls_model("initial-exec"))) = false;
constinit thread_local Rate t_rate __attribute__((tls_model("initial-exec"))) = {};
constinit thread_local bool t_was_slowed __attribute__((tls_model("initial-exec"))) = false;
/// Time that the kernel takes to bring a signal to a handler and back, measured once.
std::atomic<uint64_t> g_delivery_ns{0};
std::atomic<uint64_t> g_inside{0};  ///< threads that are inside a sample
std::atomic<pid_t> g_process{0};    ///< the process in which start() was called; 0: not yet
/// Mark in a page that the system empties in children; nullptr: it cannot (before Linux 4.14).
std::atomic<std::atomic<bool>*> g_memory_mark{nullptr};
std::atomic<bool> g_unwinds_in_unwinder{false};
/// When this thread last recorded its core use, in seconds.
constinit thread_local time_t t_told_core_use __attribute__((tls_model("initial-exec"))) = 0;
/// CPU time, in nanoseconds, that the samples of this thread stand for.
constinit thread_local uint64_t t_sampled_ns __attribute__((tls_model("initial-exec"))) = 0;

uintptr_t interrupted_pc(const ucontext_t& context) {
  const auto& machine = context.uc_mcontext;
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
  python::Stack* python;  ///< nullptr: the process has none
  volatile bool unwound = false;
};

bool is_program_code(uintptr_t address) {
  return code_map::owner_of(address) == code_map::Owner::program;
}

void unwind(void* argument) {
  auto& interruption = *static_cast<Interruption*>(argument);
  unwind_interrupted(interruption.pc, interruption.frames, is_program_code);
  interruption.unwound = true;
  if (interruption.python != nullptr) python::read(*interruption.python);
}

/// False if there is none: the thread waits, and is not in a function of the program's that it was
/// given to call back.
bool take_sample(ThreadLog& log, uintptr_t pc, uint16_t overrun) {
  const uint64_t time = now();
  auto& impl = Recorder::impl(log);
  if (!impl.may_append_from_signal()) return true;
  const Busy busy(impl.busy);
  Interruption interruption{pc, impl.frames, impl.python_stack()};
  const bool sound = run_guarded(unwind, &interruption);
  // A path that ends in a fault would hang under the wrong root: no path is better.
  if (!interruption.unwound) interruption.frames.count = 0;
  if (log.waiting > 0 && !is_called_back(interruption.frames)) return false;
  impl.append_sample(time, overrun, interruption.frames, sound ? interruption.python : nullptr);
  tally(&trace::RawProcess::unwind_ticks, now() - time);
  return true;
}

/// Refreshes the clock pair now and then: the record of a killed process then has the frequency of
/// its clock, and shows how long a process that waits has lived.
void refresh_clock_now_and_then(uint64_t expirations) {
  constexpr uint64_t kBetween_ns = 100'000'000;
  const uint64_t before = t_sampled_ns;
  t_sampled_ns += expirations * t_rate.period_ns();
  if (before / kBetween_ns != t_sampled_ns / kBetween_ns) refresh_clock_pair();
}

/// Records the core use of this thread and of all threads of the process. The interval is one of
/// wall-clock time: a thread that hardly gets a core has little CPU time.
void tell_core_use(ThreadLog& log) {
  constexpr time_t kBetween_s = 1;
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  if (time.tv_sec - t_told_core_use >= kBetween_s) {
    t_told_core_use = time.tv_sec;
    put_cpu_time(log);
  }
  if (lifecycle::is_active() && core_use_is_old()) refresh_core_use(&log);
}

void note_new_rate() {
  timers::set_period(t_rate.period_ns());
  if (!t_was_slowed) tally(&trace::RawProcess::slowed_samplers);
  t_was_slowed = true;
  if (ThreadLog* log = lifecycle::watched_log_in_signal(); log != nullptr) {
    if (!Recorder::impl(*log).may_append_from_signal()) return;
    log->put(now(), raw::sampling_period{.period = t_rate.period_ns()});
  }
}

/// The program's handlers may run on a stack of a few kilobytes, and ours on top of them.
bool has_room(const ucontext_t& context) {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto begin = reinterpret_cast<uintptr_t>(context.uc_stack.ss_sp);
  const bool is_inside = here - begin < context.uc_stack.ss_size;
  return !is_inside || here - begin >= kLeastStack;
}

/// Whether a handler that has interrupted the thread there may unwind.
bool may_unwind_at(uintptr_t pc) {
  if (registered_frames::may_be_locked()) return false;
  const code_map::Owner owner = code_map::owner_of(pc);
  if (owner == code_map::Owner::unwinder) {
    return g_unwinds_in_unwinder.load(std::memory_order_relaxed) && !registered_frames::are_there();
  }
  return owner != code_map::Owner::runtime;
}

void handle(uint64_t missed, const ucontext_t& context) {
  refresh_clock_now_and_then(1 + missed);
  ThreadLog* log = lifecycle::watched_log_in_signal();
  if (log == nullptr) return;
  auto& impl = Recorder::impl(*log);
  if (impl.may_append_from_signal()) tell_core_use(*log);
  const uintptr_t pc = interrupted_pc(context);
  const bool waits = log->waiting > 0;
  const bool is_sampled =
      code_map::is_there() && may_unwind_at(pc) && !(waits && is_helpers_code(pc)) &&
      take_sample(*log, pc, static_cast<uint16_t>(std::min(missed, kMaxMissed)));
  if (!impl.may_append_from_signal()) return;
  tell_kernel_use(*log, is_sampled ? pc : 0);
  if (is_sampled && !waits) watch_spinning(*log, now(), context);
}

void mark_memory() {
  void* const page = map_memory(sizeof(std::atomic<bool>));
  if (page == nullptr || madvise(page, sizeof(std::atomic<bool>), MADV_WIPEONFORK) != 0) return;
  auto* const mark = new (page) std::atomic<bool>(true);
  g_memory_mark.store(mark, std::memory_order_release);
}

bool is_blocked(int signal) {
  sigset_t blocked;
  return pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || sigismember(&blocked, signal) != 0;
}

/// Measures the delivery: the fastest of a few signals that this thread sends to itself. As it has
/// no timer yet, they are no samples.
void measure_delivery(int signal) {
  constexpr int kTries = 5;
  uint64_t best = ~uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const uint64_t begin = timers::cpu_nanoseconds();
    timers::send_to_self(signal);
    best = std::min(best, timers::cpu_nanoseconds() - begin);
  }
  g_delivery_ns.store(best, std::memory_order_relaxed);
}

/// Gives this thread a timer if it has none; whether it now has one.
bool give_timer() {
  if (timers::has_one()) return true;
  check_sample_signal();
  int signal = 0;
  {
    const SignalTurn turn;
    signal = claim_sample_signal();
  }
  t_is_blocked = signal != 0 && is_blocked(signal);
  if (signal == 0 || t_is_blocked) return false;
  constexpr uint64_t kPartsOfHalf = 200;  // half of a hundredth
  t_rate.begin(1'000'000'000 / environment().sampling, kPartsOfHalf / environment().overhead);
  if (g_delivery_ns.load(std::memory_order_relaxed) == 0) measure_delivery(signal);
  begin_kernel_use();
  const SignalTurn turn;
  return sample_signal() != 0 && timers::begin(sample_signal(), t_rate.period_ns());
}

void on_thread_begun() {
  say_made();
  const unsigned hz = environment().sampling;
  const bool sampled = give_timer();
  if (trace::RawProcess* record = process(); record != nullptr && sampled) {
    std::atomic_ref<uint32_t>(record->sampling_hz).store(hz, std::memory_order_relaxed);
    const auto signal = static_cast<uint64_t>(sample_signal());
    std::atomic_ref<uint64_t>(record->sampling_signal).store(signal, std::memory_order_relaxed);
  }
}

void on_checkpoint() {
  check_sample_signal();
  watcher::begin();
}

constinit thread_local uint64_t t_mask_before_fork __attribute__((tls_model("initial-exec"))) = 0;

// A fork that a signal interrupts starts again; for a large process this could repeat for ever.
void before_fork() {
  if (!has_started()) return;
  note_forking();
  const int signal = sample_signal();
  const uint64_t ours = signal != 0 ? uint64_t{1} << (signal - 1) : 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &ours, &t_mask_before_fork, sizeof ours);
}

void unblock_after_fork() {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &t_mask_before_fork, nullptr, sizeof t_mask_before_fork);
}

void after_fork() {
  if (!has_started()) return;
  unblock_after_fork();
  say_forked();
}

/// Children inherit no timers.
void after_fork_in_child() {
  if (!has_started()) return;
  forget_sample_signal();
  forget_guards();
  watcher::forget();
  if (auto* const mark = g_memory_mark.load(std::memory_order_relaxed)) mark->store(true);
  g_inside.store(0);
  g_process.store(getpid(), std::memory_order_release);
  unblock_after_fork();
  note_forked();
  if (lifecycle::is_watching() && registry::is_own_thread()) give_timer();
}

/// Whether the program may yet turn out to be worth recording: it has a runtime that we observe, or
/// is part of a job that a launcher started.
bool begins_early() {
  return environment().launcher_rank >= 0 || has_observed_runtime();
}

void on_thread_ended() {
  t_is_blocked = false;
  if (!has_started() || !timers::has_one()) return;
  const SignalTurn turn;
  timers::end();
}

/// Notes in the process's record that a thread is inside a sample: a process that dies then may
/// have died of it.
class Begun {
 public:
  Begun() : record_(process()) { add(1); }
  ~Begun() { add(~uint64_t{0}); }
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;

 private:
  void add(uint64_t count) const {
    g_inside.fetch_add(count);
    if (record_ == nullptr) return;
    std::atomic_ref<uint64_t>(record_->samples_begun).fetch_add(count, std::memory_order_relaxed);
  }
  trace::RawProcess* record_;
};

void sample(const ucontext_t& context) {
  const uint64_t begin = timers::cpu_nanoseconds();
  const uint64_t missed = timers::periods_missed(begin);
  if (!lifecycle::is_watching() || selection::is_off() || !has_room(context)) return;
  const NoCancellation stays;
  handle(missed, context);
  const uint64_t cost =
      timers::cpu_nanoseconds() - begin + g_delivery_ns.load(std::memory_order_relaxed);
  if (t_rate.account(cost, 1 + missed)) note_new_rate();
}

}  // namespace

void on_sample(const void* context) {
  if (!timers::has_one()) return;
  {
    const Begun begun;
    sample(*static_cast<const ucontext_t*>(context));
  }
  timers::wind_up();
}

void on_unblocked() {
  if (t_is_blocked) give_timer();
  timers::go_on();
}

void start() {
  python::find();
  if (environment().sampling == 0 || !unwinder_is_signal_safe()) return;
  find_object_finder();
  registered_frames::find_unwinder();
  g_unwinds_in_unwinder.store(unwinder_is_reentrant(), std::memory_order_relaxed);
  registry::add_hook({on_thread_begun, on_thread_ended, true, on_checkpoint, watcher::end});
  pthread_atfork(before_fork, after_fork, after_fork_in_child);
  mark_memory();
  g_process.store(getpid(), std::memory_order_release);
  if (syscall(SYS_gettid) != getpid()) return;
  if (begins_early()) lifecycle::begin_early();
  begin_own_thread(0);
}

void watch_early() {
  if (!has_started() || !is_same_process() || !lifecycle::may_begin_early()) return;
  lifecycle::begin_early();
  if (registry::is_own_thread()) give_timer();
}

bool has_started() {
  return g_process.load(std::memory_order_acquire) != 0;
}

bool is_same_process() {
  const pid_t process = g_process.load(std::memory_order_acquire);
  return process != 0 && process == getpid();
}

bool is_same_memory() {
  const std::atomic<bool>* const mark = g_memory_mark.load(std::memory_order_acquire);
  return mark != nullptr ? mark->load(std::memory_order_relaxed) : is_same_process();
}

void stop_watching() {
  watcher::end();
  constexpr int kPatience = 10'000;
  g_process.store(0, std::memory_order_release);
  for (int tries = 0; g_inside.load() != 0 && tries < kPatience; ++tries) sched_yield();
}

void begin_own_thread(uintptr_t function) {
  if (!is_same_process()) return;
  registry::begin_own_thread(function);
  if (registry::is_own_thread() && lifecycle::is_watching()) give_timer();
}

}  // namespace culprit::collector::sampling
