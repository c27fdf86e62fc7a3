// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Since when the time before a thread's begin counts.
#pragma once

#include "replay/model/waits.h"

namespace culprit::blame {

/// Lets the time before a thread's begin (thread.begin) reach back only as far as those who waited
/// for the thread and the one that made it know each other: what that one did earlier made nobody
/// wait. Collective.
void settle_thread_begins(const replay::Run& run, replay::WaitGraph& graph, unsigned threads);

}  // namespace culprit::blame
