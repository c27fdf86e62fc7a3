// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs that must be executed as a whole, since contended locks make the order depend on the times:
// the first rank gets the steps of all locations, as far as it can hold them.
#pragma once

#include <optional>
#include <vector>

#include "predict/rerun/alterations.h"

namespace culprit::predict {

struct WholeGraph {
  EventGraph graph;
  /// By set of alterations, if there are several ranks: only they know what their locations share.
  std::vector<OtherTimes> times;
};

/// Nothing on other ranks than the first. Throws BudgetSpent on all ranks if there are too many
/// steps for one. Collective.
std::optional<WholeGraph> gather_graph(Outline outline, const Alterations& all,
                                       const std::vector<AlterationSet>& sets, unsigned threads);

}  // namespace culprit::predict
