// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Locks that programs make of atomic accesses to a window: a process tries again and again
// (MPI_Compare_and_swap, MPI_Fetch_and_op), until the holder writes to the same place. Those tries
// are polling, and the process that released the lock is its cause.
#pragma once

#include <vector>

#include "replay/detect/detection.h"
#include "replay/match/rma_epochs.h"

namespace culprit::replay {

/// Finds the waits in spin locks. `epochs`: by ProcessId; those of own processes include their
/// acts. Collective.
void find_spin_locks(const Run& run, const std::vector<RmaEpochs>& epochs, Outbox& box);

}  // namespace culprit::replay
