// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Executes a run again under many changes at once. Without contended locks, an execution consists
// of sums and maxima, and its order does not depend on the times: so a location's time is a row of
// times, one for each lane, and all lanes pass the same steps in one walk. (A lock is given to the
// first to request it, which may be a different location in each lane: execute.h handles these
// runs.)
#pragma once

#include <optional>
#include <vector>

#include "predict/rerun/alterations.h"

namespace culprit::predict {

inline constexpr size_t kMostLanes = 32;

/// How many nanoseconds the run takes in each lane, which makes some alterations. Nothing if the
/// run has contended locks or a circle: what comes first has to be decided in each lane by itself.
/// Where several ranks analyse the run, each walks its own locations, and the times at which they
/// come to hubs of other ranks travel (ranks/hub_messages.h). All get the same. Throws BudgetSpent,
/// on all ranks if on one. Collective.
std::optional<std::vector<double>> execute_lanes(const Outline& outline,
                                                 const Alterations& alterations,
                                                 const std::vector<AlterationSet>& lanes,
                                                 Budget& budget);

}  // namespace culprit::predict
