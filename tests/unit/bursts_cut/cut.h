// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Cuts a window out of a run of which all records are there, as the collector does while it
// records: the state at the window's begin comes from fold/carry.h.
#pragma once

#include <cstdint>
#include <vector>

#include "assemble/bursts/windows.h"

namespace culprit::assemble::test {

/// The records of all processes in [span.begin, span.end), ticks that they have in common.
WindowRecords cut_window(const std::vector<RawProcessFolder>& run, uint64_t number,
                         const TickSpan& span);

}  // namespace culprit::assemble::test
