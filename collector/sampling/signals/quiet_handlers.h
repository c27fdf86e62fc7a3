// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Handlers of the program during which samples wait: those on stacks of their own, which may be too
// small for the frame of a second signal. The system kills a program in which there is no room for
// it. Their masks have the signal of samples, which the programs did not ask for.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

namespace culprit::collector::sampling {

/// By signal, bit 0 for the first.
inline constinit std::atomic<uint64_t> g_quiet_handlers{0};

constexpr uint64_t bit_of_signal(int signal) {
  return uint64_t{1} << (signal - 1);
}

inline bool is_handler_quiet(int signal) {
  return (g_quiet_handlers.load() & bit_of_signal(signal)) != 0;
}

/// Returns whether it was.
inline bool set_quiet(int signal, bool is_quiet) {
  const uint64_t bit = bit_of_signal(signal);
  const uint64_t before =
      is_quiet ? g_quiet_handlers.fetch_or(bit) : g_quiet_handlers.fetch_and(~bit);
  return (before & bit) != 0;
}

/// Whether samples that use the signal `samples` are to wait while the action's handler runs.
inline bool keeps_samples_waiting(const struct sigaction& action, int samples) {
  const bool is_handler = (action.sa_flags & SA_SIGINFO) != 0 ||
                          (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
  return samples != 0 && is_handler && (action.sa_flags & SA_ONSTACK) != 0 &&
         sigismember(&action.sa_mask, samples) == 0;
}

}  // namespace culprit::collector::sampling
