// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Spare threads. Libraries make pools of threads, which sleep until there is work; much of it never
// comes. Sleep of one of the program's own threads is spare where nobody needs the thread: nobody
// waits for it, and its pool does not need as many threads as would then be awake. Spare time is
// nobody's: it is not part of the thread's life, and no wait for whoever ends it, as if the thread
// were made only then (decision 0040).
#pragma once

#include <vector>

#include "replay/model/waits.h"

namespace culprit::replay {

/// Takes the spare time out of lives and waits, and lists it in WaitGraph::spares. Returns the
/// locations whose waits have to be measured again. Collective.
std::vector<LocationId> set_spare_time_aside(Run& run, WaitGraph& graph);

}  // namespace culprit::replay
