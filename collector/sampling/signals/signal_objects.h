// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Signals as objects for which threads wait (trace::ObjectKind::signal).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "trace/objects.h"

namespace culprit::collector::sampling {

/// In place of a signal's number: whichever comes.
inline constexpr int kAnySignal = 0;

/// The signal of this number to the process.
inline uint64_t signal_object(pid_t process, int number) {
  constexpr unsigned kNumberBits = 8;
  return object_of(trace::ObjectKind::signal,
                   static_cast<uint64_t>(process) << kNumberBits | static_cast<uint64_t>(number));
}

/// How many threads of this process wait for signals, so that a signal to the process itself costs
/// a record only if one does.
extern std::atomic<uint32_t> g_signal_waiters;

/// Called at load: finds the system's own functions that send signals.
void find_signal_calls();

}  // namespace culprit::collector::sampling
