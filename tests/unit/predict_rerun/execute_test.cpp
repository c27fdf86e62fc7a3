// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run that is executed again with nothing changed is the run: of every picture.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "predict/rerun/retimed_source.h"
#include "predict/rerun/what_if.h"
#include "tests/support/pictures.h"
#include "tests/support/text/text.h"

namespace culprit::predict {
namespace {

namespace fs = std::filesystem;

bool is_nothing(const replay::Run& run, CallPathId path) {
  return path == run.ended || path == run.idle || path == run.not_started ||
         path == run.device_idle || path == run.stream_idle;
}

class Unchanged : public testing::TestWithParam<std::string> {};

TEST_P(Unchanged, TakesAsLongAsItTook) {
  std::ifstream file(fs::path(PICTURES) / (GetParam() + ".txt"));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto picture = trace::TextTrace::parse(text);
  ASSERT_TRUE(picture.ok()) << picture.error().sentence;
  bool executed = false;
  GraphObserver observer(1, [&](const replay::Run& run, const EventGraph& graph, auto&) {
    executed = true;
    Pace pace;
    pace.locks = best_lock_order(graph);
    const Execution again = execute(graph, pace, Keep::breakpoints);
    EXPECT_EQ(again.forced, 0u);
    EXPECT_NEAR(again.wall(graph).seconds(), run.wall().seconds(), 1e-3 * run.wall().seconds());
    // Between tests that find nothing, and between tasks that a thread finds in a barrier, work may
    // move together: what the runtime does meanwhile is not told from waiting. A thread that nobody
    // needs at first may begin to wait at once.
    if (pace.locks == LockOrder::recorded || GetParam().starts_with("polling") ||
        GetParam() == "progress_tested" || GetParam().starts_with("tasks_") ||
        GetParam() == "spare_all_but_one")
      return;
    // And all that somebody does begins when it did.
    for (LocationId id : run.locations) {
      const replay::Activities& life = run.at(id).activities;
      for (size_t i = 0; i < life.size(); ++i) {
        const CallPathId path = life.path(i);
        if (is_nothing(run, path)) continue;
        const Time begin = life.begin(i), now = retimed(again.breakpoints[id.index()], begin);
        EXPECT_NEAR((now - run.begin).seconds(), (begin - run.begin).seconds(),
                    1e-3 * run.wall().seconds())
            << "location " << id.index() << " at " << run.callpaths.name(path, run.regions);
      }
    }
  });
  blame::AnalyzeOptions options;
  options.threads = 1;
  options.observer = &observer;
  ASSERT_TRUE(blame::analyze(**picture, options, {}).ok());
  EXPECT_TRUE(executed);
}

INSTANTIATE_TEST_SUITE_P(Pictures, Unchanged, testing::ValuesIn(testing_support::all_pictures()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace culprit::predict
