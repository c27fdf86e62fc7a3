// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Timers are made by system calls: the library's functions allocate in some versions, and cannot
// change timers of other threads, which have to move when the program takes the signal. Threads
// beyond the slots have no samples. Times are absolute, on each thread's clock, so that the moments
// at which the kernel looks (its own ticks) do not add up to a slower rate.
#include "collector/sampling/signals/sample_timers.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace culprit::collector::sampling::timers {

namespace {

constexpr int kNoTimer = -1;

struct Slot {
  std::atomic<pid_t> thread{0};
  std::atomic<int> timer{kNoTimer};  ///< the kernel's number of the timer
  std::atomic<uint64_t> due_ns{0};   ///< CPU time of the thread at which it expires
  std::atomic<uint64_t> period_ns{0};
  std::atomic<bool> paused{false};
};

constexpr unsigned kSlots = 8192;
constinit Slot g_slots[kSlots];
std::atomic<unsigned> g_used{0};  ///< slots that were ever taken

constinit thread_local Slot* t_slot __attribute__((tls_model("initial-exec"))) = nullptr;

char g_marker;  ///< its address distinguishes our timers' signals from others

/// The kernel's number for the clock of a thread's CPU time.
clockid_t clock_of(pid_t thread) {
  constexpr clockid_t kCpuTime = 2, kOneThread = 4;
  return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3) | kCpuTime | kOneThread;
}

int create(pid_t thread, int signal) {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = &g_marker;
  event.sigev_notify_thread_id = thread;
  int timer = kNoTimer;
  const long result = syscall(SYS_timer_create, clock_of(thread), &event, &timer);
  return result == 0 ? timer : kNoTimer;
}

/// Sets the timer; `due_ns` 0: it does not expire.
bool set(int timer, uint64_t due_ns) {
  itimerspec when = {};
  when.it_value.tv_sec = static_cast<time_t>(due_ns / 1'000'000'000);
  when.it_value.tv_nsec = static_cast<long>(due_ns % 1'000'000'000);
  return syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &when, nullptr) == 0;
}

void remove(Slot& slot) {
  const int timer = slot.timer.exchange(kNoTimer);
  if (timer != kNoTimer) syscall(SYS_timer_delete, timer);
}

void wind_up(const Slot& slot) {
  const int timer = slot.timer.load();
  if (timer != kNoTimer && !slot.paused.load()) set(timer, slot.due_ns.load());
}

Slot* take_slot(pid_t thread) {
  for (unsigned i = 0; i < kSlots; ++i) {
    Slot& slot = g_slots[i];
    if (slot.thread.load(std::memory_order_relaxed) != 0) continue;
    slot.paused.store(false);
    slot.thread.store(thread);
    if (i >= g_used.load()) g_used.store(i + 1);
    return &slot;
  }
  return nullptr;
}

template <class Visit>
void for_each_taken(const Visit& visit) {
  for (unsigned i = 0; i < g_used.load(); ++i) {
    if (g_slots[i].thread.load() != 0) visit(g_slots[i]);
  }
}

void give_back(Slot& slot) {
  remove(slot);
  slot.thread.store(0);
}

}  // namespace

bool is_ours(const siginfo_t& info) {
  return info.si_code == SI_TIMER && info.si_value.sival_ptr == &g_marker;
}

void send_to_self(int signal) {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = SI_TIMER;
  info.si_value.sival_ptr = &g_marker;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, &info);
}

uint64_t cpu_nanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

bool begin(int signal, uint64_t period_ns) {
  if (t_slot != nullptr) return true;
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  Slot* const slot = take_slot(thread);
  if (slot == nullptr) return false;
  slot->timer.store(create(thread, signal));
  slot->period_ns.store(period_ns);
  slot->due_ns.store(cpu_nanoseconds() + period_ns);
  if (slot->timer.load() == kNoTimer || !set(slot->timer.load(), slot->due_ns.load())) {
    give_back(*slot);
    return false;
  }
  t_slot = slot;
  return true;
}

void end() {
  Slot* const slot = t_slot;
  t_slot = nullptr;
  if (slot != nullptr) give_back(*slot);
}

bool has_one() {
  return t_slot != nullptr;
}

void pause() {
  if (t_slot == nullptr || t_slot->paused.exchange(true)) return;
  if (const int timer = t_slot->timer.load(); timer != kNoTimer) set(timer, 0);
}

void go_on() {
  if (t_slot == nullptr || !t_slot->paused.exchange(false)) return;
  wind_up(*t_slot);
}

void set_period(uint64_t period_ns) {
  if (t_slot != nullptr) t_slot->period_ns.store(period_ns, std::memory_order_relaxed);
}

uint64_t periods_missed(uint64_t cpu_ns) {
  if (t_slot == nullptr) return 0;
  const uint64_t due = t_slot->due_ns.load(std::memory_order_relaxed);
  const uint64_t period = t_slot->period_ns.load(std::memory_order_relaxed);
  const uint64_t missed = cpu_ns > due ? (cpu_ns - due) / period : 0;
  t_slot->due_ns.store(due + (missed + 1) * period, std::memory_order_relaxed);
  return missed;
}

void wind_up() {
  if (t_slot != nullptr) wind_up(*t_slot);
}

void skip() {
  if (t_slot == nullptr) return;
  periods_missed(cpu_nanoseconds());
  wind_up();
}

void move_all(int signal) {
  for_each_taken([signal](Slot& slot) {
    remove(slot);
    if (signal == 0) return;
    slot.timer.store(create(slot.thread.load(), signal));
    wind_up(slot);
  });
}

void forget_all() {
  for_each_taken([](Slot& slot) {
    slot.timer.store(kNoTimer);
    slot.thread.store(0);
  });
  t_slot = nullptr;
}

}  // namespace culprit::collector::sampling::timers
