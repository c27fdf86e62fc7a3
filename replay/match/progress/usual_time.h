// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What an operation takes by itself, generously (tau): whether somebody was silent for longer than
// that is asked of waits for progress, and what a call took beyond it is not explained.
#pragma once

#include <algorithm>
#include <optional>

#include "base/tree_levels.h"
#include "replay/model/waits.h"

namespace culprit::replay {

/// Of an operation of so many members that moves so many bytes, on a slow machine, in nanoseconds:
/// as much for a message on each level of a tree. `a_byte`: what each takes.
inline double slow_nanos(uint64_t members, double bytes, double a_byte) {
  constexpr double kMessage = 100'000;
  return std::max(1u, tree_levels(members)) * (kMessage + bytes * a_byte);
}

/// tau, in nanoseconds. `quartile`: the lower one of what operations alike took, if any is known;
/// `most`: what it is at most.
inline double usual_nanos(std::optional<double> quartile, double most) {
  constexpr double kFactor = 3;
  if (!quartile) return most;
  return std::max(static_cast<double>(kLongCall.nanos()), std::min(kFactor * *quartile, most));
}

}  // namespace culprit::replay
