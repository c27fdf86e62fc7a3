// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Decides whether a signal was for culprit alone, or for its whole process group including the
// measured program, which the signal itself does not show. So a witness process in the group only
// collects the signals that it receives. A signal that culprit gets and the witness does not was
// meant for culprit, and is forwarded; if both get it, the program has received it itself, because
// the terminal, kill(2) or a batch system sent it to all.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <vector>

namespace culprit::cli {

class Witness {
 public:
  /// All signals must be blocked here. If no process can be created, ask() returns nullopt later.
  Witness();
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  /// The signals that have come to it since it was last asked; nullopt if it cannot say.
  std::optional<std::vector<siginfo_t>> ask();

 private:
  void dismiss();

  pid_t process_ = -1;
  int to_ = -1;  ///< a socket, of which the witness has the other end
};

}  // namespace culprit::cli
