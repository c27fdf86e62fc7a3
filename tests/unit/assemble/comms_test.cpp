// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Communicators that processes know by numbers of their own.

#include "assemble/run/comms/comms.h"

#include <gtest/gtest.h>

namespace culprit::assemble::test {
namespace {

using trace::CommKind;
using trace::RawCommOrigin;

CommDefinition made(uint32_t number, uint32_t parent, std::vector<uint32_t> members,
                    std::vector<uint32_t> remote = {}) {
  CommDefinition definition;
  definition.comm = number;
  definition.parent = parent;
  definition.origin = remote.empty() ? RawCommOrigin::collective : RawCommOrigin::intercomm;
  definition.members = std::move(members);
  definition.remote = std::move(remote);
  return definition;
}

class CommsTest : public testing::Test {
 protected:
  /// Communicators of the ranks of one world, each with what it made, in order.
  CommTable unify(std::vector<std::vector<CommDefinition>> made_by_rank) {
    World world;
    std::vector<CommUser> users;
    surveys_.resize(made_by_rank.size());
    for (size_t rank = 0; rank < made_by_rank.size(); ++rank) {
      surveys_[rank].comms = std::move(made_by_rank[rank]);
      world.members.push_back(ProcessId(rank));
      CommUser& user = users.emplace_back();
      user.process = ProcessId(rank);
      user.world = 0;
      user.survey = &surveys_[rank];
    }
    return unify_comms({world}, users, losses_);
  }

  std::vector<Survey> surveys_;
  Losses losses_;
};

TEST_F(CommsTest, WorldAndSelfAreThere) {
  const CommTable table = unify({{}, {}});
  ASSERT_EQ(table.comms.size(), 2u);
  EXPECT_EQ(table.comms[0].kind, CommKind::mpi_world);
  EXPECT_EQ(table.comms[0].members.size(), 2u);
  EXPECT_EQ(table.comms[1].kind, CommKind::mpi_self);
  EXPECT_EQ(table.local[1].at(0), CommId(0));
  EXPECT_EQ(table.local[1].at(1), CommId(1));
}

TEST_F(CommsTest, SplitHalvesAreTwoAndHaveTheirMembersOrder) {
  const CommTable table = unify({{made(2, 0, {2, 0})}, {made(2, 0, {1})}, {made(7, 0, {2, 0})}});
  EXPECT_EQ(table.local[0].at(2), table.local[2].at(7));
  EXPECT_NE(table.local[0].at(2), table.local[1].at(2));
  const trace::Comm& even = table.comms[table.local[0].at(2).index()];
  EXPECT_EQ(even.members, (std::vector{ProcessId(2), ProcessId(0)}));
  EXPECT_TRUE(losses_.all().empty());
}

TEST_F(CommsTest, EqualMembersAreToldApartByOrder) {
  const CommTable table =
      unify({{made(2, 0, {0, 1}), made(3, 0, {0, 1})}, {made(4, 0, {0, 1}), made(9, 0, {0, 1})}});
  EXPECT_EQ(table.local[0].at(2), table.local[1].at(4));
  EXPECT_EQ(table.local[0].at(3), table.local[1].at(9));
  EXPECT_NE(table.local[0].at(2), table.local[0].at(3));
}

TEST_F(CommsTest, ARankThatIsLeftOutDoesNotShiftTheOrder) {
  // Rank 1 gets MPI_COMM_NULL from the first split, recorded with no members or not at all.
  const CommTable table =
      unify({{made(2, 0, {0}), made(3, 0, {0, 1})}, {made(2, 0, {}), made(3, 0, {0, 1})}});
  EXPECT_EQ(table.local[0].at(3), table.local[1].at(3));
  EXPECT_FALSE(table.local[1].at(2).valid());
}

TEST_F(CommsTest, EqualMembersOfDifferentParentsDiffer) {
  const std::vector<CommDefinition> chain = {made(2, 0, {0, 1}), made(3, 2, {0, 1}),
                                             made(4, 0, {0, 1})};
  const std::vector<CommDefinition> other_numbers = {made(5, 0, {0, 1}), made(6, 5, {0, 1}),
                                                     made(7, 0, {0, 1})};
  const CommTable table = unify({chain, other_numbers});
  EXPECT_EQ(table.local[0].at(3), table.local[1].at(6));
  EXPECT_EQ(table.local[0].at(4), table.local[1].at(7));
  EXPECT_NE(table.local[0].at(3), table.local[0].at(4));
}

TEST_F(CommsTest, BothSidesOfAnIntercommunicatorAgree) {
  const CommTable table = unify({{made(2, 0, {0}), made(3, 2, {0}, {1, 2})},
                                 {made(2, 0, {1, 2}), made(3, 2, {1, 2}, {0})},
                                 {made(2, 0, {1, 2}), made(3, 2, {1, 2}, {0})}});
  EXPECT_EQ(table.local[0].at(3), table.local[1].at(3));
  EXPECT_EQ(table.local[0].at(3), table.local[2].at(3));
  const trace::Comm& inter = table.comms[table.local[0].at(3).index()];
  EXPECT_EQ(inter.kind, CommKind::mpi_inter);
  EXPECT_EQ(inter.members.size() + inter.remote.size(), 3u);
}

TEST_F(CommsTest, MembersOfOtherWorldsAreNotGuessed) {
  const CommTable table = unify({{made(2, 0, {0}, {~uint32_t{0}})}});
  EXPECT_FALSE(table.local[0].at(2).valid());
  EXPECT_EQ(losses_.all().at("unknown_communicators").count, 1u);
}

TEST_F(CommsTest, AMemberThatNeverToldIsCounted) {
  unify({{made(2, 0, {0, 1})}, {}});
  EXPECT_EQ(losses_.all().at("incomplete_communicators").count, 1u);
}

}  // namespace
}  // namespace culprit::assemble::test
