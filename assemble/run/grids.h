// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Cartesian communicators of which each process told its own place become one arrangement for all.
#pragma once

#include <vector>

#include "assemble/run/comms.h"

namespace culprit::assemble {

/// Programs may arrange the same processes in the same way again and again: equal ones once, and
/// not more than kMostGrids.
std::vector<trace::Grid> unify_grids(const CommTable& comms, const std::vector<CommUser>& users);

inline constexpr size_t kMostGrids = 16;

}  // namespace culprit::assemble
