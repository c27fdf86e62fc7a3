// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings of a profile: two ranks of two threads each, with figures that can be added up by hand.
#include "blame/from_profile.h"

#include <gtest/gtest.h>

#include "blame/collect/rank_spreads.h"

namespace culprit::blame {
namespace {

using trace::Paradigm;
using trace::ProfileEntry;
using trace::RegionRole;

constexpr int64_t kSecond = 1'000'000'000;

Duration s(double seconds) {
  return Duration::from_nanos(static_cast<int64_t>(seconds * kSecond));
}

/// main calls MPI_Allreduce, and forks a region with work and a barrier at its end.
enum Path : size_t { kMain, kAllreduce, kRegion, kSolve, kBarrier };

trace::Profile two_ranks() {
  trace::Profile profile;
  profile.definitions.regions = {
      {"main", RegionRole::function, Paradigm::user, "a.c", 1},
      {"MPI_Allreduce", RegionRole::collective, Paradigm::mpi, "", 0},
      {"!$omp parallel @a.c:7", RegionRole::parallel, Paradigm::openmp, "a.c", 7},
      {"solve", RegionRole::function, Paradigm::user, "a.c", 5},
      {"!$omp implicit barrier @a.c:7", RegionRole::implicit_barrier, Paradigm::openmp, "a.c", 7}};
  profile.definitions.creator = std::string(trace::kOwnCreator) + "test";
  profile.paths = {{CallPathId(), RegionId(0)},
                   {CallPathId(kMain), RegionId(1)},
                   {CallPathId(kMain), RegionId(2)},
                   {CallPathId(kRegion), RegionId(3)},
                   {CallPathId(kRegion), RegionId(4)}};
  for (size_t rank = 0; rank < 2; ++rank) {
    trace::Process process{"MPI Rank", "node", static_cast<uint32_t>(rank), {}};
    for (uint32_t thread = 0; thread < 2; ++thread) {
      process.locations.push_back(LocationId(profile.definitions.locations.size()));
      trace::Location location;
      location.process = ProcessId(rank);
      location.thread = thread;
      profile.definitions.locations.push_back(location);
    }
    profile.definitions.processes.push_back(process);
  }
  profile.lines.resize(4);
  return profile;
}

ProfileEntry row(size_t path, double time, double waiting = 0) {
  ProfileEntry row;
  row.path = CallPathId(path);
  row.time = s(time);
  row.waiting = s(waiting);
  row.visits = 1;
  return row;
}

/// Ten seconds. The master of rank 0 computes 2 s alone, is in MPI for 1 s (rank 1: 3 s, and alone
/// for none), and all else is the region, in which one thread waits for the other.
trace::Profile example() {
  trace::Profile profile = two_ranks();
  for (size_t i = 0; i < 4; ++i) {
    profile.lines[i].end = Time::from_nanos(10 * kSecond);
    profile.lines[i].records = 100;
    profile.lines[i].of_a_pool = i % 2 == 1;
  }
  profile.lines[0].rows = {row(kMain, 2), row(kAllreduce, 1), row(kSolve, 7)};
  profile.lines[1].rows = {row(kSolve, 4), row(kBarrier, 3, 3)};
  profile.lines[1].idle = s(3);
  profile.lines[2].rows = {row(kAllreduce, 3), row(kSolve, 7)};
  profile.lines[3].rows = {row(kSolve, 7)};
  profile.lines[3].idle = s(3);
  profile.lines[0].rows[1].bytes = 64;
  profile.lines[2].rows[0].bytes = 192;
  profile.lines[0].rows[2].system = s(0.5);
  profile.lines[0].rows[2].faulting = s(0.25);
  profile.lines[0].rows[2].page_faults = 1000;
  return profile;
}

double value(const Findings& found, Factor factor) {
  for (const FoundEfficiency& row : found.efficiencies) {
    if (row.name == factor) return row.value;
  }
  return -1;
}

double time_of(const Findings& found, std::string_view region) {
  double sum = 0;
  for (const FoundProfile& row : found.profile) {
    if (found.callpaths[row.callpath.index()].region == region) sum += row.time_s;
  }
  return sum;
}

TEST(FromProfile, TimesAddUp) {
  const auto found = findings_of_profile(example(), 1, {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->identities.violations, std::vector<std::string>());
  EXPECT_EQ(found->run.ranks, 2u);
  EXPECT_DOUBLE_EQ(found->run.wall_s, 10);
  EXPECT_DOUBLE_EQ(found->run.allocation_s, 40);
  EXPECT_DOUBLE_EQ(time_of(*found, "solve"), 25);
  EXPECT_DOUBLE_EQ(time_of(*found, "MPI_Allreduce"), 4);
  EXPECT_DOUBLE_EQ(time_of(*found, "(idle)"), 6);
}

TEST(FromProfile, KnowsWaitsOfThreads) {
  const auto found = findings_of_profile(example(), 1, {});
  ASSERT_TRUE(found.ok());
  EXPECT_DOUBLE_EQ(found->identities.waiting_s, 9);
  double barrier = 0, idle = 0;
  for (const FoundWait& row : found->waits) {
    (row.pattern == "omp.barrier" ? barrier : idle) += row.time_s;
  }
  EXPECT_DOUBLE_EQ(barrier, 3);
  EXPECT_DOUBLE_EQ(idle, 6);
}

/// Useful are 27 of 40 s, outside of MPI 27 + 3 at the barrier + the 2 s for which a thread idled
/// while its master computed: idleness in MPI is MPI's.
TEST(FromProfile, HasEfficiencies) {
  const auto found = findings_of_profile(example(), 1, {});
  ASSERT_TRUE(found.ok());
  EXPECT_DOUBLE_EQ(value(*found, Factor::parallel), 27.0 / 40);
  EXPECT_DOUBLE_EQ(value(*found, Factor::mpi), 32.0 / 40);
  EXPECT_DOUBLE_EQ(value(*found, Factor::mpi_load_balance), 16.0 / 18);
  EXPECT_DOUBLE_EQ(value(*found, Factor::mpi_communication), 0.9);
  EXPECT_DOUBLE_EQ(value(*found, Factor::omp), 27.0 / 32);
  EXPECT_DOUBLE_EQ(value(*found, Factor::omp_serial), 30.0 / 32);
  EXPECT_DOUBLE_EQ(value(*found, Factor::omp_load_balance), 27.0 / 30);
}

TEST(FromProfile, LeavesOutWhatItCannotKnow) {
  const auto found = findings_of_profile(example(), 1, {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(value(*found, Factor::mpi_transfer), -1);
  EXPECT_EQ(value(*found, Factor::mpi_serialisation), -1);
  EXPECT_TRUE(found->delays.empty());
  EXPECT_TRUE(found->critical_callpaths.empty());
  EXPECT_TRUE(found->idle_blame.empty());
  EXPECT_FALSE(found->run.notes.empty());
}

TEST(FromProfile, KnowsWhoWorkedWhileOthersWereIdle) {
  trace::Profile profile = example();
  profile.has_blame = true;
  profile.lines[0].rows.front().blame = s(3);
  profile.nobody = {{LocationId(0), trace::ProfileNobody::Reason::mpi, s(2)}};
  const auto found = findings_of_profile(profile, 1, {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->identities.violations, std::vector<std::string>());
  ASSERT_EQ(found->idle_blame.size(), 1u);
  EXPECT_DOUBLE_EQ(found->idle_blame[0].time_s, 3);
  EXPECT_EQ(found->idle_blame[0].location, LocationId(0));
  ASSERT_EQ(found->idle_nobody.size(), 1u);
  EXPECT_EQ(found->idle_nobody[0].reason, NobodyReason::mpi);
  EXPECT_DOUBLE_EQ(found->identities.idle_s, 5);
}

TEST(FromProfile, SpreadsFiguresOverRanks) {
  trace::Profile profile = example();
  profile.ranks = 2;
  profile.spreads.resize(profile.paths.size());
  profile.spreads[kAllreduce].bytes = {2, 256, 64 * 64 + 192 * 192, 64, 192, 0, 1};
  profile.spreads[kMain].time = {1, 2, 4, 0, 2, 1, 0};
  const auto found = findings_of_profile(profile, 1, {});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->rank_spreads.size(), 2u);
  const FoundRankSpread& time = found->rank_spreads[0];
  EXPECT_EQ(time.figure, SpreadFigure::time);
  EXPECT_EQ(found->callpaths[time.callpath.index()].region, "main");
  EXPECT_DOUBLE_EQ(time.deviation, 1);
  EXPECT_EQ(time.least_rank, 1u);
  EXPECT_EQ(time.most_rank, 0u);
  const FoundRankSpread& bytes = found->rank_spreads[1];
  EXPECT_EQ(bytes.figure, SpreadFigure::bytes);
  EXPECT_EQ(bytes.ranks, 2u);
  EXPECT_DOUBLE_EQ(bytes.sum, 256);
  EXPECT_DOUBLE_EQ(bytes.deviation, 64);
  EXPECT_DOUBLE_EQ(bytes.least, 64);
  EXPECT_DOUBLE_EQ(bytes.most, 192);
}

/// The same, of rows by location. Rank 1 computes nothing in main.
TEST(FromProfile, SpreadsRowsOfThreadsOverRanks) {
  const auto found = findings_of_profile(example(), 1, {});
  ASSERT_TRUE(found.ok());
  const auto spreads = rank_spreads_of(*found);
  const auto of = [&](std::string_view region) {
    for (const FoundRankSpread& row : spreads) {
      const bool is_it = found->callpaths[row.callpath.index()].region == region;
      if (is_it && row.figure == SpreadFigure::time) return row;
    }
    return FoundRankSpread();
  };
  EXPECT_DOUBLE_EQ(of("solve").sum, 25);
  EXPECT_DOUBLE_EQ(of("solve").most, 14);
  EXPECT_EQ(of("solve").most_rank, 1u);
  EXPECT_DOUBLE_EQ(of("solve").least, 11);
  EXPECT_DOUBLE_EQ(of("solve").deviation, 1.5);
  EXPECT_EQ(of("main").ranks, 1u);
  EXPECT_DOUBLE_EQ(of("main").least, 0);
  EXPECT_EQ(of("main").least_rank, 1u);
}

TEST(FromProfile, PlacesTimeInTheKernel) {
  const auto found = findings_of_profile(example(), 1, {});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->kernel_times.size(), 1u);
  EXPECT_EQ(found->callpaths[found->kernel_times[0].callpath.index()].region, "solve");
  EXPECT_DOUBLE_EQ(found->kernel_times[0].system_s, 0.5);
  EXPECT_DOUBLE_EQ(found->kernel_times[0].fault_s, 0.25);
  EXPECT_EQ(found->kernel_times[0].page_faults, 1000u);
}

/// A rank that was killed lacks its last seconds, and one that left nothing all.
TEST(FromProfile, TakesRanksThatLackSomething) {
  trace::Profile profile = example();
  profile.lines[2].end = profile.lines[3].end = Time::from_nanos(6 * kSecond);
  profile.lines[2].rows = {row(kAllreduce, 1), row(kSolve, 5)};
  profile.lines[3].rows = {row(kSolve, 5)};
  profile.lines[3].idle = s(1);
  const auto killed = findings_of_profile(profile, 1, {});
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(killed->identities.violations, std::vector<std::string>());
  EXPECT_DOUBLE_EQ(time_of(*killed, "(ended)"), 8);
  profile.lines[2] = profile.lines[3] = {};
  const auto missing = findings_of_profile(profile, 1, {});
  ASSERT_TRUE(missing.ok());
  EXPECT_EQ(missing->run.ranks, 1u);
  EXPECT_EQ(missing->identities.violations, std::vector<std::string>());
}

TEST(FromProfile, RefusesNothing) {
  EXPECT_FALSE(findings_of_profile(two_ranks(), 1, {}).ok());
}

}  // namespace
}  // namespace culprit::blame
