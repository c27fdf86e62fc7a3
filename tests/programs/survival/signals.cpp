// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs that have plans of their own for signals.
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <initializer_list>

#include "survive.h"

namespace survive {
namespace {

volatile sig_atomic_t g_count = 0;

void count(int) {
  g_count = g_count + 1;
}

void set(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

// Nobody but the program sends these.
template <int signal>
void own_handler() {
  set(signal, count);
  compute();
  raise(signal);
  compute();
  char line[60];
  snprintf(line, sizeof line, "came: %d", static_cast<int>(g_count));
  say(line);
}

// Back to the system's default for all, as daemons do: nothing may come that ends the program.
void all_default() {
  for (int signal = 1; signal < NSIG; ++signal) set(signal, SIG_DFL);
  compute();
}

void all_ignored() {
  for (int signal = 1; signal < NSIG; ++signal) set(signal, SIG_IGN);
  compute();
}

void all_blocked() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  compute();
}

// A thread that waits for whatever comes: only what the program sends may.
void waits_for_all() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  compute();
  const timespec soon = {0, 50'000'000};
  siginfo_t info = {};
  char line[60];
  snprintf(line, sizeof line, "polled: %d", sigtimedwait(&all, &info, &soon));
  say(line);
  compute();
  raise(SIGRTMIN + 5);  // of those that wait, the lowest is given first
  const int waited = sigwaitinfo(&all, &info);
  compute();
  raise(SIGRTMIN + 6);
  int came = 0;
  sigwait(&all, &came);
  snprintf(line, sizeof line, "waited: %d %d %d", waited, info.si_signo, came);
  say(line);
}

// Its timer goes by CPU time, of which a busy machine gives little.
void own_profiler() {
  set(SIGPROF, count);
  itimerval period = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_PROF, &period, nullptr);
  for (int tries = 0; tries < 20 && g_count == 0; ++tries) compute();
  period = {};
  setitimer(ITIMER_PROF, &period, nullptr);
  say(g_count > 0 ? "profiled" : "not profiled");
}

// What the program finds installed is what it installed, or nothing.
void ask() {
  compute();
  for (const int signal : {SIGSEGV, SIGBUS, SIGPROF, SIGTERM, SIGINT, SIGABRT, SIGUSR1}) {
    struct sigaction found;
    sigaction(signal, nullptr, &found);
    char line[60];
    snprintf(line, sizeof line, "%d: %s", signal,
             found.sa_handler == SIG_DFL ? "default" : "a handler");
    say(line);
  }
}

sigjmp_buf g_after;
void jump(int) {
  siglongjmp(g_after, 1);
}

// Faults as a way to ask whether memory can be read.
void faults_by_design() {
  set(SIGSEGV, jump);
  int caught = 0;
  for (volatile int i = 0; i < 200; i = i + 1) {
    if (sigsetjmp(g_after, 1) == 0) {
      volatile int* nowhere = reinterpret_cast<volatile int*>(16);
      (void)*nowhere;
    } else {
      ++caught;
    }
    if (i % 20 == 0) burn(5);
  }
  char line[60];
  snprintf(line, sizeof line, "caught: %d", caught);
  say(line);
}

}  // namespace

const Case kSignals[] = {
    {"own_sigprof", own_handler<SIGPROF>},
    {"first_own_sigprof", own_handler<SIGPROF>},
    {"own_sigsegv", own_handler<SIGSEGV>},
    {"own_sigbus", own_handler<SIGBUS>},
    {"own_sigusr1", own_handler<SIGUSR1>},
    {"all_default", all_default},
    {"all_ignored", all_ignored},
    {"all_blocked", all_blocked},
    {"waits_for_all", waits_for_all},
    {"first_waits_for_all", waits_for_all},
    {"own_profiler", own_profiler},
    {"first_ask", ask},
    {"ask", ask},
    {"faults_by_design", faults_by_design},
    {nullptr, nullptr},
};

}  // namespace survive
