// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What projecting gains takes grows as the trace does, however its events are divided among ranks,
// threads, visits and tasks; and where it is given up, all else is there, and the run's notes say
// so. Steps are counted: no clock is looked at.
#include <gtest/gtest.h>

#include "predict/rerun/gains.h"
#include "tests/bench/generate/generate.h"

namespace culprit::predict {
namespace {

using blame::Findings;

/// Each call path is a function.
std::vector<std::vector<CallPathId>> functions_of(const Findings& findings) {
  std::vector<std::vector<CallPathId>> functions;
  for (size_t i = 0; i < findings.callpaths.size(); ++i) functions.push_back({CallPathId(i)});
  return functions;
}

/// Projects gains, and counts what that takes.
class Counter : public blame::Observer {
 public:
  void at_operations(const replay::Run& run, const blame::Allowance&) override {
    found_ = find_dependences(run, 1, &budget_);
    found_.budget = nullptr;
  }
  void at_end(const replay::Run& run, const replay::WaitGraph& graph, Findings& findings) override {
    project_gains(run, graph, std::move(found_), functions_of(findings), 1, budget_, findings);
    steps_an_event = static_cast<double>(budget_.made()) / static_cast<double>(run.events);
  }
  double steps_an_event = 0;

 private:
  Budget budget_;
  Dependences found_;
};

double steps_an_event(const bench::PatternKind& kind, bench::Shape shape) {
  Counter counter;
  blame::AnalyzeOptions options;
  options.threads = 1;
  options.observer = &counter;
  EXPECT_TRUE(blame::analyze(*bench::synthetic_trace(kind, shape), options, {}).ok());
  return counter.steps_an_event;
}

class Growth : public testing::TestWithParam<bench::PatternKind> {};

TEST_P(Growth, IsThatOfTheTrace) {
  constexpr bench::Shape kFew{.ranks = 4, .threads = 2, .iterations = 500, .seed = 3};
  bench::Shape many = kFew;
  many.iterations *= 8;
  const double few = steps_an_event(GetParam(), kFew), most = steps_an_event(GetParam(), many);
  EXPECT_LE(most, 1.5 * few + 1);
  EXPECT_LE(most, 20);
}

INSTANTIATE_TEST_SUITE_P(Patterns, Growth,
                         testing::ValuesIn(bench::pattern_kinds().begin(),
                                           bench::pattern_kinds().end()),
                         [](const auto& each) { return std::string(each.param.name); });

Findings analyzed(const trace::Source& trace, double allowance) {
  GainObserver observer(1, functions_of);
  blame::AnalyzeOptions options;
  options.threads = 1;
  options.observer = &observer;
  options.allowance = allowance;
  auto found = blame::analyze(trace, options, {});
  EXPECT_TRUE(found.ok());
  return std::move(*found);
}

TEST(GivenUp, IsSaidAndLeavesAllElse) {
  const auto trace = bench::synthetic_trace(
      *bench::find_pattern("stencil"), {.ranks = 6, .threads = 3, .iterations = 2000, .seed = 5});
  const Findings whole = analyzed(*trace, 1), less = analyzed(*trace, 0);
  EXPECT_TRUE(whole.run.notes.empty());
  EXPECT_FALSE(whole.gains.empty());
  EXPECT_FALSE(whole.victims.empty());
  EXPECT_TRUE(less.gains.empty());
  EXPECT_TRUE(less.victims.empty());
  EXPECT_TRUE(less.instances.empty());
  EXPECT_TRUE(less.distributions.empty());
  EXPECT_EQ(less.run.notes.size(), 2u);  // of explanations, and of gains
  EXPECT_EQ(less.waits.size(), whole.waits.size());
  EXPECT_EQ(less.delays.size(), whole.delays.size());
  EXPECT_EQ(less.efficiencies.size(), whole.efficiencies.size());
  EXPECT_TRUE(less.identities.violations.empty());
}

}  // namespace
}  // namespace culprit::predict
