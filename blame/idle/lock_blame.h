// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Blame shifting, directed: each second that a thread waits for a lock goes to the thread that
// holds it, at the call path where that one took it and at the one where it gave it back (Tallent,
// Mellor- Crummey and Porterfield, "Analyzing lock contention in multithreaded applications", PPoPP
// 2010, who sample it). A wait is cut where the lock changes hands, so that each has one holder.
#pragma once

#include <vector>

#include "blame/findings/findings.h"
#include "replay/model/waits.h"

namespace culprit::blame {

/// All waits for locks, critical sections and their kind, by holder, where it took and released and
/// where it was waited for. Their sum is that of those waits.
std::vector<FoundLockBlame> blame_for_locks(const replay::Run& run, const replay::WaitGraph& graph,
                                            unsigned threads);

}  // namespace culprit::blame
