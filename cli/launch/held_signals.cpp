// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A signal to the whole process group reaches culprit and the witness from the same sender at about
// the same time. Ordinary signals are not queued: two that come before one has been taken merge
// into one, in the witness as in the program. So one that the witness has had stands for all of its
// kind that reach culprit within kMoment. Real-time signals are queued and counted.
#include "cli/launch/held_signals.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace culprit::cli {
namespace {

/// The longest time until a signal to a group has reached its last process.
constexpr std::chrono::milliseconds kMoment{20};
/// How long the witness may be ahead of culprit.
constexpr std::chrono::milliseconds kAhead{250};

sigset_t all_signals() {
  sigset_t all;
  sigfillset(&all);
  return all;
}

std::optional<siginfo_t> take(const timespec& patience) {
  const sigset_t all = all_signals();
  siginfo_t signal = {};
  if (sigtimedwait(&all, &signal, &patience) <= 0) return std::nullopt;
  return signal;
}

bool counts(const siginfo_t& signal) {
  return signal.si_signo >= SIGRTMIN;
}

bool are_alike(const siginfo_t& a, const siginfo_t& b) {
  return a.si_signo == b.si_signo && a.si_code == b.si_code && a.si_pid == b.si_pid &&
         (!counts(a) || a.si_value.sival_ptr == b.si_value.sival_ptr);
}

/// Returns whether the kernel made a signal, as most signals of a terminal to a whole group.
bool is_kernels(const siginfo_t& signal) {
  return signal.si_code > 0;
}

timespec time_until(HeldSignals::Clock::time_point end) {
  using std::chrono::nanoseconds;
  const auto left = std::max(
      std::chrono::duration_cast<nanoseconds>(end - HeldSignals::Clock::now()), nanoseconds(0));
  return {static_cast<time_t>(left.count() / 1'000'000'000),
          static_cast<long>(left.count() % 1'000'000'000)};
}

}  // namespace

HeldSignals::HeldSignals() {
  const sigset_t all = all_signals();
  sigprocmask(SIG_BLOCK, &all, &mask_);
  sigemptyset(&ignored_);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      sigaddset(&ignored_, signal);
    }
  }
  // Where it is ignored, children leave no status.
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &usual, &on_child_);
  witness_.emplace();
}

HeldSignals::~HeldSignals() {
  witness_.reset();
  while (take({})) {
  }
  sigaction(SIGCHLD, &on_child_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

std::vector<siginfo_t> HeldSignals::next(Clock::time_point until) {
  std::vector<siginfo_t> got;
  for (auto signal = take(time_until(until)); signal; signal = take({})) got.push_back(*signal);
  return got;
}

bool HeldSignals::ask_witness() {
  const auto said = witness_->ask();
  const auto now = Clock::now();
  std::erase_if(testimony_, [now](const Testified& each) {
    return now - each.time > (each.used ? kMoment : kAhead);
  });
  if (!said) return false;
  for (const siginfo_t& signal : *said) testimony_.push_back({signal, now});
  return true;
}

bool HeldSignals::has_been_with_group(const siginfo_t& signal) {
  const auto of_it = [&](bool used) {
    return std::find_if(testimony_.begin(), testimony_.end(), [&](const Testified& each) {
      return each.used == used && are_alike(each.signal, signal);
    });
  };
  if (const auto fresh = of_it(false); fresh != testimony_.end()) {
    fresh->used = true;
    return true;
  }
  return !counts(signal) && of_it(true) != testimony_.end();
}

std::vector<siginfo_t> HeldSignals::for_culprit_alone(std::vector<siginfo_t> got) {
  const auto drop_what_all_had = [&] {
    std::erase_if(got, [&](const siginfo_t& signal) { return has_been_with_group(signal); });
  };
  if (got.empty()) return got;
  bool known = ask_witness();
  drop_what_all_had();
  if (known && !got.empty()) {
    std::this_thread::sleep_for(kMoment);
    known = ask_witness();
    drop_what_all_had();
  }
  if (!known) std::erase_if(got, is_kernels);
  return got;
}

bool HeldSignals::was_ignored(int signal) const {
  return sigismember(&ignored_, signal) == 1;
}

void HeldSignals::stop() const {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  kill(getpid(), SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // here it comes
  sigprocmask(SIG_BLOCK, &stop, nullptr);
}

void HeldSignals::release_in_child() const {
  sigaction(SIGCHLD, &on_child_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

}  // namespace culprit::cli
