// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which calls of MPI took long, and how much they had to move: what is left of operations once
// detectors have used them up, for the audit (blame/audit/).
#pragma once

#include "replay/model/waits.h"

namespace culprit::replay {

/// Of one location. Operations of which the size or the members say nothing of the time that they
/// may take (new communicators and windows) have no row.
Column<LongCall> long_calls_of(const Run& run, LocationId id);

}  // namespace culprit::replay
