// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who is waited for at a look, by what all threads of the process do at that moment.
#include <gtest/gtest.h>

#include "assemble/attach/process_tally.h"

namespace culprit::assemble::attach {
namespace {

NamedLook::Thread does(uint32_t tid, Doing doing, const std::string& function = "",
                       uint32_t awaited = 0) {
  NamedLook::Thread thread;
  thread.tid = thread.number = tid;
  thread.seen.spot.doing = doing;
  thread.seen.spot.function = function;
  thread.seen.awaited = awaited;
  return thread;
}

double cost_of(const Blame& blame, uint32_t tid) {
  double sum_s = 0;
  for (const auto& [who, cost] : blame.costs) {
    if (who.first == tid) sum_s += cost.waiting_s;
  }
  return sum_s;
}

double all_costs(const Blame& blame) {
  double sum_s = blame.nobody_s + blame.somebody_s;
  for (const auto& [who, cost] : blame.costs) sum_s += cost.waiting_s;
  return sum_s;
}

TEST(AttachBlame, WorkersWaitForThoseThatWorkInEqualParts) {
  Blame blame;
  blame.add(
      {2, {does(1, Doing::computes, "a"), does(2, Doing::computes, "b"), does(3, Doing::openmp)}});
  EXPECT_DOUBLE_EQ(cost_of(blame, 1), 1);
  EXPECT_DOUBLE_EQ(cost_of(blame, 2), 1);
  EXPECT_DOUBLE_EQ(blame.waiting_s, 2);
}

TEST(AttachBlame, WhoWaitsForALockWaitsForItsHolderAlone) {
  Blame blame;
  blame.add({3,
             {does(1, Doing::computes, "a"), does(2, Doing::lock, "l", 4),
              does(4, Doing::file, "holds")}});
  EXPECT_DOUBLE_EQ(cost_of(blame, 4), 3);
  EXPECT_DOUBLE_EQ(cost_of(blame, 1), 0);
  EXPECT_DOUBLE_EQ(blame.costs.begin()->second.locks_s, 3);
}

TEST(AttachBlame, HoldersAreKnownByTheNumbersThatTheProcessUses) {
  Blame blame;
  NamedLook look{1, {does(100, Doing::computes, "holds"), does(101, Doing::lock, "l", 7)}};
  look.threads[0].number = 7;
  blame.add(look);
  EXPECT_DOUBLE_EQ(cost_of(blame, 100), 1);
}

TEST(AttachBlame, NobodyWorksOrNobodyKnowsWho) {
  Blame blame;
  blame.add({1, {does(1, Doing::openmp), does(2, Doing::thread)}});
  blame.add({1, {does(1, Doing::lock, "l", 99), does(2, Doing::computes, "a")}});
  EXPECT_DOUBLE_EQ(blame.nobody_s, 1);
  EXPECT_DOUBLE_EQ(blame.somebody_s, 2);
  EXPECT_TRUE(blame.costs.empty());
}

TEST(AttachBlame, ALockThatItsOwnerWantsAgainHasNoOtherHolder) {
  Blame blame;
  blame.add({1, {does(1, Doing::lock, "l", 1)}});
  EXPECT_DOUBLE_EQ(blame.somebody_s, 1);
}

TEST(AttachBlame, AllWaitingIsAccountedFor) {
  Blame blame;
  const Doing all[] = {Doing::computes, Doing::mpi,  Doing::openmp, Doing::lock,   Doing::thread,
                       Doing::spins,    Doing::file, Doing::helper, Doing::unseen, Doing::sleeps};
  for (const Doing first : all) {
    for (const Doing second : all) {
      blame.add({0.5, {does(1, first, "f", 2), does(2, second, "g"), does(3, Doing::openmp)}});
    }
  }
  EXPECT_NEAR(all_costs(blame), blame.waiting_s, 1e-9);
}

}  // namespace
}  // namespace culprit::assemble::attach
