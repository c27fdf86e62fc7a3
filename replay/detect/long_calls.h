// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which MPI calls took long, and how many bytes they moved: the summary that remains of operations
// after detectors have used them up, for the audit (blame/audit/).
#pragma once

#include "replay/model/waits.h"

namespace culprit::replay {

/// Returns the long calls of one location. Operations whose duration does not follow from size or
/// members (new communicators and windows) have no row.
Column<LongCall> long_calls_of(const Run& run, LocationId id);

}  // namespace culprit::replay
