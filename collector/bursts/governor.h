// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Keeps what the collector costs below the limit that the user gives (--overhead). A thread that
// has worked for a while says what part of that went to the collector; if the largest part exceeds
// the limit for three seconds, the next thing in order is left out: unsuccessful tests of MPI, then
// half of the length of bursts, again and again, then bursts. Samples have half of the limit to
// themselves, and look after it thread by thread (collector/sampling/rate.h). What was left out
// stays so, and the process's record says it. MT: any thread. Async-signal-safe.
#pragma once

#include <cstdint>

namespace culprit::collector {

/// What one thread spends on the collector.
class Account {
 public:
  /// The thread took a call path for as many ticks. If it lost its core meanwhile, they are not all
  /// the collector's.
  void add_path(uint64_t ticks) { path_ticks_ += ticks < kMostOfPath ? ticks : kMostOfPath; }
  /// Until `now` (ticks) the thread put records of `bytes`, and then spent CPU time on them.
  void add_records(uint64_t now, uint64_t cpu_ns, uint64_t bytes);

 private:
  static constexpr uint64_t kMostOfPath = 1 << 20;
  uint64_t since_ = 0;  ///< ticks; 0: nothing was counted yet
  uint64_t path_ticks_ = 0;
  uint64_t cpu_ns_ = 0;
  uint64_t bytes_ = 0;
};

/// CPU time of this thread.
uint64_t own_cpu_ns();

namespace governor {

/// In a forked child that begins anew.
void forget();

}  // namespace governor

}  // namespace culprit::collector
