// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The last step of reading: activities of every location tile the run, by the run's call paths.
#pragma once

#include "replay/model/run.h"
#include "replay/read/join_call_paths.h"

namespace culprit::replay {

/// Settles when the run begins and ends, and fills each location's life. Collective.
void fill_lives(Run& run, const PathMaps& maps, unsigned threads);

}  // namespace culprit::replay
