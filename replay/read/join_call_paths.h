// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One tree of call paths for the run: each location's own, those of teams' threads under the forks
// of their masters, streams' operations under the calls that launched them, and of several ranks
// all of them, numbered as one rank alone would.
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
