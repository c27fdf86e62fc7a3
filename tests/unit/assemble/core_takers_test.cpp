// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who had the cores: intervals whose answer is known.
#include "assemble/run/core_takers.h"

#include <gtest/gtest.h>

#include <optional>

namespace culprit::assemble {
namespace {

using machine::Interval;
using machine::MachineUse;

constexpr uint64_t kSecond = 1'000'000'000;

/// One second of a machine of so many cores, of which others used so many in all.
MachineUse machine_with(uint64_t cores, Interval interval) {
  interval.begin_ns = 5 * kSecond;
  interval.end_ns = 6 * kSecond;
  return {"box", "boot", cores, {interval}};
}

double taken(const std::vector<CoreTaker>& rows, CoreTakerKind kind,
             std::optional<std::string> name = {}) {
  double sum = 0;
  for (const CoreTaker& row : rows) {
    if (row.kind == kind && (!name || row.name == *name)) sum += row.time_s;
  }
  return sum;
}

TEST(CoreTakers, NamesOtherProgramsByWhatTheyUsed) {
  // Two threads on two cores, beside a loop: the loop has 0.67 of them.
  Interval interval{.busy_ns = 2 * kSecond};
  interval.others = {{4711, "stress", 600'000'000}};
  const auto rows = share_out(machine_with(2, interval), {{{1.33e9, 0.67e9, 2}}});
  EXPECT_NEAR(taken(rows, CoreTakerKind::others, "stress"), 0.6, 0.01);
  EXPECT_NEAR(taken(rows, CoreTakerKind::others, ""), 0.07, 0.01) << "what nobody sees";
  EXPECT_NEAR(taken(rows, CoreTakerKind::own), 0, 1e-9);
  EXPECT_EQ(rows.front().process, 4711u);
}

TEST(CoreTakers, SaysOwnThreadsWhereThereIsNobodyElse) {
  const Interval interval{.busy_ns = 2 * kSecond};
  const auto rows = share_out(machine_with(2, interval), {{{1e9, 1e9, 2}, {1e9, 1e9, 2}}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, CoreTakerKind::own);
  EXPECT_DOUBLE_EQ(rows[0].time_s, 2);
}

TEST(CoreTakers, SharesBetweenOthersAndOwnThreads) {
  // Four threads and a loop on two cores: each has 0.4.
  Interval interval{.busy_ns = 2 * kSecond};
  interval.others = {{9, "loop", 400'000'000}};
  const auto rows = share_out(machine_with(2, interval), {{{1.6e9, 2.4e9, 2}}});
  EXPECT_NEAR(taken(rows, CoreTakerKind::others), 0.4, 1e-6);
  EXPECT_NEAR(taken(rows, CoreTakerKind::own), 2.0, 1e-6);
}

TEST(CoreTakers, KnowsAQuotaAndAHypervisor) {
  const auto limited = share_out(
      machine_with(2, {.busy_ns = kSecond, .idle_ns = kSecond, .throttled_ns = 900'000'000}),
      {{{1e9, 0.9e9, 2}}});
  ASSERT_EQ(limited.size(), 1u);
  EXPECT_EQ(limited[0].kind, CoreTakerKind::quota);
  const auto shared =
      share_out(machine_with(2, {.busy_ns = kSecond, .steal_ns = kSecond}), {{{1e9, 0.8e9, 2}}});
  EXPECT_NEAR(taken(shared, CoreTakerKind::hypervisor), 0.8, 1e-6);
}

TEST(CoreTakers, KnowsWhoIsBoundToFewOfTheCores) {
  const Interval interval{.busy_ns = kSecond};
  const auto rows = share_out(machine_with(2, interval), {{{1e9, 1e9, 1}}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, CoreTakerKind::binding);
  EXPECT_DOUBLE_EQ(rows[0].time_s, 1);
}

TEST(CoreTakers, JoinsProcessesOfOneName) {
  MachineUse machine = machine_with(1, {.busy_ns = kSecond});
  machine.intervals[0].others = {{1, "cc1plus", 200'000'000}, {2, "cc1plus", 300'000'000}};
  const auto rows = share_out(machine, {{{0.5e9, 0.5e9, 1}}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].processes, 2u);
  EXPECT_EQ(rows[0].process, 0u);
}

TEST(CoreTakers, SaysNothingOfAQuietMachine) {
  const auto rows =
      share_out(machine_with(4, {.busy_ns = 2 * kSecond, .idle_ns = 2 * kSecond}), {{{2e9, 0, 4}}});
  EXPECT_TRUE(rows.empty());
}

}  // namespace
}  // namespace culprit::assemble
