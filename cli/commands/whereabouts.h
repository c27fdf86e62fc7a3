// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where each thread of a run is, in lines for a reader, and since when none of them went on.
#pragma once

#include <string>

#include "assemble/run_facts.h"

namespace culprit::cli {

/// Seconds since the last sign that anybody went on; 0 if somebody computes.
double idle_seconds(const assemble::RunState& state);

/// A line for each, or for several that are at the same place; each ends with a line feed.
std::string whereabouts_lines(const assemble::RunState& state);

}  // namespace culprit::cli
