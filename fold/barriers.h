// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which records on where threads meet are about barriers. Kinds are OMPT's (ompt_sync_region_t).
#pragma once

#include <cstdint>

#include "trace/raw/raw.h"

namespace culprit::fold {

inline constexpr uint16_t kAnyBarrier = 0, kReduction = 7;

/// taskwait and taskgroup as they are, kReduction, or kAnyBarrier: a barrier's end may name another
/// kind of barrier than its begin.
constexpr uint16_t sync_class(uint16_t sync) {
  constexpr uint16_t kTaskwait = 5, kTaskgroup = 6;
  const auto plain = static_cast<uint16_t>(sync & ~trace::kRawTakenBack);
  const bool other = plain == kTaskwait || plain == kTaskgroup || plain == kReduction;
  return other ? plain : kAnyBarrier;
}

}  // namespace culprit::fold
