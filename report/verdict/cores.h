// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Did the threads have cores? One that could run and has none makes whoever waits for it wait, at
// places that change from run to run; nothing else that a report says is worth as much until there
// are enough.
#pragma once

#include <string>

#include "blame/findings/findings.h"

namespace culprit::report {

/// From this part of the threads' time without a core on, it is said first.
inline constexpr double kCoresMatter = 0.05;

struct CoreShortage {
  bool known = false;  ///< for at least one process
  double share = 0;    ///< of the threads' time: they could have run, and had no core
  double core_wait_s = 0;
  std::string node;  ///< where it was worst; the next three are of it
  size_t processes = 0;
  size_t threads = 0;
  size_t cores = 0;  ///< that these processes might use; 0: unknown
  bool matters() const { return known && share >= kCoresMatter; }
  bool too_many_threads() const { return cores > 0 && threads > cores; }
};

CoreShortage core_shortage(const blame::Findings& findings);

/// "4 ranks shared 2 cores: ..."; "" unless it matters.
std::string core_sentence(const CoreShortage& shortage, const blame::Findings& findings);

}  // namespace culprit::report
