// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Joins the call paths of a run into one tree: those of each location, with teams' threads below
// the forks of their masters and streams' operations below the calls that launched them. Several
// ranks join all of theirs, numbered as by a single rank.
#pragma once

#include <vector>

#include "replay/model/run.h"
#include "replay/read/timeline_builder.h"

namespace culprit::replay {

/// By LocationId, in the order of their tree's anchors.
using AnchorLists = std::vector<std::vector<Anchor>>;
/// By LocationId, by path of its own tree: the run's.
using PathMaps = std::vector<std::vector<CallPathId>>;

/// Fills run.callpaths, the artificial paths, run.polls, and the paths of streams' operations.
/// Collective.
PathMaps join_call_paths(Run& run, const AnchorLists& anchors);

}  // namespace culprit::replay
