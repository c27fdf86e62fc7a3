// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Our handlers are installed at the first use, which is after MPI_Init, where MPI libraries install
// theirs, and again whenever the program has replaced them. What was there before is called for
// faults outside the guard, or, if that was the system's default, put back for the fault to end the
// program as it would have. What its flags ask of the system (SA_RESETHAND, SA_NODEFER) is done on
// the system's behalf: handlers that rely on it would otherwise meet the same fault for ever.
#include "collector/sampling/fault_guard.h"

#include <setjmp.h>
#include <signal.h>

#include <atomic>

namespace culprit::collector::sampling {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS};
constexpr unsigned kSignalCount = 2;

struct sigaction g_previous[kSignalCount];
std::atomic<bool> g_spent[kSignalCount];  ///< the previous action was for once, and has been taken
std::atomic_flag g_installing = ATOMIC_FLAG_INIT;

constinit thread_local sigjmp_buf* t_return __attribute__((tls_model("initial-exec"))) = nullptr;

void end_program(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);  // if blocked here, it comes when this handler returns
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const unsigned which = signal == kSignals[0] ? 0 : 1;
  const struct sigaction& previous = g_previous[which];
  const bool has_handler = (previous.sa_flags & SA_SIGINFO) != 0 ||
                           (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);
  if (!has_handler) {
    // A signal that was sent can be ignored, a fault cannot.
    if (previous.sa_handler == SIG_DFL || info->si_code > 0) end_program(signal);
    return;
  }
  if ((previous.sa_flags & SA_RESETHAND) != 0 && g_spent[which].exchange(true)) {
    return end_program(signal);
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  sigjmp_buf* const back = t_return;
  if (back == nullptr) return pass_on(signal, info, context);
  t_return = nullptr;
  siglongjmp(*back, 1);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_fault;
}

/// False if a fault would not come to us: another thread is just installing.
bool install(unsigned which) {
  struct sigaction current;
  if (sigaction(kSignals[which], nullptr, &current) != 0) return false;
  if (is_ours(current)) return true;
  if (g_installing.test_and_set(std::memory_order_acquire)) return false;
  g_previous[which] = current;
  g_spent[which].store(false);
  struct sigaction ours = current;
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (current.sa_flags & SA_NODEFER);
  const bool done = sigaction(kSignals[which], &ours, nullptr) == 0;
  g_installing.clear(std::memory_order_release);
  return done;
}

}  // namespace

bool run_guarded(void (*body)(void*), void* argument) {
  for (unsigned i = 0; i < kSignalCount; ++i) {
    if (!install(i)) return false;
  }
  sigjmp_buf back;
  if (sigsetjmp(back, 1) != 0) return false;
  t_return = &back;
  body(argument);
  t_return = nullptr;
  return true;
}

}  // namespace culprit::collector::sampling
