// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Signals that come while culprit stands in front of a program: they are kept, so that none of them
// ends culprit or is lost, and given out to whoever looks after the program. Those that the program
// has had by itself are told from those for culprit alone by a witness.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <vector>

#include "cli/launch/witness.h"

namespace culprit::cli {

/// From its making on no signal does anything by itself. In the end those that nobody asked for are
/// forgotten, and all is as before. MT: for a process of one thread.
class HeldSignals {
 public:
  using Clock = std::chrono::steady_clock;

  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Waits for one until then, and takes others that are there as well. SIGCHLD is one of them.
  std::vector<siginfo_t> next(Clock::time_point until);
  /// Those of `got` that the rest of the process group has not had. It takes a moment where there
  /// are any: a signal may be sent to one process after the other.
  std::vector<siginfo_t> for_culprit_alone(std::vector<siginfo_t> got);
  /// Whether it had no effect when culprit was started (nohup).
  bool was_ignored(int signal) const;
  /// Stops this process as a terminal does, until it is continued.
  void stop() const;
  /// In a forked child: as they were when culprit was started.
  void release_in_child() const;

 private:
  struct Testified {
    siginfo_t signal;
    Clock::time_point time;  ///< when the witness said so
    bool used = false;       ///< one that culprit got has been told to be this
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
