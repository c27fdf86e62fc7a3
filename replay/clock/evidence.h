// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a run tells about its clocks: which call cannot have ended before which other one was
// entered. Messages and collectives tell it; what happens inside a process does not, because its
// threads share a clock.
#pragma once

#include <vector>

#include "replay/clock/repair.h"
#include "replay/model/run.h"

namespace culprit::replay {

/// All that clocks which are wrong by less than `slack` may show in the wrong order, or nothing but
/// what is in the wrong order if that is zero. `clock_of`: by ProcessId. Collective: of all ranks,
/// and the same on all.
Precedence gather_precedence(const Run& run, const std::vector<ClockId>& clock_of, Duration slack,
                             unsigned threads);

}  // namespace culprit::replay
