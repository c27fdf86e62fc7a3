// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings that are small enough to add up by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "blame/algebra/combine.h"
#include "blame/algebra/compare.h"
#include "blame/algebra/cut.h"
#include "blame/algebra/integrate.h"
#include "blame/algebra/scaling.h"

namespace culprit::blame {
namespace {

FoundCallPath path(const char* name, const char* region, size_t parent, uint32_t line) {
  return {name,  region, "a.c", line, parent == SIZE_MAX ? CallPathId() : CallPathId(parent),
          false, "user"};
}

/// main, with a region at `line` and one ten lines later, and a receive.
Findings run(uint32_t line, double scale) {
  Findings f;
  const std::string first = "!$omp parallel @a.c:" + std::to_string(line);
  const std::string second = "!$omp parallel @a.c:" + std::to_string(line + 10);
  f.run.wall_s = 4 * scale;
  f.run.allocation_s = 8 * scale;
  f.run.ranks = 2;
  f.locations = {{"0.0", 0, 0, "n", 4 * scale, 0, ""},
                 {"1.0", 1, 0, "n", 4 * scale, 1 * scale, ""}};
  f.callpaths = {path("main", "main", SIZE_MAX, 1),
                 path(("main/" + first).c_str(), first.c_str(), 0, line),
                 path(("main/" + second).c_str(), second.c_str(), 0, line + 10),
                 path("main/MPI_Recv", "MPI_Recv", 0, 0)};
  f.profile = {{CallPathId(1), LocationId(0), 3, 3 * scale, 0, 0},
               {CallPathId(2), LocationId(0), 5, 1 * scale, 0, 0},
               {CallPathId(1), LocationId(1), 3, 3 * scale, 0, 0},
               {CallPathId(3), LocationId(1), 1, 1 * scale, 0, 0}};
  f.waits = {{"mpi.late_sender", CallPathId(3), LocationId(1), 1, 1 * scale, 0, 0}};
  f.delays = {{"mpi.late_sender", CallPathId(2), LocationId(0), 1 * scale, 0}};
  f.critical_path = {{CallPathId(1), LocationId(0), 3 * scale},
                     {CallPathId(2), LocationId(0), 1 * scale}};
  f.efficiencies = {{Factor::parallel, Factor::none, 0.5 * scale}};
  f.identities.waiting_s = 1 * scale;
  f.identities.delay_costs_s = 1 * scale;
  return f;
}

TEST(Integrate, MatchesConstructsThatMoved) {
  const Findings a = run(10, 1), b = run(15, 1);
  const Findings* inputs[] = {&a, &b};
  const CommonGround ground = integrate(inputs);
  EXPECT_EQ(ground.callpaths.size(), 4u);
  EXPECT_EQ(ground.locations.size(), 2u);
  EXPECT_EQ(ground.inputs[1].callpaths[1], CallPathId(1));
  EXPECT_EQ(ground.inputs[1].callpaths[2], CallPathId(2));
  EXPECT_EQ(ground.callpaths[1].name, "main/!$omp parallel @a.c:10");
}

TEST(Integrate, PrefersTheSameLine) {
  const Findings a = run(10, 1), b = run(20, 1);  // 10 and 20; 20 and 30
  const Findings* inputs[] = {&a, &b};
  const CommonGround ground = integrate(inputs);
  EXPECT_EQ(ground.inputs[1].callpaths[1], CallPathId(2));  // 20 is 20
  EXPECT_EQ(ground.inputs[1].callpaths[2], CallPathId(1));  // 30 is what is left
}

TEST(Integrate, KeepsWhatOnlyOneHas) {
  Findings a = run(10, 1), b = run(10, 1);
  b.callpaths.push_back(path("main/new", "new", 0, 50));
  b.locations.push_back({"2.0", 2, 0, "n", 1, 0, ""});
  const Findings* inputs[] = {&a, &b};
  const CommonGround ground = integrate(inputs);
  EXPECT_EQ(ground.callpaths.back().name, "main/new");
  EXPECT_EQ(ground.inputs[1].locations[2], LocationId(2));
}

TEST(Combine, MeanOfEquals) {
  const Findings a = run(10, 1), b = run(15, 3);
  const Findings* inputs[] = {&a, &b};
  const Findings mean = mean_of(inputs);
  EXPECT_DOUBLE_EQ(mean.run.wall_s, 8);
  EXPECT_DOUBLE_EQ(mean.identities.waiting_s, 2);
  ASSERT_EQ(mean.waits.size(), 1u);
  EXPECT_DOUBLE_EQ(mean.waits[0].time_s, 2);
  EXPECT_EQ(mean.waits[0].count, 1u);
  ASSERT_EQ(mean.profile.size(), 4u);
  EXPECT_DOUBLE_EQ(mean.profile[0].time_s, 6);
  EXPECT_DOUBLE_EQ(mean.efficiencies[0].value, 1.0);
  EXPECT_DOUBLE_EQ(mean.locations[1].waiting_s, 2);
}

TEST(Combine, MeanIsRoundedOnce) {
  const Findings a = run(10, 1);
  for (size_t runs = 1; runs < 8; ++runs) {
    const std::vector<const Findings*> same(runs, &a);
    const Findings mean = mean_of(same);
    ASSERT_EQ(mean.profile.size(), a.profile.size());
    for (size_t i = 0; i < a.profile.size(); ++i) {
      EXPECT_EQ(mean.profile[i].visits, a.profile[i].visits) << "of " << runs;
      EXPECT_DOUBLE_EQ(mean.profile[i].time_s, a.profile[i].time_s) << "of " << runs;
    }
    EXPECT_EQ(mean.waits[0].count, 1u) << "of " << runs;
    EXPECT_DOUBLE_EQ(mean.run.wall_s, a.run.wall_s) << "of " << runs;
  }
  Findings b = a, c = a;
  b.profile[1].visits = 6, c.profile[1].visits = 8;  // after 5: 19 thirds
  const Findings* three[] = {&a, &b, &c};
  EXPECT_EQ(mean_of(three).profile[1].visits, 6u);
}

TEST(Combine, KeepsSayingThatSumsDoNotAddUp) {
  Findings a = run(10, 1), b = run(15, 3);
  b.identities.violations = {"the costs are 3 s short"};
  const Findings* inputs[] = {&a, &b};
  const std::vector<std::string> expected = {"in run 2 of 2: the costs are 3 s short"};
  EXPECT_EQ(mean_of(inputs).identities.violations, expected);
  const auto part = cut(b, {.roots = {"main"}, .drops = {}, .folded = {}});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->identities.violations, b.identities.violations);
}

TEST(Combine, DifferenceIsLinear) {
  const Findings a = run(10, 1), b = run(15, 3);
  const Findings* before[] = {&a};
  const Findings* after[] = {&b};
  const std::string names[] = {"a", "b"};
  const Findings change = difference(before, after, names);
  EXPECT_EQ(change.run.operation, Operation::diff);
  EXPECT_DOUBLE_EQ(change.run.wall_s, 8);
  EXPECT_DOUBLE_EQ(change.delays[0].short_s, 2);
  EXPECT_EQ(change.waits[0].count, 1u);  // that of the run after
  ASSERT_EQ(change.inputs.size(), 2u);
  EXPECT_EQ(change.inputs[1].role, InputRole::after);
  ASSERT_GE(change.changes.size(), 4u);
  EXPECT_EQ(change.changes[0].figure, ChangedFigure::wall);
  EXPECT_LT(change.changes[0].noise_s, 0);  // nobody can know
  EXPECT_FALSE(change.changes[0].exceeds_noise);
}

TEST(Combine, RanksAreArrangedAsAfter) {
  Findings a = run(10, 1), b = run(15, 3);
  a.topologies = {{"grid 0", TopologyKind::grid, "2,1", "0,0"}};
  b.topologies = {{"grid 0", TopologyKind::grid, "1,2", "0,0"}};
  b.topology_places = {{"grid 0", 1, "0,1", "", 0}};
  const Findings* inputs[] = {&a, &b};
  const Findings mean = mean_of(inputs);
  ASSERT_EQ(mean.topologies.size(), 1u);
  EXPECT_EQ(mean.topologies[0].sizes, "1,2");
  EXPECT_EQ(mean.topology_places.size(), 1u);
  a.run.ranks = 1;
  EXPECT_TRUE(mean_of(inputs).topologies.empty()) << "other numbers of ranks are other ranks";
}

TEST(Combine, MergeAddsCountersAlone) {
  Findings a = run(10, 1), b = run(15, 3);
  a.metrics = {{"cycles", "", false}};
  a.counts = {{MetricId(0), CallPathId(1), LocationId(0), 100, 1}};
  b.metrics = {{"misses", "", false}, {"cycles", "", false}};
  b.counts = {{MetricId(0), CallPathId(2), LocationId(0), 7, 1},
              {MetricId(1), CallPathId(2), LocationId(0), 999, 1}};
  const Findings* inputs[] = {&a, &b};
  const Findings both = merge(inputs);
  EXPECT_DOUBLE_EQ(both.run.wall_s, 4);
  EXPECT_DOUBLE_EQ(both.waits[0].time_s, 1);
  ASSERT_EQ(both.counts.size(), 2u);
  EXPECT_EQ(both.counts[0].value, 100);
  EXPECT_EQ(both.metrics[both.counts[1].metric.index()].name, "misses");
  EXPECT_EQ(both.counts[1].callpath, CallPathId(2));
}

TEST(Combine, MergeIsTheFirstRun) {
  Findings a = run(10, 1), b = run(15, 3);
  a.run.program = "first", b.run.program = "last";
  a.run.intervals = 2, b.run.intervals = 3;
  a.location_times = {{LocationId(0), 0, 2, 0, CallPathId(1)}};
  b.location_times = {{LocationId(0), 2, 5, 0, CallPathId(1)}};
  b.losses.add(LossKind::dropped_records);
  b.callpaths.push_back(path("main/unneeded", "unneeded", 0, 70));
  b.callpaths.push_back(path("main/new", "new", 0, 80));
  b.callpaths.push_back(path("main/new/kernel", "kernel", 5, 90));
  b.locations.push_back({"2.0", 2, 0, "n", 9, 0, ""});
  b.metrics = {{"misses", "", false}};
  b.counts = {{MetricId(0), CallPathId(6), LocationId(1), 7, 1}};
  const Findings* inputs[] = {&a, &b};
  const Findings both = merge(inputs);
  EXPECT_EQ(both.run.program, "first");
  EXPECT_EQ(both.run.intervals, 2u);
  ASSERT_EQ(both.location_times.size(), 1u);
  EXPECT_EQ(both.location_times[0].time_s, 2);
  EXPECT_DOUBLE_EQ(both.locations[0].life_s, 4);
  EXPECT_EQ(both.locations.size(), 2u);
  EXPECT_TRUE(both.losses.all().empty());
  ASSERT_EQ(both.callpaths.size(), 6u);  // what counters need, and no more
  ASSERT_EQ(both.counts.size(), 1u);
  const FoundCallPath& counted = both.callpaths[both.counts[0].callpath.index()];
  EXPECT_EQ(counted.name, "main/new/kernel");
  EXPECT_EQ(both.callpaths[counted.parent.index()].name, "main/new");
  EXPECT_EQ(both.callpaths[counted.parent.index()].parent, CallPathId(0));
}

TEST(Noise, IsWelchs) {
  const double a[] = {10, 12, 14}, b[] = {20, 20.5, 21};
  // Variances of means 4/3 and 1/12; 2.2490 degrees of freedom, whose quantile is 3.87686.
  EXPECT_NEAR(noise_of_difference(a, b), 3.87686 * std::sqrt(4.0 / 3 + 1.0 / 12), 1e-4);
  const double one[] = {10};
  EXPECT_LT(noise_of_difference(one, b), 0);
  const double same[] = {5, 5, 5};
  EXPECT_EQ(noise_of_difference(same, same), 0);
}

TEST(Change, OfFunctionsCountsThoseThatStayedTheSame) {
  Findings a = run(10, 1), b = run(10, 1);
  // The large delay stays; another one doubles, which is 1 % of all.
  a.delays = {{"mpi.late_sender", CallPathId(1), LocationId(0), 9.9, 0},
              {"mpi.late_sender", CallPathId(2), LocationId(0), 0.1, 0}};
  b.delays = a.delays;
  b.delays[1].short_s = 0.2;
  const Findings* before[] = {&a};
  const Findings* after[] = {&b};
  const FoundChange all = change_in(before, after, ChangedFigure::delay, "*");
  EXPECT_DOUBLE_EQ(all.before_s, 10);
  EXPECT_DOUBLE_EQ(all.after_s, 10.1);
  const FoundChange one = change_in(before, after, ChangedFigure::delay, "*a.c:20");
  EXPECT_DOUBLE_EQ(one.before_s, 0.1);
  EXPECT_DOUBLE_EQ(one.after_s, 0.2);
  EXPECT_DOUBLE_EQ(change_in(before, after, ChangedFigure::wall, "").before_s, 4);
}

TEST(Change, OfFunctionsTogetherHasItsOwnNoise) {
  // What one function gains another loses: each differs from run to run, their sum hardly does.
  Findings runs[4] = {run(10, 1), run(10, 1), run(10, 1), run(10, 1)};
  for (size_t i = 0; i < 4; ++i) {
    const double part = i % 2 == 0 ? 1 : 5, sum = i < 2 ? 10 : 11;
    runs[i].delays = {{"mpi.late_sender", CallPathId(1), LocationId(0), part, 0},
                      {"mpi.late_sender", CallPathId(2), LocationId(0), sum - part, 0}};
  }
  const Findings* before[] = {&runs[0], &runs[1]};
  const Findings* after[] = {&runs[2], &runs[3]};
  EXPECT_TRUE(change_in(before, after, ChangedFigure::delay, "*").exceeds_noise);
  EXPECT_FALSE(change_in(before, after, ChangedFigure::delay, "*:10").exceeds_noise);
}

TEST(Change, MovesOfLinesAreNone) {
  const Findings a = run(10, 1), b = run(15, 1);  // 10 and 20; 15 and 25
  const Findings* before[] = {&a};
  const Findings* after[] = {&b};
  const std::string names[] = {"a", "b"};
  const Findings found = difference(before, after, names);
  EXPECT_EQ(found.changes.size(), 3u) << found.changes.back().region;  // of the run as a whole
  // A condition may call it by its line before or after.
  for (const char* name : {"*a.c:20", "*a.c:25"}) {
    const FoundChange one = change_in(before, after, ChangedFigure::delay, name);
    EXPECT_DOUBLE_EQ(one.before_s, 1) << name;
    EXPECT_DOUBLE_EQ(one.after_s, 1) << name;
  }
}

TEST(Change, OfTheCriticalPathIsJudgedByTheLengthOfTheRun) {
  Findings a = run(10, 1);
  a.run.allocation_s = 1e6;  // of very many threads
  Findings b = a;
  b.critical_path[0].time_s += 0.1;
  const Findings* before[] = {&a};
  const Findings* after[] = {&b};
  const std::string names[] = {"a", "b"};
  const Findings found = difference(before, after, names);
  ASSERT_EQ(found.changes.size(), 4u);
  EXPECT_EQ(found.changes[3].figure, ChangedFigure::critical);
}

/// The difference of a run on 2 threads and one on 4, with what that lost.
Result<Findings> scaled(Findings before, Findings after, Scaling scaling) {
  before.run.program = after.run.program = "app";
  before.run.locations = 2;
  if (after.run.locations == 0) after.run.locations = 4;
  const Findings* a[] = {&before};
  const Findings* b[] = {&after};
  const std::string names[] = {"a", "b"};
  Findings found = difference(a, b, names);
  if (auto added = add_scaling_losses(a, b, scaling, found); !added) return added.error();
  return found;
}

TEST(Scaling, LossesAreToldByCallPath) {
  // Allocated: 8 s before, 24 s after on twice the threads. Weak: 16 s would be ideal.
  const auto weak = scaled(run(10, 1), run(10, 3), Scaling::weak);
  ASSERT_TRUE(weak);
  const auto& rows = weak->scaling_losses;
  EXPECT_FALSE(rows[0].callpath.valid());
  EXPECT_DOUBLE_EQ(rows[0].ideal_s, 16);
  EXPECT_DOUBLE_EQ(rows[0].after_s, 24);
  EXPECT_DOUBLE_EQ(rows[0].waiting_s, 3 - 2);
  EXPECT_LT(rows[0].noise_s, 0);  // nobody can know
  double sum = 0;
  for (size_t i = 1; i < rows.size(); ++i) sum += rows[i].after_s - rows[i].ideal_s;
  EXPECT_DOUBLE_EQ(sum, 8);
  EXPECT_EQ(rows[1].callpath, CallPathId(1));  // the first region: 6 s, then 18 s
  EXPECT_DOUBLE_EQ(rows[1].after_s - rows[1].ideal_s, 18 - 12);
  const auto strong = scaled(run(10, 1), run(10, 3), Scaling::strong);
  ASSERT_TRUE(strong);
  EXPECT_DOUBLE_EQ(strong->scaling_losses[0].ideal_s, 8);
  EXPECT_DOUBLE_EQ(strong->scaling_losses[1].after_s - strong->scaling_losses[1].ideal_s, 18 - 6);
}

TEST(Scaling, PerfectScalingLosesNothing) {
  for (const auto& [scale, scaling] : {std::pair(1.0, Scaling::strong), {2.0, Scaling::weak}}) {
    const auto found = scaled(run(10, 1), run(10, scale), scaling);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->scaling_losses.size(), 1u);
    EXPECT_DOUBLE_EQ(found->scaling_losses[0].after_s, found->scaling_losses[0].ideal_s);
  }
}

TEST(Scaling, IsRefusedWhereNothingScaled) {
  Findings same = run(10, 3);
  same.run.locations = 2;
  EXPECT_FALSE(scaled(run(10, 1), same, Scaling::weak));
  Findings damaged = run(10, 3);
  damaged.losses.add(LossKind::dropped_records);
  EXPECT_FALSE(scaled(run(10, 1), damaged, Scaling::weak));
}

TEST(Cut, TakesASubtree) {
  const auto part = cut(run(10, 1), {.roots = {"main/!$omp*:20"}, .drops = {}, .folded = {}});
  ASSERT_TRUE(part.ok());
  ASSERT_EQ(part->callpaths.size(), 1u);
  EXPECT_EQ(part->callpaths[0].name, "!$omp parallel @a.c:20");
  EXPECT_TRUE(part->waits.empty());
  ASSERT_EQ(part->delays.size(), 1u);
  EXPECT_DOUBLE_EQ(part->run.allocation_s, 1);
}

TEST(Cut, WhatIsKnownOverTimeIsCutToo) {
  Findings whole = run(10, 1);
  whole.run.intervals = 2;
  whole.location_times = {{LocationId(0), 0, 4, 1, CallPathId(1)},
                          {LocationId(0), 1, 4, 0, CallPathId(2)}};
  whole.callpath_times = {{LocationId(0), 0, CallPathId(1), 3, 0},
                          {LocationId(0), 0, CallPathId(3), 1, 1},
                          {LocationId(0), 1, CallPathId(2), 4, 0}};
  const auto part = cut(whole, {.roots = {}, .drops = {"main/!$omp*:10"}, .folded = {}});
  ASSERT_TRUE(part.ok());
  ASSERT_EQ(part->location_times.size(), 2u);
  EXPECT_DOUBLE_EQ(part->location_times[0].time_s, 1);
  EXPECT_DOUBLE_EQ(part->location_times[0].waiting_s, 1);
  EXPECT_EQ(part->callpaths[part->location_times[0].callpath.index()].region, "MPI_Recv");
  EXPECT_DOUBLE_EQ(part->location_times[1].time_s, 4);
}

TEST(Cut, StartUpIsThatOfWhatIsLeft) {
  Findings whole = run(10, 1);
  whole.callpaths.push_back(path("main/MPI_Init", "MPI_Init", 0, 0));
  whole.callpaths.back().start_up = true;
  whole.profile.push_back({CallPathId(4), LocationId(0), 1, 0.5, 0, 0});
  whole.delays.push_back({"mpi.late_sender", CallPathId(4), LocationId(0), 0.25, 0});
  const auto with = cut(whole, {.roots = {"main"}, .drops = {}, .folded = {}});
  ASSERT_TRUE(with.ok());
  EXPECT_DOUBLE_EQ(with->start_up.activity_s, 0.5);
  EXPECT_DOUBLE_EQ(with->start_up.waiting_s, 0.25);
  const auto without = cut(whole, {.roots = {}, .drops = {"main/MPI_Init"}, .folded = {}});
  ASSERT_TRUE(without.ok());
  EXPECT_DOUBLE_EQ(without->start_up.waiting_s, 0);
}

TEST(Cut, FoldsCalleesIntoTheirCaller) {
  const auto part = cut(run(10, 1), {.roots = {}, .drops = {}, .folded = {"main"}});
  ASSERT_TRUE(part.ok());
  ASSERT_EQ(part->callpaths.size(), 1u);
  EXPECT_DOUBLE_EQ(part->run.allocation_s, 8);
  EXPECT_DOUBLE_EQ(part->identities.waiting_s, 1);
}

TEST(Cut, RefusesToLeaveNothing) {
  EXPECT_FALSE(cut(run(10, 1), {.roots = {}, .drops = {"*"}, .folded = {}}));
  EXPECT_FALSE(cut(run(10, 1), {.roots = {"main"}, .drops = {"main"}, .folded = {}}));
}

TEST(Cut, WhatIsDroppedDoesNotComeBackAsARoot) {
  Findings whole = run(10, 1);
  whole.callpaths.push_back(path("main/MPI_Recv/wait", "wait", 3, 0));
  for (const char* root : {"*", "main*"}) {
    const auto part = cut(whole, {.roots = {root}, .drops = {"main/MPI_Recv"}, .folded = {}});
    ASSERT_TRUE(part.ok());
    EXPECT_EQ(part->callpaths.size(), 3u) << part->callpaths.back().name;
    EXPECT_TRUE(part->waits.empty());
  }
}

TEST(Combine, SaysWhenRunsHaveLittleInCommon) {
  Findings a = run(10, 1), b = run(15, 3);
  const Findings* both[] = {&a, &b};
  EXPECT_EQ(unlike(both), "");
  a.run.program = "solver", b.run.program = "mesher";
  EXPECT_EQ(unlike(both), std::string(kUnlike) + "their programs are mesher, solver.");
  b.run.program = "solver";
  b.run.ranks = 4;
  EXPECT_EQ(unlike(both), std::string(kUnlike) + "they have 2, 4 ranks.");
  EXPECT_EQ(unlike(both, true), "");
  for (FoundCallPath& path : b.callpaths) path.name = "other/" + path.name;
  EXPECT_EQ(unlike(both, true), std::string(kUnlike) + "no call path is in all of them.");
  const Findings* before[] = {&a};
  const Findings* after[] = {&b};
  const std::string names[] = {"a", "b"};
  EXPECT_EQ(difference(before, after, names).run.notes.back(), unlike(both, true));
  EXPECT_TRUE(has_region(both, "MPI_R*"));
  EXPECT_FALSE(has_region(both, "solve"));
}

TEST(Cut, RefusesWhatFitsNothing) {
  EXPECT_FALSE(cut(run(10, 1), {.roots = {"nothing"}, .drops = {}, .folded = {}}));
}

}  // namespace
}  // namespace culprit::blame
