// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the measurement says of itself: its cost, its losses, and what the reader must know; kept in
// experiment.json under "measured", beside what the command line keeps there.
#pragma once

#include <filesystem>
#include <vector>

#include "assemble/assemble.h"
#include "assemble/run/accounts.h"
#include "assemble/run/clock.h"
#include "assemble/run/processes.h"

namespace culprit::assemble {

/// Adds to `facts` what the process folders and accounts (both by folder) tell.
void account(const std::vector<RawProcessFolder>& folders,
             const std::vector<ProcessAccount>& accounts, const Processes& processes,
             const Clock& clock, RunFacts& facts);

/// One sentence; empty if OpenMP was observed, as far as there was any.
std::string why_openmp_is_not_observed(const std::vector<RawProcessFolder>& folders);

}  // namespace culprit::assemble
