// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs that lay claim to the signal that samples use, whichever it is: they get theirs and no
// other, and find what they set themselves.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "survive.h"

extern "C" {
int __sigaction(int, const struct sigaction*, struct sigaction*);
sighandler_t bsd_signal(int, sighandler_t);
sighandler_t __sysv_signal(int, sighandler_t);
}

namespace survive {
namespace {

volatile sig_atomic_t g_came = 0;
volatile sig_atomic_t g_strange = 0;  // that nobody in the program has sent

void count(int) {
  g_came = g_came + 1;
}

void count_with_info(int, siginfo_t* info, void*) {
  g_came = g_came + 1;
  if (info->si_code != SI_TKILL && info->si_code != SI_USER && info->si_code != SI_QUEUE) {
    g_strange = g_strange + 1;
  }
}

void say_number(const char* what, long number) {
  char line[100];
  snprintf(line, sizeof line, "%s: %ld", what, number);
  say(line);
}

void say_handler(const char* what, sighandler_t handler) {
  char line[100];
  const char* name = handler == SIG_DFL   ? "default"
                     : handler == SIG_IGN ? "ignored"
                     : handler == SIG_ERR ? "error"
                     : handler == count   ? "count"
                                          : "another";
  snprintf(line, sizeof line, "%s: %s", what, name);
  say(line);
}

/// As often as asked for, between samples.
void raise_while_computing(int signal) {
  g_came = 0;
  for (int i = 0; i < 3; ++i) {
    compute();
    raise(signal);
  }
  compute();
  say_number("came", g_came);
  say_number("strange", g_strange);
}

struct sigaction action_of(sighandler_t handler, int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return action;
}

struct sigaction noting(int flags) {
  struct sigaction action = {};
  action.sa_sigaction = count_with_info;
  action.sa_flags = SA_SIGINFO | flags;
  return action;
}

// PETSc's way: whatever it did not ask for is an error.
void end_at_once(int) {
  _exit(59);
}
void fatal() {
  say_handler("before", signal(SIGURG, end_at_once));
  compute();
  say(signal(SIGURG, SIG_DFL) == end_at_once ? "its own" : "another");
  compute();
  signal(SIGURG, end_at_once);
  compute();
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
void by_signal() {
  say_handler("before", signal(SIGURG, count));
  raise_while_computing(SIGURG);
  say_handler("before", bsd_signal(SIGURG, count));
  raise_while_computing(SIGURG);
  say_handler("before", sigset(SIGURG, count));
  raise_while_computing(SIGURG);
  say_handler("held", sigset(SIGURG, SIG_HOLD));
  raise(SIGURG);
  compute();
  say_number("came", g_came);
  say_handler("before", sigset(SIGURG, SIG_IGN));
  say_number("came", g_came);
  say_number("ignored", sigignore(SIGURG));
  say_handler("before", signal(SIGURG, SIG_DFL));
}

#pragma GCC diagnostic pop

// Once only: the second one is ignored again.
void by_sysv_signal() {
  say_handler("before", __sysv_signal(SIGURG, count));
  raise_while_computing(SIGURG);
  say_handler("before", __sysv_signal(SIGURG, count));
  compute();
  say_handler("before", signal(SIGURG, SIG_DFL));
}

template <class Call>
void ask_and_set(const Call& call, int signal) {
  struct sigaction before;
  memset(&before, 0, sizeof before);
  const struct sigaction wanted = noting(SA_RESTART | SA_ONSTACK);
  say_number("asked", call(signal, nullptr, &before));
  say_handler("before", before.sa_handler);
  say_number("set", call(signal, &wanted, &before));
  say_handler("before", before.sa_handler);
  raise_while_computing(signal);
  say_number("asked", call(signal, nullptr, &before));
  say(before.sa_sigaction == count_with_info ? "its own" : "another");
  say_number("flags", before.sa_flags);
  say_number("masks USR1", sigismember(&before.sa_mask, SIGUSR1));
  struct sigaction standard = action_of(SIG_DFL, 0);
  say_number("set", call(signal, &standard, nullptr));
}

void by_sigaction() {
  ask_and_set(sigaction, SIGURG);
}
void by_internal_sigaction() {
  ask_and_set(__sigaction, SIGURG);
}

struct KernelAction {
  void* handler;
  unsigned long flags;
  void* restorer;
  uint64_t mask;
};

long by_library(int number, const KernelAction* action, KernelAction* before) {
  return syscall(SYS_rt_sigaction, number, action, before, sizeof(uint64_t));
}

#if defined(__x86_64__)
// As a runtime that does without the library.
long by_itself(int number, const KernelAction* action, KernelAction* before) {
  long result;
  register long size asm("r10") = sizeof(uint64_t);
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_rt_sigaction), "D"(number), "S"(action), "d"(before), "r"(size)
               : "rcx", "r11", "memory");
  return result;
}
asm(".text\n.type survive_return, @function\nsurvive_return: movq $15, %rax\nsyscall\n");
extern "C" void survive_return();
#else
const auto by_itself = by_library;
extern "C" void survive_return() {}
#endif

KernelAction kernel_action(void* handler) {
  constexpr unsigned long kRestorer = 0x04000000;
  return {handler, SA_SIGINFO | SA_RESTART | SA_ONSTACK | kRestorer,
          reinterpret_cast<void*>(survive_return), 0};
}

void by_system_call() {
  KernelAction before = {};
  say_number("asked", by_library(SIGURG, nullptr, &before));
  say(before.handler == nullptr ? "default" : "another");
  const KernelAction wanted = kernel_action(reinterpret_cast<void*>(count_with_info));
  say_number("set", by_library(SIGURG, &wanted, &before));
  say(before.handler == nullptr ? "default" : "another");
  raise_while_computing(SIGURG);
  by_library(SIGURG, nullptr, &before);
  say(before.handler == wanted.handler ? "its own" : "another");
}

// What it is given that it did not send, it can only count.
void by_its_own_system_call() {
  const KernelAction wanted = kernel_action(reinterpret_cast<void*>(count_with_info));
  by_itself(SIGURG, &wanted, nullptr);
  g_came = 0;
  for (int i = 0; i < 3; ++i) compute(), raise(SIGURG);
  say_number("came", g_came - g_strange);
  say(g_strange <= 2 ? "hardly any strange ones" : "strange ones");
  const int seen = g_strange;
  compute();
  compute();
  say_number("more strange ones", g_strange - seen);
}

KernelAction g_before_ours;
void hand_on(int number, siginfo_t* info, void* context) {
  if (info->si_code == SI_TKILL) g_came = g_came + 1;
  auto* const handler = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(g_before_ours.handler);
  if (handler != nullptr) handler(number, info, context);
}
void hands_on() {
  const KernelAction wanted = kernel_action(reinterpret_cast<void*>(hand_on));
  by_itself(SIGURG, &wanted, &g_before_ours);
  for (int i = 0; i < 3; ++i) compute(), raise(SIGURG);
  say_number("came", g_came);
}

void all_default_by_itself() {
  for (int number = 1; number < NSIG; ++number) {
    const KernelAction standard = {};
    by_itself(number, &standard, nullptr);
  }
  compute();
}

// Handlers for all there are.
void all_handled() {
  for (int number = 1; number < NSIG; ++number) {
    const struct sigaction wanted = noting(SA_RESTART);
    sigaction(number, &wanted, nullptr);
  }
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    if (number % 7 == 0) compute();
    raise(number);
  }
  for (const int number : {SIGURG, SIGUSR1, SIGPROF, SIGWINCH, SIGSTKFLT}) raise(number);
  say_number("came", g_came);
  say_number("strange", g_strange);
  int own = 0;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction found = {};
    if (sigaction(number, nullptr, &found) != 0) continue;
    if (found.sa_sigaction == count_with_info) ++own;
  }
  say_number("own", own);
}

// Real-time signals come as often as they were sent, with their values.
volatile sig_atomic_t g_sum = 0;
void add(int, siginfo_t* info, void*) {
  g_came = g_came + 1;
  if (info->si_code == SI_QUEUE) g_sum = g_sum + info->si_value.sival_int;
}
void queued() {
  signal(SIGURG, count);
  for (int number = SIGRTMAX; number >= SIGRTMIN; --number) {
    struct sigaction wanted = noting(SA_RESTART);
    wanted.sa_sigaction = add;
    sigaction(number, &wanted, nullptr);
    if (number % 7 == 0) compute();
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_BLOCK, &only, nullptr);
    for (int i = 1; i <= 3; ++i) sigqueue(getpid(), number, {i});
    if (number % 7 == 0) burn(5);
    pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    wanted = action_of(SIG_DFL, 0);
    sigaction(number, &wanted, nullptr);
  }
  compute();
  say_number("came", g_came);
  say_number("sum", g_sum);
}

sigset_t set_of(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

void read_signal(int file) {
  signalfd_siginfo found = {};
  if (read(file, &found, sizeof found) < 0) return say(errno == EAGAIN ? "none" : "error");
  say_number("read", found.ssi_signo);
}

void signal_file() {
  const sigset_t only = set_of(SIGURG);
  sigprocmask(SIG_BLOCK, &only, nullptr);
  const int file = signalfd(-1, &only, SFD_NONBLOCK);
  compute();
  read_signal(file);
  raise(SIGURG);
  compute();
  read_signal(file);
  read_signal(file);
  close(file);
}

void signal_file_of_all() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  const int file = signalfd(-1, &all, SFD_NONBLOCK);
  compute();
  read_signal(file);
  raise(SIGUSR1);
  compute();
  raise(SIGURG);
  read_signal(file);
  read_signal(file);
  read_signal(file);
  close(file);
}

void* wait_for_one(void*) {
  const sigset_t only = set_of(SIGURG);
  int number = 0;
  sigwait(&only, &number);
  say_number("waited", number);
  return nullptr;
}
void waits_for_it() {
  const sigset_t only = set_of(SIGURG);
  pthread_sigmask(SIG_BLOCK, &only, nullptr);
  pthread_t waiter;
  pthread_create(&waiter, nullptr, wait_for_one, nullptr);
  compute();
  pthread_kill(waiter, SIGURG);
  pthread_join(waiter, nullptr);
  compute();
}

void pending() {
  sigset_t all, found;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  compute();
  const auto tell = [&found] {
    sigpending(&found);
    int number = 0;
    for (int i = 1; i < NSIG; ++i) {
      if (sigismember(&found, i) == 1) ++number;
    }
    say_number("pending", number);
  };
  tell();
  raise(SIGURG);
  compute();
  tell();
  say_number("that one", sigismember(&found, SIGURG));
  signal(SIGURG, count);
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  say_number("came", g_came);
  tell();
}

// A handler that is to interrupt calls does, and another does not.
int g_pipe[2];
volatile bool g_reads = false;
void* read_from_pipe(void*) {
  char byte;
  g_reads = true;
  const long bytes = read(g_pipe[0], &byte, 1);
  say(bytes == 1 ? "read" : errno == EINTR ? "interrupted" : "error");
  return nullptr;
}
void interrupts() {
  for (const int flags : {0, SA_RESTART}) {
    const struct sigaction wanted = action_of(count, flags);
    sigaction(SIGURG, &wanted, nullptr);
    (void)!pipe(g_pipe);
    g_reads = false;
    pthread_t reader;
    pthread_create(&reader, nullptr, read_from_pipe, nullptr);
    while (!g_reads) usleep(1000);
    usleep(100'000);
    pthread_kill(reader, SIGURG);
    usleep(50'000);
    if (flags != 0) (void)!write(g_pipe[1], "x", 1);
    pthread_join(reader, nullptr);
    compute();
  }
}

// On a stack of the smallest size, where it stays for a while.
void burn_in_handler(int) {
  burn(40);
  g_came = g_came + 1;
}
void on_small_stack() {
  static char room[1 << 16];
  stack_t stack = {};
  stack.ss_sp = room;
  stack.ss_size = static_cast<size_t>(sysconf(_SC_MINSIGSTKSZ)) + 1024;
  memset(room, 0x5a, sizeof room);
  sigaltstack(&stack, nullptr);
  for (const int number : {SIGUSR1, SIGURG}) {
    const struct sigaction wanted = action_of(burn_in_handler, SA_ONSTACK);
    sigaction(number, &wanted, nullptr);
    raise(number);
    compute();
  }
  say_number("came", g_came);
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

void say_disposition(int number) {
  struct sigaction found = {};
  sigaction(number, nullptr, &found);
  say_handler("disposition", found.sa_handler);
}

void show_disposition() {
  say_disposition(SIGURG);
  _exit(0);
}

void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  say_number("status", status);
}

// What is ignored stays so in the programs that a program starts, and handlers do not.
void inherited() {
  char name[] = "first_show_disposition";
  char way[] = "omp";
  char* const arguments[] = {g_argv[0], way, name, nullptr};
  const auto start = [&] {
    const pid_t child = fork();
    if (child == 0) {
      execv(arguments[0], arguments);
      _exit(1);
    }
    wait_for(child);
  };
  signal(SIGURG, SIG_IGN);
  compute();
  start();
  signal(SIGURG, count);
  compute();
  start();
  const pid_t child = vfork();
  if (child == 0) {
    signal(SIGURG, SIG_IGN);
    execv(arguments[0], arguments);
    _exit(1);
  }
  wait_for(child);
  say_disposition(SIGURG);
  raise_while_computing(SIGURG);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const sigset_t only = set_of(SIGURG);
  posix_spawnattr_setsigdefault(&attributes, &only);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t spawned = 0;
  posix_spawn(&spawned, arguments[0], nullptr, &attributes, arguments, environ);
  wait_for(spawned);
  const pid_t same = fork();
  if (same == 0) {
    g_came = 0;
    raise(SIGURG);
    _exit(g_came == 1 ? 0 : 1);
  }
  wait_for(same);
}

// A timer of the program's own.
void own_timer() {
  struct sigaction wanted = {};
  wanted.sa_sigaction = [](int, siginfo_t* info, void*) {
    g_came = info->si_code == SI_TIMER && info->si_value.sival_int == 42 ? 1 : 2;
  };
  wanted.sa_flags = SA_SIGINFO;
  sigaction(SIGURG, &wanted, nullptr);
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGURG;
  event.sigev_value.sival_int = 42;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  itimerspec once = {};
  once.it_value.tv_nsec = 10'000'000;
  timer_settime(timer, 0, &once, nullptr);
  for (int i = 0; i < 500 && g_came == 0; ++i) usleep(10'000);
  compute();
  say_number("came", g_came);
  timer_delete(timer);
}

// Before anything else runs: the first to come.
struct Early {
  Early() {
    if (getenv("SURVIVE_CLAIMS_EARLY") != nullptr) signal(SIGURG, count);
  }
} g_early;

void claimed_early() {
  raise_while_computing(SIGURG);
}

/// Long enough for samples to come on any machine: the system looks at timers now and then only.
template <void (*claim)()>
void then_compute() {
  claim();
  for (int i = 0; i < 5; ++i) compute();
}

}  // namespace

const Case kClaims[] = {
    {"fatal", then_compute<fatal>},
    {"first_fatal", then_compute<fatal>},
    {"by_signal", then_compute<by_signal>},
    {"first_by_signal", then_compute<by_signal>},
    {"by_sysv_signal", then_compute<by_sysv_signal>},
    {"by_sigaction", then_compute<by_sigaction>},
    {"first_by_sigaction", then_compute<by_sigaction>},
    {"by_internal_sigaction", then_compute<by_internal_sigaction>},
    {"by_system_call", then_compute<by_system_call>},
    {"by_its_own_system_call", then_compute<by_its_own_system_call>},
    {"hands_on", then_compute<hands_on>},
    {"all_default_by_itself", then_compute<all_default_by_itself>},
    {"all_handled", then_compute<all_handled>},
    {"first_all_handled", then_compute<all_handled>},
    {"queued", then_compute<queued>},
    {"signal_file", then_compute<signal_file>},
    {"signal_file_of_all", then_compute<signal_file_of_all>},
    {"waits_for_it", then_compute<waits_for_it>},
    {"pending", then_compute<pending>},
    {"interrupts", then_compute<interrupts>},
    {"on_small_stack", then_compute<on_small_stack>},
    {"inherited", then_compute<inherited>},
    {"first_show_disposition", show_disposition},
    {"own_timer", then_compute<own_timer>},
    {"claimed_early", then_compute<claimed_early>},
    {nullptr, nullptr},
};

}  // namespace survive
