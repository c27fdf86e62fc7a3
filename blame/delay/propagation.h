// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits that cause waits: phi, and the part of a wait that propagates (thesis, equations 4.5 to
// 4.7).
#pragma once

#include "blame/delay/delay.h"

namespace culprit::blame {

enum class Followed : uint8_t { waiting, polling };

/// Fills WaitCause::long_s and propagating_s, or polling_s, of all waits of this rank's locations,
/// but not of ties; everything else of both must be known. Waits that lie in each other's intervals
/// in a circle (clocks are wrong, or tasks ran within) pass their inheritance around a few times;
/// the rest is returned. Collective.
PatternSums propagate_waits(const replay::Run& run, const replay::WaitGraph& graph,
                            DelayAnalysis& delays, Followed followed);

}  // namespace culprit::blame
