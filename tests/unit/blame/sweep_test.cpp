// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Refills of sweeps whose answer another program knows, by corner: with and without a grid, for
// many sizes, orders of corners, numbers of blocks and loads.
#include <gtest/gtest.h>

#include <cmath>

#include "blame/analyze.h"
#include "tests/support/rank_threads.h"
#include "tests/support/same_findings.h"
#include "tests/support/text/text.h"
#include "tests/unit/blame/sweep_program.h"

namespace culprit {
namespace {

using testing_support::PlayedSweeps;
using testing_support::SweepProgram;
using testing_support::SweepWaits;

uint64_t milliseconds(double seconds) {
  return static_cast<uint64_t>(std::llround(seconds * 1e3));
}

std::unique_ptr<trace::TextTrace> drawn(const PlayedSweeps& played) {
  auto trace = trace::TextTrace::parse(played.picture);
  EXPECT_TRUE(trace.ok()) << trace.error().sentence << "\n" << played.picture;
  return trace.ok() ? std::move(trace).value() : nullptr;
}

std::map<uint32_t, SweepWaits> refills_of(const blame::Findings& found) {
  std::map<uint32_t, SweepWaits> refills;
  for (const blame::FoundRefill& row : found.refills) {
    refills[row.rank].waits += row.waits;
    refills[row.rank].time += milliseconds(row.time_s);
  }
  return refills;
}

uint64_t waiting_in_receives(const blame::Findings& found) {
  uint64_t sum = 0;
  for (const blame::FoundWait& row : found.waits) {
    for (const char* id :
         {"mpi.late_sender", "mpi.wrong_order", "mpi.direction_change", "mpi.pipeline_refill"}) {
      if (row.pattern == id) sum += milliseconds(row.time_s);
    }
  }
  return sum;
}

uint64_t waiting(const blame::Findings& found, std::string_view pattern) {
  uint64_t sum = 0;
  for (const blame::FoundWait& row : found.waits) {
    if (row.pattern == pattern) sum += milliseconds(row.time_s);
  }
  return sum;
}

/// A corner that only receives cannot tell where halos end and the sweep begins, if both are on one
/// communicator and at one place in the code: what it waits there is no refill.
void expect_as_played(const SweepProgram& program, const PlayedSweeps& played,
                      const blame::Findings& found) {
  const std::map<uint32_t, SweepWaits> refills = refills_of(found);
  EXPECT_EQ(waiting_in_receives(found), played.waiting);
  EXPECT_EQ(waiting(found, "mpi.direction_change"), 0u);
  uint64_t sum = 0;
  for (const auto& [rank, waits] : refills) sum += waits.time;
  EXPECT_EQ(waiting(found, "mpi.pipeline_refill"), sum);
  if (program.between != SweepProgram::Between::halo) {
    EXPECT_EQ(refills, played.refills);
    return;
  }
  for (const auto& [rank, waits] : refills) {
    const auto known = played.refills.find(rank);
    ASSERT_NE(known, played.refills.end()) << rank;
    EXPECT_LE(waits.waits, known->second.waits);
    EXPECT_LE(waits.time, known->second.time);
  }
}

TEST(Sweeps, AreRefilledAsPlayed) {
  uint64_t refills = 0, known = 0, silent = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    const SweepProgram program = SweepProgram::random(seed);
    const PlayedSweeps played = play(program);
    const auto trace = drawn(played);
    ASSERT_NE(trace, nullptr);
    const auto found = blame::analyze(*trace, {.threads = 1 + seed % 2, .verify = true}, {});
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->identities.violations, std::vector<std::string>());
    expect_as_played(program, played, *found);
    if (HasFailure()) FAIL() << "seed " << seed << "\n" << played.picture;
    for (const auto& [rank, waits] : refills_of(*found)) refills += waits.waits;
    for (const auto& [rank, waits] : played.refills) known += waits.waits;
    silent += played.refills.empty();
  }
  EXPECT_GT(known, 3000u);
  EXPECT_GT(refills, known * 9 / 10);  // what is missing: see expect_as_played
  EXPECT_GT(silent, 100u);
}

/// But not if blocks and halos change off, each once.
TEST(Sweeps, AreToldFromWhatIsCalledElsewhere) {
  uint64_t known = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SweepProgram program = SweepProgram::random(seed);
    if (program.size[0] + program.size[1] < 4) continue;
    if (seed % 3 > 0) program.between = SweepProgram::Between::halo_called_elsewhere;
    if (program.between == SweepProgram::Between::halo) continue;
    program.setup = seed % 2 > 0;
    for (SweepProgram::Sweep& sweep : program.sweeps) sweep.blocks += 2;
    const PlayedSweeps played = play(program);
    const auto trace = drawn(played);
    ASSERT_NE(trace, nullptr);
    const auto found = blame::analyze(*trace, {.threads = 1}, {});
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(refills_of(*found), played.refills) << "seed " << seed << "\n" << played.picture;
    if (HasFailure()) return;
    for (const auto& [rank, waits] : played.refills) known += waits.waits;
  }
  EXPECT_GT(known, 3000u);
}

TEST(Sweeps, AreTheSameOnSeveralRanks) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const PlayedSweeps played = play(SweepProgram::random(seed));
    const auto trace = drawn(played);
    ASSERT_NE(trace, nullptr);
    const auto one = blame::analyze(*trace, {.threads = 1}, {});
    ASSERT_TRUE(one.ok());
    testing_support::RankThreads(3).run([&](Transport& ranks) {
      const auto found = blame::analyze(*trace, {.threads = 1, .ranks = &ranks}, {});
      ASSERT_TRUE(found.ok());
      if (ranks.rank() != 0) return;
      EXPECT_EQ(testing_support::difference(*one, *found), "") << "seed " << seed;
    });
  }
}

}  // namespace
}  // namespace culprit
