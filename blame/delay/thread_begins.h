// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Since when the time before a thread's begin counts.
#pragma once

#include "replay/model/waits.h"

namespace culprit::blame {

/// Lets the time before a thread's begin (thread.begin) reach back only to the last synchronisation
/// of the thread's waiters and its creator: the creator's earlier activity made no thread wait.
/// Collective.
void settle_thread_begins(const replay::Run& run, replay::WaitGraph& graph, unsigned threads);

}  // namespace culprit::blame
