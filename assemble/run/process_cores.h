// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which cores each process had, and how long its threads had none: the collector's readings from
// the system (collector/recorder/core_use.h), put together by node.
#pragma once

#include <vector>

#include "assemble/run/processes.h"
#include "assemble/run_facts.h"

namespace culprit::assemble {

/// One row for each process that left records, in order of process.
std::vector<ProcessCores> cores_of(const std::vector<RawProcessFolder>& folders,
                                   const Processes& processes);

}  // namespace culprit::assemble
