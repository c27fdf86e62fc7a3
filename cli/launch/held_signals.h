// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Signals that arrive while culprit runs a program: they are held, so that none of them ends
// culprit or is lost, and handed to the code that watches the program. A witness process
// distinguishes signals that the program has received itself from those for culprit alone.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <vector>

#include "cli/launch/witness.h"

namespace culprit::cli {

/// From its construction on, no signal has an effect by itself. The destructor drops the signals
/// that were not taken, and restores the previous state. MT: for a process of one thread.
class HeldSignals {
 public:
  using Clock = std::chrono::steady_clock;

  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Waits for one until then, and takes others that are there as well. SIGCHLD is one of them.
  std::vector<siginfo_t> next(Clock::time_point until);
  /// Returns those of `got` that the rest of the process group has not received. It takes a moment
  /// if there are any: a signal may be sent to one process after the other.
  std::vector<siginfo_t> for_culprit_alone(std::vector<siginfo_t> got);
  /// Whether it had no effect when culprit was started (nohup).
  bool was_ignored(int signal) const;
  /// Stops this process as a terminal does, until it is continued.
  void stop() const;
  /// Restores, in a forked child, the signal state from when culprit was started.
  void release_in_child() const;

 private:
  struct Testified {
    siginfo_t signal;
    Clock::time_point time;  ///< when the witness said so
    bool used = false;       ///< one that culprit got was found to be this
  };

  bool ask_witness();
  bool has_been_with_group(const siginfo_t& signal);

  sigset_t mask_ = {};     ///< as it was
  sigset_t ignored_ = {};  ///< likewise
  struct sigaction on_child_ = {};
  std::vector<Testified> testimony_;
  std::optional<Witness> witness_;
};

}  // namespace culprit::cli
