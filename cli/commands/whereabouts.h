// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where each thread of a run is, as lines of text, and how long none has made progress.
#pragma once

#include <string>

#include "assemble/run_facts.h"

namespace culprit::cli {

/// Returns the seconds since the last sign of progress; 0 if a thread computes.
double idle_seconds(const assemble::RunState& state);

/// A line for each, or for several that are at the same place; each ends with a line feed.
std::string whereabouts_lines(const assemble::RunState& state);

}  // namespace culprit::cli
