// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the measurement says of itself: its cost, its losses, and what the reader must know.
#pragma once

#include <string>
#include <vector>

#include "assemble/run/accounts.h"
#include "assemble/run/clock.h"
#include "assemble/run/processes.h"
#include "assemble/run_facts.h"

namespace culprit::assemble {

/// Adds to `facts` what the process folders and accounts (both by folder) tell.
void gather_facts(const std::vector<RawProcessFolder>& folders,
                  const std::vector<ProcessAccount>& accounts, const Processes& processes,
                  const Clock& clock, RunFacts& facts);

/// One sentence; empty if OpenMP was observed, as far as there was any.
std::string why_openmp_is_not_observed(const std::vector<RawProcessFolder>& folders);

}  // namespace culprit::assemble
