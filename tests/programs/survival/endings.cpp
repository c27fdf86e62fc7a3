// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways to end.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "survive.h"

namespace survive {
namespace {

void call_exit() {
  exit(3);
}
void call_exit_at_once() {
  _exit(4);
}
void call_quick_exit() {
  at_quick_exit([] { say("at_quick_exit"); });
  quick_exit(5);
}
void call_abort() {
  abort();
}
void throw_uncaught() {
  throw std::runtime_error("nobody catches this");
}
void terminate_with_handler() {
  std::set_terminate([] {
    say("terminate handler");
    _exit(7);
  });
  std::terminate();
}

void fault() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
}

void on_fault(int) {
  say("own handler of SIGSEGV");
  _exit(8);
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

void fault_with_handler() {
  handle(SIGSEGV, on_fault, 0);
  compute();
  fault();
}

// A handler that hands on to whatever it found when it was installed, as crash reporters do.
struct sigaction g_found;
int g_times = 0;
void on_fault_hand_on(int signal, siginfo_t* info, void* context) {
  if (++g_times > 3) _exit(99);
  say("hands on");
  if ((g_found.sa_flags & SA_SIGINFO) != 0) return g_found.sa_sigaction(signal, info, context);
  sigaction(signal, &g_found, nullptr);  // the default: the fault comes again
}

void fault_with_handler_that_hands_on() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault_hand_on;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &g_found);
  compute();
  fault();
}

__attribute__((noinline)) int recurse(unsigned depth) {
  volatile char frame[4096];
  frame[depth % sizeof frame] = static_cast<char>(depth);
  return depth == ~0u ? 0 : recurse(depth + 1) + frame[0];
}

void overflow_stack() {
  (void)recurse(0);
}

void overflow_with_altstack() {
  static char memory[1 << 16];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  sigaltstack(&stack, nullptr);
  handle(SIGSEGV, on_fault, SA_ONSTACK);
  compute();
  overflow_stack();
}

template <int signal>
void raise_signal() {
  raise(signal);
}

void terminated_with_handler() {
  handle(SIGTERM, [](int) { exit(9); }, 0);
  compute();
  kill(getpid(), SIGTERM);
  pause();
}

void* exit_here(void*) {
  burn(10);
  exit(10);
}

// Who is still busy while another thread exits stays out of OpenMP: libomp takes itself apart under
// a region that is running, and then fails by itself.
void burn_for_ever() {
  for (;;) burn(20);
}

void exit_from_thread() {
  pthread_t thread;
  pthread_create(&thread, nullptr, exit_here, nullptr);
  burn_for_ever();
}

void* outlive_main(void*) {
  for (int i = 0; i < 5; ++i) compute();
  say("a thread outlived main");
  exit(0);  // by itself the process would go on for ever: OpenMP's threads do not end
}

void leave_main_by_pthread_exit() {
  pthread_t thread;
  pthread_create(&thread, nullptr, outlive_main, nullptr);
  pthread_exit(nullptr);
}

pthread_barrier_t g_computed;
void* compute_and_stay(void*) {
  compute();
  pthread_barrier_wait(&g_computed);
  burn_for_ever();
  return nullptr;
}

void return_with_threads_alive() {
  pthread_barrier_init(&g_computed, nullptr, 3);
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, compute_and_stay, nullptr);
  }
  pthread_barrier_wait(&g_computed);
}

}  // namespace

const Case kEndings[] = {
    {"exit", call_exit},
    {"exit_at_once", call_exit_at_once},
    {"quick_exit", call_quick_exit},
    {"abort", call_abort},
    {"uncaught", throw_uncaught},
    {"terminate", terminate_with_handler},
    {"fault", fault},
    {"fault_with_handler", fault_with_handler},
    {"fault_handed_on", fault_with_handler_that_hands_on},
    {"overflow", overflow_stack},
    {"overflow_with_altstack", overflow_with_altstack},
    {"terminated", raise_signal<SIGTERM>},
    {"terminated_with_handler", terminated_with_handler},
    {"interrupted", raise_signal<SIGINT>},
    {"killed", raise_signal<SIGKILL>},
    {"exit_from_thread", exit_from_thread},
    {"pthread_exit_from_main", leave_main_by_pthread_exit},
    {"threads_alive", return_with_threads_alive},
    {nullptr, nullptr},
};

}  // namespace survive
