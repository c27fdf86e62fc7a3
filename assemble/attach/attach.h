// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Looks at running processes from outside, again and again: nothing is loaded into them, and no
// call of theirs is observed. What can be had this way is the scheduler's account of each thread,
// the system call in which it sleeps, and its stack at moments.
#pragma once

#include <atomic>
#include <vector>

#include "assemble/attach/seen.h"
#include "assemble/attach/target.h"
#include "base/result.h"

namespace culprit::assemble::attach {

struct AttachOptions {
  double seconds = 10;  ///< 0: until `stop`
  double looks_per_s =
      20;  ///< at most; fewer where looks would take more than a twentieth of a core
};

/// Looks until the time is over, all targets have ended, or `stop` is set.
Seen attach(std::vector<Target> targets, const AttachOptions& options,
            const std::atomic<bool>& stop);

}  // namespace culprit::assemble::attach
