// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Refuses a trace that would fill the memory, before it does.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "replay/model/waits.h"
#include "replay/ranks/transport.h"
#include "trace/source.h"

namespace culprit::blame {

/// Whether the analysis has room: on each node for all ranks there. `given`: bytes that each rank
/// may take; 0: what is free. Collective; the answer is the same on all ranks.
Result<void> check_memory(const trace::Source& source, replay::Transport& ranks, uint64_t given);

/// Whether the first of several ranks has room for the waits of all (propagation.h), now that their
/// number is known. As above.
Result<void> check_room_for_waits(const replay::WaitGraph& graph, replay::Transport& ranks,
                                  uint64_t given);

}  // namespace culprit::blame
