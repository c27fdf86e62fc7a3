// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Grids and graphs, of which each process recorded its own place, become one for all. Programs may
// arrange the same processes in the same way again and again: equal ones are kept once, and of each
// kind not more than kMostTopologies.
#pragma once

#include <vector>

#include "assemble/run/comms/comms.h"

namespace culprit::assemble {

inline constexpr size_t kMostTopologies = 16;

std::vector<trace::Grid> unify_grids(const CommTable& comms, const std::vector<CommUser>& users);
std::vector<trace::Graph> unify_graphs(const CommTable& comms, const std::vector<CommUser>& users);

}  // namespace culprit::assemble
