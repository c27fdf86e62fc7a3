// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Did the threads have cores? One that could run and has none makes whoever waits for it wait, at
// places that change from run to run; nothing else that a report says is worth as much until there
// are enough. Unless it is the waiting threads that had none: calls that spin while they wait
// compete for the cores with each other, and delay nobody. The system tells of processes alone: a
// process whose threads lacked a core for longer than they waited, started and ended lacked it in
// its work, too.
#pragma once

#include <string>

#include "blame/findings/findings.h"

namespace culprit::report {

/// From this part of the allocated time without a core on, it is said.
inline constexpr double kCoresMatter = 0.05;
/// Part of the time in which threads could run: from this without a core on, a run is disturbed.
inline constexpr double kCoresDisturb = 0.1;

struct CoreShortage {
  bool known = false;  ///< for at least one process
  double share = 0;    ///< of the time in which threads could run: they had no core
  double core_wait_s = 0;
  double working_s = 0;    ///< part of core_wait_s, at least, outside of waiting and of start-up
  double allocated_s = 0;  ///< to the threads that are known; others may have lacked a core, too
  std::string node;        ///< where it was worst; the next three are of it
  size_t processes = 0;
  size_t threads = 0;
  size_t cores = 0;  ///< that these processes might use; 0: unknown
  bool matters() const { return known && core_wait_s >= kCoresMatter * allocated_s; }
  /// Before all else: it delayed work.
  bool comes_first() const {
    return matters() && working_s >= kCoresMatter * allocated_s && share >= kCoresDisturb;
  }
  bool too_many_threads() const { return cores > 0 && threads > cores; }
};

CoreShortage core_shortage(const blame::Findings& findings);

/// "4 ranks on 2 cores had no core for 49 % of the time", of the time in which they could run.
std::string core_words(const CoreShortage& shortage, const blame::Findings& findings);

/// "4 ranks shared 2 cores: ..."; "" unless it matters. What it says of other sentences depends on
/// whether it comes first.
std::string core_sentence(const CoreShortage& shortage, const blame::Findings& findings);

}  // namespace culprit::report
