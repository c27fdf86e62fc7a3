// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which calls of one-sided communication may have needed their target's progress.
#pragma once

#include "replay/detect/detection.h"
#include "replay/match/rma_epochs.h"

namespace culprit::replay {

/// Returns the end of an access, whose target is between posting its window and waiting.
Assisted completes_with(const Run& run, const AccessEpoch& access, const ExposureEpoch& exposure,
                        ProcessId target);

/// Notes the locks, flushes and unlocks of one process, in which targets take no part. Thread-safe
/// for different boxes.
void note_busy_targets(const Run& run, ProcessId process, const RmaEpochs& own, Detection& out,
                       Outbox& box);

}  // namespace culprit::replay
