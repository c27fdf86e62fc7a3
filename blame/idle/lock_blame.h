// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Blame shifting, directed: each second that a thread waits for a lock goes to the thread that
// holds it, at the call paths of its acquisition and of its release (Tallent, Mellor- Crummey and
// Porterfield, "Analyzing lock contention in multithreaded applications", PPoPP 2010, who sample
// it). A wait is cut where the lock changes hands, so that each has one holder.
#pragma once

#include <vector>

#include "blame/findings/findings.h"
#include "replay/model/waits.h"

namespace culprit::blame {

/// Returns all waits for locks, critical sections and similar constructs, by holder, call paths of
/// acquisition and release, and call path of the wait. Their sum is that of those waits.
std::vector<FoundLockBlame> blame_for_locks(const replay::Run& run, const replay::WaitGraph& graph,
                                            unsigned threads);

}  // namespace culprit::blame
