// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Repairs a run's times where clocks contradict what must have come before what (repair.h).
//
// Clocks belong to nodes: processes of a node are taken to share one, and are corrected alike. Only
// if that leaves contradictions each process gets its own: some writers compare each process's
// clock with the first's and leave small differences inside a node. culprit's own traces have one
// clock a node indeed: what contradicts itself there is damaged, and no clock is to blame. Threads
// of a process always share one.
#pragma once

#include "replay/model/run.h"

namespace culprit::replay {

/// Changes all times of the run's timelines, and tells so in its losses. Returns false if there was
/// nothing to repair, or nothing could be. Timelines must still have their operations. Collective;
/// all ranks come to the same.
bool repair_run(Run& run, unsigned threads);

}  // namespace culprit::replay
