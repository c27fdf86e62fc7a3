// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much shorter the run would be without the delays that it is blamed for: the costliest call
// paths are balanced, or made faster where they cannot be, each by itself and all up to it
// together, and the run is executed again; likewise the costliest functions. A delay's cost says
// how much waiting it causes; this says what is gained, which is less where the next delay is
// already waiting behind it. So call paths that cost nothing are tried, too, where they are uneven.
#pragma once

#include <vector>

#include "blame/findings/findings.h"
#include "predict/rerun/event_graph.h"

namespace culprit::predict {

/// Fills Findings::gains and function_gains, by cost; `functions` are the call paths at which each
/// is to blame. What stands for code alone: calls of MPI and barriers are nobody's. Nothing of a
/// run that lacks events, ended early or hung: whatever was missing might have been waited for.
void project_gains(const replay::Run& run, const EventGraph& graph,
                   const std::vector<std::vector<CallPathId>>& functions, unsigned threads,
                   blame::Findings& findings);

/// Of runs with more events the graph is not built beside the analysis: it takes about a hundred
/// bytes an event. culprit whatif does it on request.
inline constexpr uint64_t kMostEvents = 20'000'000;

}  // namespace culprit::predict
