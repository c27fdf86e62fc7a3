// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A generous bound of the time that an operation takes by itself (tau): a wait for progress
// requires that a process was silent for longer, and the time of a call beyond it counts as
// unexplained.
#pragma once

#include <algorithm>
#include <optional>

#include "base/tree_levels.h"
#include "replay/model/waits.h"

namespace culprit::replay {

/// Returns the time in nanoseconds that an operation of `members` members and `bytes` bytes takes
/// on a slow machine: one message on each level of a tree. `a_byte`: nanoseconds per byte.
inline double slow_nanos(uint64_t members, double bytes, double a_byte) {
  constexpr double kMessage = 100'000;
  return std::max(1u, tree_levels(members)) * (kMessage + bytes * a_byte);
}

/// Returns tau, in nanoseconds. `quartile`: the lower quartile of the times of similar operations,
/// if known; `most`: an upper limit of tau.
inline double usual_nanos(std::optional<double> quartile, double most) {
  constexpr double kFactor = 3;
  if (!quartile) return most;
  return std::max(static_cast<double>(kLongCall.nanos()), std::min(kFactor * *quartile, most));
}

}  // namespace culprit::replay
