// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All changes in one walk bring what each brings when it is executed by itself: of every picture,
// and of random programs.
#include "predict/rerun/lanes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "predict/rerun/share/measure_work.h"
#include "predict/rerun/what_if.h"
#include "tests/support/pictures.h"
#include "tests/support/text/text.h"
#include "tests/unit/blame/random_trace.h"

namespace culprit::predict {
namespace {

namespace fs = std::filesystem;

/// Looks at a run when all is known of it.
class Look : public blame::Observer {
 public:
  using AtEnd =
      std::function<void(const replay::Run&, const replay::WaitGraph&, const Dependences&)>;
  explicit Look(AtEnd at_end) : at_end_(std::move(at_end)) {}
  void at_operations(const replay::Run& run, const blame::Allowance&) override {
    found_ = find_dependences(run, 1);
  }
  void at_end(const replay::Run& run, const replay::WaitGraph& graph, blame::Findings&) override {
    at_end_(run, graph, found_);
  }

 private:
  const AtEnd at_end_;
  Dependences found_;
};

void look(const trace::Source& trace, const Look::AtEnd& at_end) {
  Look observer(at_end);
  blame::AnalyzeOptions options;
  options.threads = 1;
  options.observer = &observer;
  ASSERT_TRUE(blame::analyze(trace, options, {}).ok());
}

/// A second one of the same.
Outline outline_again(const replay::Run& run, const replay::WaitGraph& graph,
                      const Dependences& found) {
  Dependences copy;
  copy.unknowns = found.unknowns;
  for (const Mark& mark : found.marks) copy.marks.push_back(mark);
  for (const Hub& hub : found.hubs) copy.hubs.push_back(hub);
  for (const Holding& holding : found.holdings) copy.holdings.push_back(holding);
  for (const Idle& idle : found.idle) copy.idle.push_back(idle);
  for (const Last& last : found.lasts) copy.lasts.push_back(last);
  for (const Meeting& meeting : found.meetings) copy.meetings.push_back(meeting);
  copy.loops = found.loops;
  copy.pools = found.pools;
  copy.deliveries = found.deliveries;
  copy.locks = found.locks;
  copy.contended = found.contended;
  return outline_run(run, graph, std::move(copy), 1);
}

/// Code where somebody works, twice as fast and spread over all who do; a few of them.
std::vector<Alteration> all_alterations(const replay::Run& run, const EventGraph& graph) {
  constexpr size_t kMost = 12;
  std::vector<Alteration> list;
  for (size_t p = 0; p < run.callpaths.size() && list.size() + 4 <= kMost; ++p) {
    const CallPathId path(p);
    if (!is_code(run, path)) continue;
    std::vector<bool> paths(run.callpaths.size());
    paths[p] = true;
    Sharers sharers{{}, Over::ranks};
    for (LocationId id : run.locations) {
      if (!run.is_stream(id) && works_at(graph, id, paths)) sharers.members.push_back(id);
    }
    if (sharers.members.empty()) continue;
    list.push_back({{path}, Way::halved, {}, {}, true});
    for (const Over over : {Over::ranks, Over::threads, Over::all}) {
      if (list.size() == kMost) break;
      list.push_back({{path},
                      Way::balanced,
                      sharers_of(run, population_of(run), sharers.members, over),
                      {},
                      true});
    }
  }
  return list;
}

/// Each alone, and those together that are at different call paths.
std::vector<AlterationSet> sets_of(const Alterations& all) {
  std::vector<AlterationSet> sets{0};
  AlterationSet halved = 0, balanced = 0;
  for (size_t a = 0; a < all.size(); ++a) {
    const AlterationSet alone = AlterationSet{1} << a;
    sets.push_back(alone);
    if (all[a].way == Way::balanced && all[a].sharers.over != Over::ranks) continue;
    sets.push_back((all[a].way == Way::balanced ? balanced : halved) |= alone);
  }
  return sets;
}

/// True if there was anything to compare.
bool compare(const replay::Run& run, const replay::WaitGraph& graph, const Dependences& found,
             const std::string& name) {
  if (found.locks > 0) return false;  // another order of a lock's holders
  const Outline outline = outline_again(run, graph, found);
  const EventGraph steps = build_graph(outline_again(run, graph, found), 1);
  Alterations all(all_alterations(run, steps), run.callpaths.size(), run.timelines.size());
  Budget endless;
  measure(outline, 1, endless, all);
  const std::vector<AlterationSet> sets = sets_of(all);
  const auto lanes = execute_lanes(outline, all, sets, endless);
  size_t count = 0;
  for (const Column<Step>& of_location : steps.steps) count += of_location.size();
  for (size_t k = 0; k < sets.size(); ++k) {
    const OtherTimes times = times_with(all, sets[k], steps);
    Pace pace;
    for (const auto& other : times) pace.times.push_back(other.get());
    const Execution alone = execute(steps, pace, Keep::ends);
    EXPECT_EQ(lanes.has_value(), alone.forced == 0) << name;
    if (!lanes) return false;
    EXPECT_NEAR((*lanes)[k], static_cast<double>(alone.wall(steps).nanos()),
                static_cast<double>(count))
        << name << ", changes " << sets[k];
  }
  return sets.size() > 1;
}

class Lanes : public testing::TestWithParam<std::string> {};

TEST_P(Lanes, BringWhatEachExecutionBrings) {
  std::ifstream file(fs::path(PICTURES) / (GetParam() + ".txt"));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto picture = trace::TextTrace::parse(text);
  ASSERT_TRUE(picture.ok()) << picture.error().sentence;
  look(**picture, [&](const auto& run, const auto& graph, const Dependences& found) {
    compare(run, graph, found, GetParam());
  });
}

INSTANTIATE_TEST_SUITE_P(Pictures, Lanes, testing::ValuesIn(testing_support::all_pictures()),
                         [](const auto& info) { return info.param; });

TEST(RandomLanes, BringWhatEachExecutionBrings) {
  constexpr uint32_t kSeeds = 300;
  uint32_t compared = 0;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const auto trace = testing_support::RandomTrace::make(seed, {.no_ties = true});
    look(trace, [&](const auto& run, const auto& graph, const Dependences& found) {
      compared += compare(run, graph, found, "seed " + std::to_string(seed));
    });
  }
  EXPECT_GT(compared, kSeeds / 8);
}

}  // namespace
}  // namespace culprit::predict
