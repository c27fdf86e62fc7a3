// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Repairs a run's times where clocks contradict happened-before relations (repair.h).
//
// Clocks belong to nodes: processes of a node are taken to share one, and are corrected alike. Only
// if that leaves contradictions each process gets its own: some writers compare each process's
// clock with the first's and leave small differences inside a node. culprit's own traces do have
// one clock per node: contradictions inside a node mean damaged data there, not a wrong clock.
// Threads of a process always share one.
#pragma once

#include "replay/model/run.h"

namespace culprit::replay {

/// Changes all times of the run's timelines, and counts this in its losses. Returns false if there
/// was nothing to repair, or repair was impossible. Timelines must still have their operations.
/// Collective; all ranks get the same result.
bool repair_run(Run& run, unsigned threads);

}  // namespace culprit::replay
