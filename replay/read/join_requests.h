// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Requests that one thread posts and another of the same process completes, hands over or cancels:
// reading one location at a time cannot bring the two together.
#pragma once

#include "replay/model/run.h"

namespace culprit::replay {

/// Settles the requests that locations of each process have open with each other (Timeline::open),
/// and empties that. Assumes that a request's number is unique in its process while it is open.
void join_requests(Run& run, unsigned threads);

}  // namespace culprit::replay
