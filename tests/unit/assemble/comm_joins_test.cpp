// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Communicators between worlds: each process knows its own side, and who is on the other one has to
// follow from what both know. Where it does not, it must not be guessed.

#include <gtest/gtest.h>

#include <deque>

#include "assemble/run/comms/comms.h"

namespace culprit::assemble::test {
namespace {

using trace::RawCommLink;
using trace::RawCommOrigin;

constexpr uint32_t kUnknown = ~0u;
constexpr uint32_t in_parent(uint32_t place) {
  return trace::kRawParentRank | place;
}

/// A communicator as `link` makes it, between two moments; its remote group is unknown.
CommDefinition joined(uint32_t number, RawCommLink link, std::vector<uint32_t> members,
                      size_t remote, uint64_t entered, uint64_t left, uint64_t key = 0,
                      std::optional<uint32_t> root = 0) {
  CommDefinition definition;
  definition.ticks = left;
  definition.comm = number;
  definition.origin = RawCommOrigin::spawned;
  definition.members = std::move(members);
  definition.remote.assign(remote, kUnknown);
  definition.link = link;
  definition.key = key;
  definition.entered = entered;
  definition.root = root;
  return definition;
}

CommDefinition derived(uint32_t number, uint32_t parent, std::vector<uint32_t> members,
                       std::vector<uint32_t> remote = {}) {
  CommDefinition definition;
  definition.comm = number;
  definition.parent = parent;
  definition.members = std::move(members);
  definition.remote = std::move(remote);
  return definition;
}

/// Worlds by size; processes are numbered through.
class CommJoinsTest : public testing::Test {
 protected:
  void worlds(const std::vector<size_t>& sizes) {
    for (const size_t size : sizes) {
      World& world = worlds_.emplace_back();
      for (size_t rank = 0; rank < size; ++rank) {
        CommUser& user = users_.emplace_back();
        user.process = ProcessId(users_.size() - 1);
        user.world = worlds_.size() - 1;
        user.survey = &surveys_.emplace_back();
        user.name = std::to_string(*user.world) + "." + std::to_string(rank);
        world.members.push_back(user.process);
      }
    }
  }
  void made(size_t process, CommDefinition definition) {
    surveys_[process].comms.push_back(std::move(definition));
  }
  void unify() { table = unify_comms(worlds_, users_, losses); }
  CommId comm(size_t process, uint32_t number) { return table.local[process].at(number); }
  uint64_t count(const char* loss) {
    const auto found = losses.all().find(loss);
    return found == losses.all().end() ? 0 : found->second.count;
  }

  std::vector<CommUser> users_;
  CommTable table;
  Losses losses;

 private:
  std::vector<World> worlds_;
  std::deque<Survey> surveys_;
};

TEST_F(CommJoinsTest, ParentsAndChildrenFindEachOther) {
  worlds({2, 3});
  for (size_t rank : {0, 1}) made(rank, joined(2, RawCommLink::spawn, {0, 1}, 3, 10, 90));
  for (size_t child : {2, 3, 4}) {
    made(child, joined(2, RawCommLink::parent, {0, 1, 2}, 2, 40, 95, 0, std::nullopt));
  }
  unify();
  ASSERT_TRUE(comm(0, 2).valid());
  for (size_t process : {1, 2, 3, 4}) EXPECT_EQ(comm(process, 2), comm(0, 2));
  const trace::Comm& inter = table.comms[comm(0, 2).index()];
  EXPECT_EQ(inter.members, (std::vector{ProcessId(0), ProcessId(1)}));
  EXPECT_EQ(inter.remote, (std::vector{ProcessId(2), ProcessId(3), ProcessId(4)}));
  EXPECT_TRUE(losses.all().empty());
}

TEST_F(CommJoinsTest, SpawnsAtTheSameTimeAreToldApartByWhoDidIt) {
  worlds({2, 1, 1});
  for (uint32_t rank : {0, 1}) made(rank, joined(2, RawCommLink::spawn, {rank}, 1, 10, 90));
  users_[2].parent = "0.1";
  users_[3].parent = "0.0";
  for (size_t child : {2, 3}) {
    made(child, joined(2, RawCommLink::parent, {0}, 1, 40, 80, 0, std::nullopt));
  }
  unify();
  EXPECT_EQ(comm(0, 2), comm(3, 2));
  EXPECT_EQ(comm(1, 2), comm(2, 2));
  EXPECT_NE(comm(0, 2), comm(1, 2));
  EXPECT_TRUE(losses.all().empty());
}

TEST_F(CommJoinsTest, SpawnsAtTheSameTimeByNobodyKnownAreNotGuessed) {
  worlds({2, 1, 1});
  for (uint32_t rank : {0, 1}) made(rank, joined(2, RawCommLink::spawn, {rank}, 1, 10, 90));
  for (size_t child : {2, 3}) {
    made(child, joined(2, RawCommLink::parent, {0}, 1, 40, 80, 0, std::nullopt));
  }
  unify();
  for (size_t process : {0, 1, 2, 3}) EXPECT_FALSE(comm(process, 2).valid());
  EXPECT_EQ(count("ambiguous_communicators"), 4u);
}

TEST_F(CommJoinsTest, OneSpawnAfterTheOtherIsToldApartByTime) {
  worlds({1, 1, 1});
  made(0, joined(2, RawCommLink::spawn, {0}, 1, 10, 40));
  made(0, joined(3, RawCommLink::spawn, {0}, 1, 50, 90));
  made(1, joined(2, RawCommLink::parent, {0}, 1, 70, 80, 0, std::nullopt));
  made(2, joined(2, RawCommLink::parent, {0}, 1, 20, 45, 0, std::nullopt));
  unify();
  EXPECT_EQ(comm(0, 2), comm(2, 2));
  EXPECT_EQ(comm(0, 3), comm(1, 2));
  EXPECT_TRUE(losses.all().empty());
}

TEST_F(CommJoinsTest, ConnectionsAreToldApartByTheirPort) {
  worlds({1, 1, 1, 1});
  made(0, joined(2, RawCommLink::accept, {0}, 1, 10, 50, 7));
  made(1, joined(2, RawCommLink::accept, {0}, 1, 10, 50, 8));
  made(2, joined(2, RawCommLink::connect, {0}, 1, 20, 50, 8));
  made(3, joined(2, RawCommLink::connect, {0}, 1, 20, 50, 7));
  unify();
  EXPECT_EQ(comm(0, 2), comm(3, 2));
  EXPECT_EQ(comm(1, 2), comm(2, 2));
  EXPECT_TRUE(losses.all().empty());
}

TEST_F(CommJoinsTest, ClientsOfOnePortAreToldApartOnlyWhereTheTimesSayHow) {
  // The first client had left before the second accept began; nobody else fits the second.
  worlds({1, 1, 1});
  made(0, joined(2, RawCommLink::accept, {0}, 1, 10, 30, 7));
  made(0, joined(3, RawCommLink::accept, {0}, 1, 40, 60, 7));
  made(1, joined(2, RawCommLink::connect, {0}, 1, 5, 61, 7));
  made(2, joined(2, RawCommLink::connect, {0}, 1, 5, 31, 7));
  unify();
  EXPECT_EQ(comm(0, 2), comm(2, 2));
  EXPECT_EQ(comm(0, 3), comm(1, 2));
  EXPECT_TRUE(losses.all().empty());
}

TEST_F(CommJoinsTest, ClientsThatWereThereAllTheTimeAreNotGuessed) {
  worlds({1, 1, 1});
  made(0, joined(2, RawCommLink::accept, {0}, 1, 10, 30, 7));
  made(0, joined(3, RawCommLink::accept, {0}, 1, 31, 60, 7));
  made(1, joined(2, RawCommLink::connect, {0}, 1, 5, 61, 7));
  made(2, joined(2, RawCommLink::connect, {0}, 1, 5, 33, 7));
  unify();
  EXPECT_FALSE(comm(0, 2).valid());
  EXPECT_EQ(count("ambiguous_communicators"), 4u);
}

TEST_F(CommJoinsTest, ASideWithoutItsOtherIsUnknown) {
  worlds({1});
  made(0, joined(2, RawCommLink::spawn, {0}, 1, 10, 40));
  unify();
  EXPECT_FALSE(comm(0, 2).valid());
  EXPECT_EQ(count("unknown_communicators"), 1u);
}

TEST_F(CommJoinsTest, WhatIsMadeOfAJoinKnowsItsMembers) {
  // A child's side of the inter-communicator is told the other way round.
  worlds({1, 2});
  made(0, joined(2, RawCommLink::spawn, {0}, 2, 10, 90));
  made(0, derived(3, 2, {0, in_parent(1), in_parent(2)}));
  for (size_t child : {1, 2}) {
    made(child, joined(5, RawCommLink::parent, {0, 1}, 1, 40, 95, 0, std::nullopt));
    made(child, derived(6, 5, {in_parent(2), 0, 1}));
    // Of the merged one, the parent and the second child.
  }
  made(0, derived(4, 3, {in_parent(2), 0}));
  made(2, derived(7, 6, {1, in_parent(0)}));
  unify();
  EXPECT_EQ(comm(0, 3), comm(1, 6));
  EXPECT_EQ(table.comms[comm(0, 3).index()].members,
            (std::vector{ProcessId(0), ProcessId(1), ProcessId(2)}));
  EXPECT_EQ(comm(0, 4), comm(2, 7));
  EXPECT_EQ(table.comms[comm(0, 4).index()].members, (std::vector{ProcessId(2), ProcessId(0)}));
  EXPECT_TRUE(losses.all().empty());
}

TEST_F(CommJoinsTest, ChildrenOfSeveralWorldsFindTheirParents) {
  // Two worlds that were merged spawn a third together: their side has members of both.
  worlds({1, 1, 1});
  made(0, joined(2, RawCommLink::spawn, {0}, 1, 10, 30));
  made(0, derived(3, 2, {0, in_parent(1)}));
  made(1, joined(2, RawCommLink::parent, {0}, 1, 15, 30, 0, std::nullopt));
  made(1, derived(3, 2, {in_parent(1), 0}));
  CommDefinition second = joined(4, RawCommLink::spawn, {0, in_parent(1)}, 1, 40, 70);
  second.parent = 3;
  made(0, second);
  second.members = {in_parent(0), 0};
  made(1, second);
  made(2, joined(2, RawCommLink::parent, {0}, 2, 50, 65, 0, std::nullopt));
  unify();
  ASSERT_TRUE(comm(2, 2).valid());
  EXPECT_EQ(comm(0, 4), comm(2, 2));
  EXPECT_EQ(comm(1, 4), comm(2, 2));
  EXPECT_TRUE(losses.all().empty());
}

TEST_F(CommJoinsTest, TagsTellApartWhatThreadsMakeInAnyOrder) {
  worlds({2});
  for (uint32_t rank : {0, 1}) {
    for (uint32_t i : {0, 1}) {
      CommDefinition definition = derived(2 + i, 0, {0, 1});
      definition.link = RawCommLink::tag;
      definition.key = 100 + (rank == 0 ? i : 1 - i);
      made(rank, definition);
    }
  }
  unify();
  EXPECT_EQ(comm(0, 2), comm(1, 3));
  EXPECT_EQ(comm(0, 3), comm(1, 2));
}

}  // namespace
}  // namespace culprit::assemble::test
