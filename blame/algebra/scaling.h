// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What imperfect scaling costs, by call path: allocated time of runs with more processors, less
// what it would be if the program scaled perfectly. In strong scaling the work is the same, so that
// is the allocated time of the smaller runs; in weak scaling the work is in proportion to
// processors, and so is that time. (C. Coarfa, J. Mellor-Crummey, N. Froyd, Y. Dotsenko:
// Scalability analysis of SPMD codes using expectations, ICS 2007, sections 2.1 and 2.2, where it
// is a loss by calling context, too.)
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

/// Adds the table to `found`, which is the difference of the same runs and has their call paths.
/// Error, in a sentence, if the programs differ, the runs after do not have more threads, or a run
/// is incomplete.
Result<void> add_scaling_losses(std::span<const Findings* const> before,
                                std::span<const Findings* const> after, Scaling scaling,
                                Findings& found);

}  // namespace culprit::blame
