// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether a signal was for culprit alone, or for its whole process group, the measured program
// included: the signal itself does not tell. So a process stands in the group that has nothing to
// do but to keep the signals that come. What culprit gets and the witness does not was meant for
// culprit, and is handed on; what both get the program has had by itself, be it that the terminal,
// kill(2) or a batch system sent it to all.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <vector>

namespace culprit::cli {

class Witness {
 public:
  /// All signals must be blocked here. Where no process can be made, nothing is known later.
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
