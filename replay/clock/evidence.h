// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The evidence about clocks in a run: which call cannot have ended before which other one was
// entered. Messages and collectives show it; events inside a process do not, because its threads
// share a clock.
#pragma once

#include <vector>

#include "replay/clock/repair.h"
#include "replay/model/run.h"

namespace culprit::replay {

/// Returns all dependences whose order clocks that are wrong by less than `slack` may have
/// reversed; with zero slack, only those that are reversed. `clock_of`: by ProcessId. Collective:
/// covers the processes of all ranks, and returns the same on all.
Precedence gather_precedence(const Run& run, const std::vector<ClockId>& clock_of, Duration slack,
                             unsigned threads);

}  // namespace culprit::replay
