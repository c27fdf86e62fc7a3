// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The needs of each open call in order to return, as nodes of the wait-for graph (wait_graph.h).
// Where neither the records nor the system show a call's needs (MPI_Win_unlock, waiting for a
// device), its thread counts as one that goes on: a deadlock is reported only where all of it was
// seen.
#pragma once

#include <vector>

#include "assemble/stuck/processes_at_end.h"
#include "assemble/stuck/wait_graph.h"

namespace culprit::assemble::stuck {

/// A node for each lane of `run`, by its index.
std::vector<Node> nodes_of(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                           const std::vector<ProcessEnd>& processes);

}  // namespace culprit::assemble::stuck
