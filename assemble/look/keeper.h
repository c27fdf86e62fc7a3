// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Notes now and then, in the experiment, where the threads of the measured program are: after a
// kill there is no other way to know. Only the process that started a program may always look at
// it. Looks are the rarer the more they cost, and the longer the run lasts: at most 1 % of a core.
#pragma once

#include <chrono>
#include <filesystem>

#include "assemble/look/thread_look.h"

namespace culprit::assemble::look {

class WhereaboutsKeeper {
 public:
  explicit WhereaboutsKeeper(std::filesystem::path experiment)
      : experiment_(std::move(experiment)) {}

  /// To be called about once a second.
  void step();

 private:
  void look();

  using Clock = std::chrono::steady_clock;

  std::filesystem::path experiment_;
  Look last_;
  unsigned looks_ = 0;
  bool is_over_ = false;  ///< one ended in a fault
  Clock::time_point next_;
  Clock::duration pause_ = std::chrono::milliseconds(900);
};

}  // namespace culprit::assemble::look
