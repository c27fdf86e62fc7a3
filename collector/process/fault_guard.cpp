// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Our handlers are installed only while some thread runs guarded code: the program finds its own
// where it looks, and libraries that pass a fault on to the previous handler do not pass it to us.
// A fault of another thread meanwhile goes to the previous handler, or, if that was the system's
// default, ends the program as it would have. The effect of the handler's flags (SA_RESETHAND,
// SA_NODEFER) is reproduced here: handlers that rely on it would otherwise meet the same fault for
// ever.
#include "collector/process/fault_guard.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>

#include <atomic>

#include "collector/process/next.h"

namespace culprit::collector {

namespace {

constinit Next<int(int, const struct sigaction*, struct sigaction*)> g_sigaction("sigaction");

/// The system's own function: the program's later calls arrive at set_guarded_action().
int set(int signal, const struct sigaction* action, struct sigaction* previous) {
  auto* const next = g_sigaction.get();
  return next != nullptr ? next(signal, action, previous) : -1;
}

constexpr int kSignals[] = {SIGSEGV, SIGBUS};
constexpr unsigned kSignalCount = 2;

struct sigaction g_previous[kSignalCount];
std::atomic<bool> g_spent[kSignalCount];  ///< the previous action was for one signal, and has been
                                          ///< taken

constinit thread_local sigjmp_buf* t_return __attribute__((tls_model("initial-exec"))) = nullptr;

void end_program(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  set(signal, &action, nullptr);
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

/// The action that the program would find.
struct sigaction programs(unsigned which) {
  struct sigaction action = g_previous[which];
  if (g_spent[which].load()) action.sa_handler = SIG_DFL, action.sa_flags &= ~SA_SIGINFO;
  return action;
}

bool install(unsigned which) {
  struct sigaction current;
  if (set(kSignals[which], nullptr, &current) != 0) return false;
  if (is_ours(current)) return true;
  g_previous[which] = current;
  g_spent[which].store(false);
  struct sigaction ours = current;
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (current.sa_flags & (SA_NODEFER | SA_RESTART));
  return set(kSignals[which], &ours, nullptr) == 0;
}

/// Removes our handler, unless the program has installed another one meanwhile.
void remove(unsigned which) {
  struct sigaction current;
  if (set(kSignals[which], nullptr, &current) != 0 || !is_ours(current)) return;
  const struct sigaction previous = programs(which);
  set(kSignals[which], &previous, nullptr);
}

/// A lock held for a few system calls. A thread that cannot get it soon goes on without: no handler
/// may wait long.
class Turn {
 public:
  Turn() {
    for (int tries = 0; tries < 1000 && !has_; ++tries) {
      has_ = !g_taken.test_and_set(std::memory_order_acquire);
      if (!has_) sched_yield();
    }
  }
  ~Turn() {
    if (has_) g_taken.clear(std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return has_; }
  /// Called in a child, whose other threads are gone.
  static void forget() { g_taken.clear(std::memory_order_release); }

 private:
  static inline std::atomic_flag g_taken = ATOMIC_FLAG_INIT;
  bool has_ = false;
};

std::atomic<unsigned> g_users{0};

bool begin_guard() {
  const Turn turn;
  if (!turn) return false;
  bool installed = true;
  for (unsigned i = 0; i < kSignalCount; ++i) installed = install(i) && installed;
  if (installed) ++g_users;
  return installed;
}

/// Handlers that stay because this lock was not available are removed by the next user.
void end_guard() {
  const Turn turn;
  const bool was_last = g_users.fetch_sub(1) == 1;
  if (!turn || !was_last) return;
  for (unsigned i = 0; i < kSignalCount; ++i) remove(i);
}

}  // namespace

void find_guard_calls() {
  g_sigaction.find();
}

void forget_guards() {
  Turn::forget();
  if (g_users.exchange(0) == 0) return;
  for (unsigned i = 0; i < kSignalCount; ++i) remove(i);
}

bool is_guarded(int signal) {
  return (signal == SIGSEGV || signal == SIGBUS) && g_users.load(std::memory_order_relaxed) != 0;
}

int set_guarded_action(int signal, const struct sigaction* action, struct sigaction* previous) {
  const unsigned which = signal == kSignals[0] ? 0 : 1;
  const Turn turn;
  struct sigaction current;
  if (set(signal, nullptr, &current) != 0) return -1;
  if (!turn || !is_ours(current)) return set(signal, action, previous);
  const struct sigaction before = programs(which);
  if (action != nullptr) {
    g_previous[which] = *action;
    g_spent[which].store(false);
  }
  if (previous != nullptr) *previous = before;
  return 0;
}

bool run_guarded(void (*body)(void*), void* argument) {
  if (!begin_guard()) return false;
  sigjmp_buf back;
  const bool faulted = sigsetjmp(back, 1) != 0;
  if (!faulted) {
    t_return = &back;
    body(argument);
    t_return = nullptr;
  }
  end_guard();
  return !faulted;
}

}  // namespace culprit::collector
