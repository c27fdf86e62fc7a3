// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits that cause waits: phi, and the part of a wait that propagates (thesis, equations 4.5 to
// 4.7).
#pragma once

#include "blame/delay/delay.h"
#include "blame/delay/moments.h"

namespace culprit::blame {

enum class Followed : uint8_t { waiting, polling };

/// Fills WaitCause::propagating_s of this rank's waits and CausedWait::long_s, or polling_s, of all
/// that they are the causes of; everything else must be known. Waits that lie in each other's
/// intervals in a circle (clocks are wrong, or tasks ran within) pass their inheritance around a
/// few times; the rest is returned. Collective.
PatternSums propagate_waits(const replay::Run& run, const replay::WaitGraph& graph,
                            DelayAnalysis& delays, const Moments& moments, Followed followed);

}  // namespace culprit::blame
