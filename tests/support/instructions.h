// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much a piece of code does: the instructions that a copy of this process executes for it, one
// at a time under ptrace. The same on a busy machine as on a quiet one, so tests can say how cost
// grows. Some hundred thousand a second: for small inputs.
#pragma once

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <optional>

namespace culprit::testing_support {

/// Nothing if it takes more than `most`, if it crashes, or if this process may trace nobody.
template <class Work>
std::optional<uint64_t> instructions_of(const Work& work, uint64_t most) {
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    work();
    raise(SIGSTOP);
    _exit(0);
  }
  uint64_t count = 0;
  int status = 0;
  const auto stopped_by = [&](int signal) {
    return waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
  };
  const bool goes_on = stopped_by(SIGSTOP);
  while (goes_on && count < most && ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0 &&
         stopped_by(SIGTRAP)) {
    ++count;
  }
  const bool complete = goes_on && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  if (!complete) return std::nullopt;
  return count;
}

}  // namespace culprit::testing_support
