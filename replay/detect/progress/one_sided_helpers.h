// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Of one-sided communication: which calls may have needed their target's progress.
#pragma once

#include "replay/detect/detection.h"
#include "replay/match/rma_epochs.h"

namespace culprit::replay {

/// The end of an access, while its target is between posting its window and waiting.
Assisted completes_with(const Run& run, const AccessEpoch& access, const ExposureEpoch& exposure,
                        ProcessId target);

/// Locks, flushes and unlocks of one process whose targets take no part in them.
/// Thread-safe for different boxes.
void note_busy_targets(const Run& run, ProcessId process, const RmaEpochs& own, Detection& out,
                       Outbox& box);

}  // namespace culprit::replay
