// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Handlers stand only while the work goes on. Leaving it by a jump skips destructors: what they
// would have freed or closed stays, once.
#include "assemble/look/fault_net.h"

#include <setjmp.h>
#include <signal.h>

#include <array>
#include <iterator>

namespace culprit::assemble::look {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
using Actions = std::array<struct sigaction, std::size(kFaults)>;

thread_local sigjmp_buf* t_way_out = nullptr;

void on_fault(int signal) {
  if (sigjmp_buf* const out = t_way_out) {
    t_way_out = nullptr;
    siglongjmp(*out, 1);
  }
  // Not in that work: the instruction is tried again, and ends the process.
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
}

void stand_guard(Actions& before) {
  struct sigaction guard = {};
  guard.sa_handler = on_fault;
  sigemptyset(&guard.sa_mask);
  for (size_t i = 0; i < before.size(); ++i) sigaction(kFaults[i], &guard, &before[i]);
}

void stand_down(const Actions& before) {
  for (size_t i = 0; i < before.size(); ++i) sigaction(kFaults[i], &before[i], nullptr);
}

}  // namespace

bool survives(const std::function<void()>& work) {
  Actions before;
  stand_guard(before);
  sigjmp_buf out;
  const bool faulted = sigsetjmp(out, 1) != 0;
  if (!faulted) {
    t_way_out = &out;
    try {
      work();
    } catch (...) {
      t_way_out = nullptr;
      stand_down(before);
      throw;
    }
    t_way_out = nullptr;
  }
  stand_down(before);
  return !faulted;
}

}  // namespace culprit::assemble::look
