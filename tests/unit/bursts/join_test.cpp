// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings of parts of a made-up run joined: rank 1 receives from rank 0, which is late because of
// `slow`, or of `other`; and rank 0 waits in a barrier for rank 1.
#include "blame/bursts/join.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace culprit::blame {
namespace {

constexpr double kNear = 1e-9;

const CallPathId kMain(0), kSlow(1), kOther(2), kReceive(3), kBarrier(4), kRare(5);
const LocationId kFirst(0), kSecond(1);

FoundCallPath path(const char* name, const char* region, bool root, const char* model = "user") {
  return {name, region, "a.c", 1, root ? CallPathId() : kMain, false, model};
}

/// What a part of the run costs: the seconds of each kind of waiting in it.
struct Waits {
  double for_slow_s = 0, for_other_s = 0, in_barrier_s = 0, rare_s = 0;
};

/// `length_s` of wall-clock time of both ranks; in the calls they only wait.
Findings part(double length_s, const Waits& waits) {
  Findings f;
  f.run.wall_s = length_s;
  f.run.allocation_s = 2 * length_s;
  f.run.ranks = f.run.locations = 2;
  f.locations = {{"0.0", 0, 0, "n", length_s, 0, ""}, {"1.0", 1, 0, "n", length_s, 0, ""}};
  f.callpaths = {path("main", "main", true),
                 path("main/slow", "slow", false),
                 path("main/other", "other", false),
                 path("main/MPI_Recv", "MPI_Recv", false, "mpi"),
                 path("main/MPI_Barrier", "MPI_Barrier", false, "mpi"),
                 path("main/MPI_Wait", "MPI_Wait", false, "mpi")};
  const double received_s = waits.for_slow_s + waits.for_other_s;
  f.profile = {{kSlow, kFirst, 1, 2 * waits.for_slow_s, 0, 0},
               {kOther, kFirst, 1, length_s - 2 * waits.for_slow_s - waits.in_barrier_s, 0, 0},
               {kBarrier, kFirst, 1, waits.in_barrier_s, 0, 0},
               {kReceive, kSecond, 1, received_s, 0, 0},
               {kRare, kSecond, 1, waits.rare_s, 0, 0},
               {kOther, kSecond, 1, length_s - received_s - waits.rare_s, 0, 0}};
  if (received_s > 0)
    f.waits.push_back({"mpi.late_sender", kReceive, kSecond, 3, received_s, 0, 0});
  if (waits.in_barrier_s > 0) {
    f.waits.push_back({"mpi.wait_at_barrier", kBarrier, kFirst, 1, waits.in_barrier_s, 0, 0});
  }
  const auto delay = [&](const char* pattern, CallPathId at, LocationId by, CallPathId wait,
                         LocationId waiting, double cost_s) {
    if (cost_s <= 0) return;
    f.delays.push_back({pattern, at, by, cost_s, 0});
    f.victims.push_back({at, by, pattern, wait, waiting, cost_s});
  };
  delay("mpi.late_sender", kSlow, kFirst, kReceive, kSecond, waits.for_slow_s);
  delay("mpi.late_sender", kOther, kFirst, kReceive, kSecond, waits.for_other_s);
  delay("mpi.wait_at_barrier", kOther, kSecond, kBarrier, kFirst, waits.in_barrier_s);
  f.critical_path = {{kOther, kFirst, length_s}};
  f.critical_callpaths = {{kOther, length_s, 0, length_s, 0, 0, length_s}};
  for (const FoundWait& row : f.waits) f.identities.waiting_s += row.time_s;
  return f;
}

/// The profile of such a run: nothing but times.
Findings profile(double length_s, const Waits& waits) {
  Findings f = part(length_s, waits);
  f.waits.clear();
  f.delays.clear();
  f.victims.clear();
  f.critical_path.clear();
  f.critical_callpaths.clear();
  f.identities = {};
  return f;
}

TracedWindow window(uint32_t number, double begin_s, const Waits& waits) {
  return {number, begin_s, begin_s + 0.2, begin_s + 1.2, part(1, waits)};
}

double cost_of(const Findings& f, CallPathId at) {
  double cost_s = 0;
  for (const FoundDelay& row : f.delays) {
    if (row.callpath == at) cost_s += row.short_s + row.long_s;
  }
  return cost_s;
}

const FoundEstimate* estimate_of(const Findings& f, EstimatedFigure figure, CallPathId at) {
  for (const FoundEstimate& row : f.estimates) {
    if (row.figure == figure && row.callpath == at) return &row;
  }
  return nullptr;
}

/// 10 s traced whole, then 90 s of which two windows have seen 1 s each.
BurstRun run_of(const Waits& in_all, const Waits& at_first, std::vector<Waits> seen) {
  BurstRun run;
  run.profile = profile(100, in_all);
  run.whole = part(10, at_first);
  run.whole_s = 10;
  for (size_t j = 0; j < seen.size(); ++j) {
    const auto number = static_cast<uint32_t>(j + 1);
    run.windows.push_back(window(number, 10 + 20 * static_cast<double>(j), seen[j]));
  }
  return run;
}

TEST(Join, AddsTheKnownPartAndWhatWindowsStandFor) {
  // The receive lasts 44 s in all, 4 s at first: the 0.8 s of both windows stand for 40 s.
  const Findings f = join_bursts(
      run_of({11, 33, 5, 0}, {2, 2, 1, 0}, {{0.1, 0.3, 0.05, 0}, {0.3, 0.1, 0.05, 0}}), 1);
  EXPECT_NEAR(cost_of(f, kSlow), 2 + 20, kNear);
  EXPECT_NEAR(cost_of(f, kOther), 2 + 20 + 5, kNear);
  EXPECT_NEAR(f.identities.waiting_s, 49, kNear);
  const FoundEstimate* slow = estimate_of(f, EstimatedFigure::cause, kSlow);
  ASSERT_NE(slow, nullptr);
  EXPECT_NEAR(slow->time_s, 22, kNear);
  EXPECT_NEAR(slow->known_s, 2, kNear);
  EXPECT_LE(slow->low_s, 22);
  EXPECT_GE(slow->high_s, 22);
  EXPECT_GE(slow->low_s, 2.4 - kNear) << "so much was seen";
  EXPECT_NEAR(slow->share, 22 / 49.0, kNear);
}

TEST(Join, KeepsTheSumsThatMustAgree) {
  const Findings f = join_bursts(
      run_of({11, 33, 5, 0}, {2, 2, 1, 0}, {{0.1, 0.3, 0.05, 0}, {0.3, 0.1, 0.1, 0}}), 1);
  EXPECT_TRUE(f.identities.violations.empty()) << f.identities.violations.front();
  EXPECT_NEAR(f.identities.delay_costs_s, f.identities.waiting_s, kNear);
  EXPECT_NEAR(f.identities.critical_path_s, 100, kNear);
}

TEST(Join, OfEqualWindowsIsCertain) {
  const Waits each{0.2, 0.2, 0.1, 0};
  const Findings f = join_bursts(run_of({20, 20, 10, 0}, {2, 2, 1, 0}, {each, each, each}), 1);
  const FoundEstimate* slow = estimate_of(f, EstimatedFigure::cause, kSlow);
  ASSERT_NE(slow, nullptr);
  EXPECT_NEAR(slow->low_s, 20, 1e-6);
  EXPECT_NEAR(slow->high_s, 20, 1e-6);
  EXPECT_NEAR(slow->share_low, 0.4, 1e-6);
}

TEST(Join, OfDifferentWindowsIsNot) {
  const Findings f =
      join_bursts(run_of({20, 20, 10, 0}, {2, 2, 1, 0},
                         {{0.1, 0.3, 0.1, 0}, {0.3, 0.1, 0.1, 0}, {0.2, 0.2, 0.1, 0}}),
                  1);
  const FoundEstimate* slow = estimate_of(f, EstimatedFigure::cause, kSlow);
  ASSERT_NE(slow, nullptr);
  EXPECT_LT(slow->low_s, 15);
  EXPECT_GT(slow->high_s, 25);
}

TEST(Join, WidensTheUpperEndByWhatNoWindowSaw) {
  const Waits each{0.2, 0.2, 0.1, 0};
  const Findings f = join_bursts(run_of({20, 20, 10, 7}, {2, 2, 1, 0}, {each, each}), 1);
  const FoundEstimate* slow = estimate_of(f, EstimatedFigure::cause, kSlow);
  ASSERT_NE(slow, nullptr);
  EXPECT_NEAR(slow->low_s, 20, 1e-6);
  EXPECT_NEAR(slow->high_s, 27, 1e-6);
  ASSERT_EQ(f.coverage.size(), 1u);
  EXPECT_NEAR(f.coverage[0].unseen_s, 7, kNear);
}

TEST(Join, SaysWhatWasTraced) {
  const Waits each{0.2, 0.2, 0.1, 0};
  const Findings f = join_bursts(run_of({20, 20, 10, 0}, {2, 2, 1, 0}, {each, each}), 1);
  ASSERT_EQ(f.coverage.size(), 1u);
  EXPECT_EQ(f.coverage[0].windows, 2u);
  EXPECT_NEAR(f.coverage[0].windows_s, 2, kNear);
  EXPECT_NEAR(f.coverage[0].covered, 0.12, kNear);
  ASSERT_EQ(f.windows.size(), 3u);
  EXPECT_EQ(f.windows[0].number, 0u);
  EXPECT_NEAR(f.windows[1].counted_from_s, 10.2, kNear);
  EXPECT_NEAR(f.windows[1].waiting_s, 0.5, kNear);
  EXPECT_EQ(f.windows[1].callpath, kOther);
}

/// The first window's change of `other` counts as 0 in the second, which did not try it.
TEST(Join, ScalesUpWhatChangesBring) {
  const Waits each{0.2, 0.2, 0.1, 0};
  BurstRun run = run_of({20, 20, 10, 0}, {2, 2, 1, 0}, {each, each});
  run.whole.function_gains = {{kSlow, GainKind::balanced, 1, 0.5}};
  run.windows[0].findings.function_gains = {{kSlow, GainKind::balanced, 0.1, 0.05},
                                            {kOther, GainKind::halved, 0.05, 0.05}};
  run.windows[1].findings.function_gains = {{kSlow, GainKind::balanced, 0.1, 0.05}};
  const Findings f = join_bursts(std::move(run), 1);
  ASSERT_EQ(f.function_gains.size(), 2u);
  EXPECT_EQ(f.function_gains[0].callpath, kSlow);
  EXPECT_EQ(f.function_gains[0].kind, GainKind::balanced);
  EXPECT_NEAR(f.function_gains[0].gain_s, 1 + 90 * 0.1, kNear);
  EXPECT_NEAR(f.function_gains[0].halved_s, 0.5 + 90 * 0.05, kNear);
  EXPECT_EQ(f.function_gains[1].callpath, kOther);
  EXPECT_NEAR(f.function_gains[1].gain_s, 90 * 0.05 / 2, kNear);
  const FoundEstimate* const slow = estimate_of(f, EstimatedFigure::gain, kSlow);
  const FoundEstimate* const other = estimate_of(f, EstimatedFigure::gain, kOther);
  ASSERT_TRUE(slow != nullptr && other != nullptr);
  EXPECT_NEAR(slow->low_s, 10, 1e-6);
  EXPECT_NEAR(slow->high_s, 10, 1e-6);
  EXPECT_GT(other->high_s, other->time_s);
  EXPECT_GE(other->low_s, 0.05);
}

/// What a profile calls waiting includes work of the runtime: the windows know better.
TEST(Join, TakesWaitingFromTheWindows) {
  BurstRun run = run_of({20, 20, 10, 0}, {2, 2, 1, 0}, {{0.2, 0.2, 0.1, 0}, {0.2, 0.2, 0.1, 0}});
  run.profile.waits = {{"mpi.wait_at_barrier", kBarrier, kFirst, 9, 60, 0, 0}};
  const Findings f = join_bursts(std::move(run), 1);
  EXPECT_NEAR(f.identities.waiting_s, 50, kNear);
  EXPECT_TRUE(f.identities.violations.empty()) << f.identities.violations.front();
}

/// Time in MPI turns out to be waiting; the life of a thread is as long as before.
TEST(Join, ClassifiesWaitingAnew) {
  BurstRun run = run_of({20, 20, 10, 0}, {2, 2, 1, 0}, {{0.2, 0.2, 0.1, 0}, {0.2, 0.2, 0.1, 0}});
  run.profile.tiles = {{Tile::useful, kFirst, 90, kOther, 50},
                       {Tile::mpi, kFirst, 10, kBarrier, 10},
                       {Tile::useful, kSecond, 60, kOther, 60},
                       {Tile::mpi, kSecond, 40, kReceive, 40}};
  const Findings f = join_bursts(std::move(run), 1);
  double waiting_s = 0;
  for (const FoundTile& row : f.tiles) {
    if (row.tile == Tile::waiting) waiting_s += row.time_s;
  }
  EXPECT_NEAR(waiting_s, 50, kNear);
  EXPECT_TRUE(f.identities.violations.empty()) << f.identities.violations.front();
}

/// Delays whose victims were not listed keep their share of the pattern's waits.
TEST(Join, ScalesDelaysWithoutVictims) {
  BurstRun run = run_of({11, 33, 5, 0}, {2, 2, 1, 0}, {{0.1, 0.3, 0.05, 0}, {0.3, 0.1, 0.05, 0}});
  for (TracedWindow& each : run.windows) each.findings.victims.clear();
  const Findings f = join_bursts(std::move(run), 1);
  EXPECT_NEAR(cost_of(f, kSlow), 22, kNear);
  EXPECT_TRUE(f.identities.violations.empty()) << f.identities.violations.front();
}

TEST(Join, WithoutWindowsTheFirstPartStandsForTheRest) {
  // The receive lasts 4 s at first, and 36 s after that; the barrier 1 s and 9 s.
  const Findings f = join_bursts(run_of({20, 20, 10, 0}, {2, 2, 1, 0}, {}), 1);
  EXPECT_NEAR(cost_of(f, kSlow), 2 + 18, kNear);
  EXPECT_NEAR(f.identities.waiting_s, 50, kNear);
  const FoundEstimate* slow = estimate_of(f, EstimatedFigure::cause, kSlow);
  ASSERT_NE(slow, nullptr);
  EXPECT_NEAR(slow->low_s, 2, kNear) << "only what was traced is certain";
  EXPECT_NEAR(slow->high_s, 2 + 45, kNear) << "all that calls lasted since may be waiting for it";
  EXPECT_NEAR(slow->share_low, 2 / 50.0, kNear);
  EXPECT_NEAR(slow->share_high, 47 / 50.0, kNear);
  EXPECT_EQ(f.coverage[0].windows, 0u);
  EXPECT_NEAR(f.coverage[0].covered, 0.1, kNear);
  EXPECT_EQ(f.windows.size(), 1u);
  EXPECT_TRUE(f.identities.violations.empty()) << f.identities.violations.front();
}

TEST(Join, WithoutWindowsALongFirstPartStandsForAShortRest) {
  BurstRun run = run_of({20, 20, 10, 0}, {18, 18, 9, 0}, {});
  run.whole = part(90, {18, 18, 9, 0});
  run.whole_s = 90;
  const Findings f = join_bursts(std::move(run), 1);
  EXPECT_NEAR(cost_of(f, kSlow), 20, kNear);
  EXPECT_NEAR(f.identities.waiting_s, 50, kNear);
}

TEST(Join, CountsMessagesByCallsAndNotByTheirTime) {
  BurstRun run = run_of({20, 20, 10, 0}, {2, 2, 1, 0}, {});
  const CallPathId send(6);
  const auto add = [&](Findings& to, uint64_t calls, double time_s) {
    to.callpaths.push_back(path("main/MPI_Send", "MPI_Send", false, "mpi"));
    to.profile.push_back({send, kFirst, calls, time_s, 0, 0});
  };
  add(run.profile, 1000, 8);
  add(run.whole, 100, 4);  // slow at first
  FoundMessageUse use;
  use.callpath = send;
  use.location = kFirst;
  use.messages = 100;
  use.bytes = 400;
  use.receivers = 1;
  run.whole.message_use = {use};
  const Findings f = join_bursts(std::move(run), 1);
  ASSERT_EQ(f.message_use.size(), 1u);
  EXPECT_EQ(f.message_use[0].messages, 1000u);
  EXPECT_EQ(f.message_use[0].bytes, 4000u);
  EXPECT_EQ(f.message_use[0].receivers, 1u);
}

TEST(Join, StartUpIsAsLongAsItWas) {
  BurstRun run = run_of({20, 20, 10, 0}, {2, 2, 1, 0}, {});
  const CallPathId init(6);
  for (Findings* each : {&run.profile, &run.whole}) {
    each->callpaths.push_back(path("main/MPI_Init", "MPI_Init", false, "mpi"));
    each->callpaths.back().start_up = true;
    each->profile.push_back({init, kFirst, 1, 4, 0, 0});
  }
  run.whole.critical_path = {{init, kFirst, 4}, {kOther, kFirst, 6}};
  run.whole.critical_callpaths = {{init, 4, 0, 4, 0, 0, 4}, {kOther, 6, 0, 6, 0, 0, 6}};
  const Findings f = join_bursts(std::move(run), 1);
  EXPECT_NEAR(f.start_up.wall_s, 4, kNear);
  EXPECT_NEAR(f.identities.critical_path_s, 100, kNear);
}

TEST(Join, OfAWindowInWhichNothingHappens) {
  const Findings f = join_bursts(
      run_of({20, 20, 10, 0}, {2, 2, 1, 0}, {{0.2, 0.2, 0.1, 0}, {}, {0.2, 0.2, 0.1, 0}}), 1);
  EXPECT_NEAR(cost_of(f, kSlow), 20, kNear);
  EXPECT_EQ(f.coverage[0].windows, 3u);
}

}  // namespace
}  // namespace culprit::blame
