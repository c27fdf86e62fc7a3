// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Do the verifiers see what is broken? Each promise is broken once, on a trace of which all hold.
// And a pass that is left out leaves out what it finds, and says so.
#include "blame/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "blame/analyze.h"
#include "random_trace.h"

namespace culprit::blame {
namespace {

using replay::Wait;
using testing_support::RandomTrace;

bool tell(const std::vector<std::string>& sentences, std::string_view what) {
  return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) {
    return sentence.find(what) != std::string::npos;
  });
}

class Verify : public testing::Test {
 protected:
  Verify() : run(std::move(replay::read_run(trace, alone, 1)).value()) {
    graph = replay::detect_waits(run, 1);
    for (const LocationId id : run.locations) {
      if (graph.waits[id.index()].size() > graph.waits[busiest.index()].size()) busiest = id;
    }
  }

  /// What is said of waits of which one is changed, which was sound.
  std::vector<std::string> after(const std::function<void(Wait&)>& change) {
    Wait& wait = graph.waits[busiest.index()][1];
    const Wait sound = wait;
    change(wait);
    auto sentences = verify_waits(run, graph);
    wait = sound;
    return sentences;
  }

  const RandomTrace trace = RandomTrace::make(3);
  Alone alone;
  replay::Run run;
  replay::WaitGraph graph;
  LocationId busiest{0};
};

TEST_F(Verify, WaitsKeepTheirPromises) {
  ASSERT_GT(graph.waits[busiest.index()].size(), 2u);
  EXPECT_EQ(verify_waits(run, graph), std::vector<std::string>());
  EXPECT_TRUE(tell(after([&](Wait& wait) { wait.cause = busiest; }), "waits for itself"));
  EXPECT_TRUE(tell(after([](Wait& wait) { wait.cause = LocationId(99'999); }), "for nobody"));
  EXPECT_TRUE(tell(after([](Wait& wait) { wait.end = wait.begin; }), "ends before it begins"));
  EXPECT_TRUE(tell(after([](Wait& wait) { wait.amount = Duration::zero(); }), "is no time"));
  EXPECT_TRUE(tell(after([](Wait& wait) { wait.activity = 1u << 30; }), "not in the activity"));
  EXPECT_TRUE(tell(after([&](Wait& wait) { wait.end = run.end + Duration::from_nanos(1); }),
                   "outside of the run"));
  EXPECT_TRUE(tell(after([&](Wait& wait) { wait = graph.waits[busiest.index()][0]; }), "overlap"));
  graph.syncs[busiest.index()].push_back(replay::Sync::with(LocationId(99'999), run.begin));
  const auto sentences = verify_waits(run, graph);
  EXPECT_TRUE(tell(sentences, "with nobody"));
  EXPECT_TRUE(tell(sentences, "not in order"));
}

TEST_F(Verify, TimelinesKeepTheirPromises) {
  EXPECT_EQ(verify_timelines(run), std::vector<std::string>());
  replay::Activities& life = run.at(busiest).activities;
  ASSERT_GT(life.size(), 2u);
  life.set_path(1, CallPathId::none());
  life.set_begin(0, run.begin + Duration::from_nanos(1));
  life.set_begin(2, run.begin);
  const auto sentences = verify_timelines(run);
  EXPECT_TRUE(tell(sentences, "at no call path"));
  EXPECT_TRUE(tell(sentences, "do not fill the run"));
  EXPECT_TRUE(tell(sentences, "ends before it begins"));
}

TEST_F(Verify, TheCriticalPathKeepsItsPromises) {
  CriticalPath path = find_critical_path(run, graph, 1);
  EXPECT_EQ(verify_path(run, path), std::vector<std::string>());
  ASSERT_GT(path.segments.size(), 1u);
  path.segments[1].begin = path.segments[1].begin + Duration::from_nanos(1);
  EXPECT_TRUE(tell(verify_path(run, path), "has a gap"));
  path.segments.pop_back();
  EXPECT_TRUE(tell(verify_path(run, path), "does not reach the run's end"));
}

TEST_F(Verify, DelaysKeepTheirPromises) {
  DelayAnalysis delays;
  delays.costs.push_back({busiest, CallPathId(0), replay::Pattern{}, 1, 0});
  EXPECT_EQ(verify_delays(run, delays), std::vector<std::string>());
  delays.costs.push_back({busiest, CallPathId(0), replay::Pattern{}, -1, 0});
  EXPECT_TRUE(tell(verify_delays(run, delays), "costs less than nothing"));
}

TEST(DisabledPasses, LeaveOutWhatTheyFindAndSaySo) {
  const RandomTrace trace = RandomTrace::make(3);
  const auto whole = analyze(trace, {.threads = 1}, {});
  ASSERT_TRUE(whole.ok());
  AnalyzeOptions options{.threads = 1};
  EXPECT_FALSE(disable(options.disabled, "detect.nothing"));
  for (const PassText& pass : optional_passes()) EXPECT_TRUE(disable(options.disabled, pass.name));
  const auto none = analyze(trace, options, {});
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(whole.value().waits.empty());
  EXPECT_TRUE(none.value().waits.empty());
  EXPECT_TRUE(whole.value().run.notes.empty());
  ASSERT_EQ(none.value().run.notes.size(), 1u);
  EXPECT_NE(none.value().run.notes[0].find("detect.openmp, "), std::string::npos);
}

TEST(DisabledPasses, LeaveTheRest) {
  const RandomTrace trace = RandomTrace::make(3);
  const auto whole = analyze(trace, {.threads = 1}, {});
  AnalyzeOptions options{.threads = 1};
  ASSERT_TRUE(disable(options.disabled, "instances"));
  const auto rest = analyze(trace, options, {});
  ASSERT_TRUE(whole.ok() && rest.ok());
  EXPECT_EQ(rest.value().waits.size(), whole.value().waits.size());
  EXPECT_TRUE(rest.value().instances.empty());
  EXPECT_FALSE(whole.value().instances.empty());
}

}  // namespace
}  // namespace culprit::blame
