// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads of one process that are in MPI at once hinder each other: libraries let one in at a time.
// The cost is estimated from calls of the same function while no other thread was in MPI.
#pragma once

#include <vector>

#include "blame/findings/findings.h"
#include "blame/profile/path_kinds.h"
#include "replay/model/waits.h"

namespace culprit::blame {

/// Returns the rows of one process, by location and call path; none where only one thread calls
/// MPI.
std::vector<FoundSharedCalls> find_shared_calls(const replay::Run& run,
                                                const replay::WaitGraph& graph,
                                                const std::vector<PathKind>& kinds,
                                                ProcessId process);

}  // namespace culprit::blame
