// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much shorter the run would be without the delays that it is blamed for: the costliest call
// paths are balanced, or made faster where only one location executes them, each by itself and all
// up to it together, and the run is executed again. A delay's cost says how much waiting it causes;
// this says what is gained, which is less where the next delay is already waiting behind it.
#pragma once

#include "blame/findings/findings.h"
#include "predict/rerun/event_graph.h"

namespace culprit::predict {

/// Fills Findings::gains, by cost. What stands for code alone: calls of MPI and barriers are
/// nobody's.
void project_gains(const replay::Run& run, const EventGraph& graph, blame::Findings& findings,
                   unsigned threads);

/// Of runs with more events the graph is not built beside the analysis: it takes about a hundred
/// bytes an event. culprit whatif does it on request.
inline constexpr uint64_t kMostEvents = 20'000'000;

}  // namespace culprit::predict
