// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Excess vectors that are shared say what those say that are written out: of each wait at each call
// path to the nanosecond, and costs but for the last digits.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "blame/delay/analyze_delays.h"
#include "blame/delay/excess.h"
#include "replay/model/run.h"
#include "tests/unit/blame/random_trace.h"

namespace culprit::blame {
namespace {

using testing_support::RandomTrace;

struct Analyzed {
  explicit Analyzed(const RandomTrace& trace, const ShareExcess& share)
      : run(std::move(replay::read_run(trace, alone, 1)).value()),
        graph(replay::detect_waits(run, 1)) {
    std::vector<PathTimes> times(run.timelines.size());
    PathSums scratch(run.callpaths.size());
    for (LocationId id : run.locations) {
      times[id.index()] = PathTimes(run, id, graph.waits[id.index()], scratch);
    }
    delays = analyze_delays(run, graph, times, 1, share);
  }

  Alone alone;
  replay::Run run;
  replay::WaitGraph graph;
  DelayAnalysis delays;
};

using Vector = std::map<CallPathId, int64_t>;

std::vector<Vector> vectors(const Analyzed& a, LocationId late) {
  std::vector<CallPathId> paths;
  for (size_t path = 0; path < a.run.callpaths.size(); ++path) paths.push_back(CallPathId(path));
  ExcessReader reader(a.run, a.graph, a.delays, late, paths);
  std::vector<Vector> all;
  for (uint32_t place = 0; place < a.delays.caused[late.index()].size(); ++place) {
    const CausedWait& cause = a.delays.caused[late.index()][place];
    Vector& vector = all.emplace_back();
    int64_t sum = 0;
    reader.visit(place, cause, [&](CallPathId path, Duration time) {
      vector[path] += time.nanos();
      sum += time.nanos();
    });
    EXPECT_EQ(sum, cause.late.excess.nanos());
  }
  return all;
}

using Costs = std::map<std::tuple<LocationId, CallPathId, replay::Pattern>, DelayCost>;

Costs costs_of(const DelayAnalysis& delays) {
  Costs costs;
  for (const DelayCost& row : delays.costs) costs[{row.location, row.path, row.pattern}] = row;
  return costs;
}

void expect_same_costs(const DelayAnalysis& a, const DelayAnalysis& b) {
  Costs one = costs_of(a), other = costs_of(b);
  for (const auto& [key, row] : costs_of(a)) other.try_emplace(key);
  for (const auto& [key, row] : other) {
    const double slack = 2e-12 + 1e-9 * (row.short_s + row.long_s);
    EXPECT_NEAR(row.short_s, one[key].short_s, slack);
    EXPECT_NEAR(row.long_s, one[key].long_s, slack);
  }
}

TEST(SharedExcess, IsTheSameAsWrittenOut) {
  size_t shared = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const RandomTrace trace = RandomTrace::make(seed, {.no_ties = seed % 2 == 0});
    const Analyzed a(trace, {.activities = SIZE_MAX});
    const Analyzed b(trace, {.activities = 1, .written = 0});
    for (LocationId late : a.run.locations) {
      EXPECT_TRUE(a.delays.shared[late.index()].empty());
      shared += b.delays.shared[late.index()].size();
      EXPECT_EQ(vectors(a, late), vectors(b, late)) << "seed " << seed;
    }
    expect_same_costs(a.delays, b.delays);
  }
  EXPECT_GT(shared, 1000u);
}

}  // namespace
}  // namespace culprit::blame
