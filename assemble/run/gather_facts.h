// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The measurement's facts about itself: its cost, its losses, and notes for the reader.
#pragma once

#include <string>
#include <vector>

#include "assemble/run/accounts.h"
#include "assemble/run/clock.h"
#include "assemble/run/processes.h"
#include "assemble/run_facts.h"

namespace culprit::assemble {

/// What was run, and on what.
void describe_program(const std::vector<RawProcessFolder>& folders, const Processes& processes,
                      RunFacts& facts);

/// Adds the facts of the process folders and accounts (both by folder) to `facts`.
void gather_facts(const std::vector<RawProcessFolder>& folders,
                  const std::vector<ProcessAccount>& accounts, const Processes& processes,
                  const Clock& clock, RunFacts& facts);

/// One sentence; empty if OpenMP was observed, as far as there was any.
std::string why_openmp_is_not_observed(const std::vector<RawProcessFolder>& folders);

/// Says of processes that ended early which was the first. `sentence`: on that; may be empty.
void name_early_end(const std::string& sentence, Losses& losses);

}  // namespace culprit::assemble
