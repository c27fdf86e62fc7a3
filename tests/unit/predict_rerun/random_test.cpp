// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Random programs of all models: executed again with nothing changed, they take as long as they
// took, and no change makes what is off the path matter.
#include <gtest/gtest.h>

#include <cmath>

#include "predict/rerun/what_if.h"
#include "tests/unit/blame/random_trace.h"

namespace culprit::predict {
namespace {

using testing_support::RandomTrace;

constexpr uint32_t kSeeds = 400;

void for_each_graph(
    const std::function<void(uint32_t, const replay::Run&, const EventGraph&)>& look) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const RandomTrace trace = RandomTrace::make(seed, {.no_ties = true});
    GraphObserver observer(
        1, [&](const replay::Run& run, const EventGraph& graph, auto&) { look(seed, run, graph); });
    blame::AnalyzeOptions options;
    options.threads = 1;
    options.observer = &observer;
    ASSERT_TRUE(blame::analyze(trace, options, {}).ok());
  }
}

TEST(RandomRun, TakesAsLongAsItTook) {
  for_each_graph([&](uint32_t seed, const replay::Run& run, const EventGraph& graph) {
    Pace pace;
    pace.locks = best_lock_order(graph);
    const Execution again = execute(graph, pace, Keep::ends);
    EXPECT_EQ(again.forced, 0u) << "seed " << seed;
    const double took = run.wall().seconds(), takes = again.wall(graph).seconds();
    EXPECT_NEAR(takes, took, 1e-3 * took) << "seed " << seed;
  });
}

TEST(RandomRun, NeverGetsLongerByFasterCode) {
  for_each_graph([](uint32_t seed, const replay::Run& run, const EventGraph& graph) {
    if (graph.locks > 0) return;  // another order of a lock's holders may be a worse one
    const std::vector<double> faster(run.callpaths.size(), 0.5);
    Pace pace;
    pace.factors.assign(run.timelines.size(), &faster);
    const Execution all = execute(graph, pace, Keep::ends);
    EXPECT_LE(all.end, execute(graph, {}, Keep::ends).end) << "seed " << seed;
  });
}

}  // namespace
}  // namespace culprit::predict
