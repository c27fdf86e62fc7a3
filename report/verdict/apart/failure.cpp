// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Statuses are those of shells: 128 and a signal, or the program's own.
#include "report/verdict/apart/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>

namespace culprit::report {
namespace {

constexpr int kSignaled = 128;

/// Returns the signal in a shell-style exit status if it indicates a programming error; else 0.
int deadly_signal(int status) {
  constexpr int kDeadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
  const int signal = status > kSignaled ? status - kSignaled : -status;
  const bool deadly =
      std::find(std::begin(kDeadly), std::end(kDeadly), signal) != std::end(kDeadly);
  return deadly ? signal : 0;
}

}  // namespace

Failure failure_of(const blame::Findings& findings, const TimeFormat& time) {
  constexpr int kTimeLimit = 124;  // of timeout(1)
  const int status = findings.run.exit_status;
  const std::string none =
      fmt::format(" after {}: no verdict on its speed.", time(findings.run.wall_s));
  if (const int signal = deadly_signal(status); signal != 0) {
    return {
        fmt::format("The program died of signal {} (SIG{}){}", signal, sigabbrev_np(signal), none)};
  }
  if (status <= 0 || status > kSignaled || status == kTimeLimit) return {};
  if (!findings.run.mpi.empty() && !findings.losses.contains(LossKind::early_ends)) {
    return {fmt::format("The program failed with exit status {}, when all was done.", status),
            true};
  }
  return {fmt::format("The program failed with exit status {}{}", status, none)};
}

}  // namespace culprit::report
