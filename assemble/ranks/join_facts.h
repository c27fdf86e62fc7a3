// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Small facts that analysis ranks find about their own processes, and that belong to the run. All
// functions are collective, and do nothing where there is one rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assemble/play/line_counts.h"
#include "base/ids.h"
#include "base/losses.h"
#include "base/ranks/transport.h"

namespace culprit::assemble {

/// Adds up what all ranks have lost.
void join_losses(Transport& ranks, Losses& losses);
/// The sentences of all ranks, each once.
void join_notes(Transport& ranks, std::vector<std::string>& notes);
/// Adds up the samples of all ranks on the first.
void join_lines(Transport& ranks, SampledLines& lines);
/// The numbers of all ranks, each of which knows those of its own locations: the others are 0.
void join_counts(Transport& ranks, std::vector<uint64_t>& counts);
/// What the first rank knows.
void take_from_first(Transport& ranks, std::map<LocationId, LocationId>& awaited);

}  // namespace culprit::assemble
