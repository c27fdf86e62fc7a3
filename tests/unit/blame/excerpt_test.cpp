// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parts of a drawn run, each activity, wait and message of which is known.
#include "blame/excerpt/excerpt.h"

#include <gtest/gtest.h>

#include "tests/support/text/text.h"

namespace culprit::blame {
namespace {

constexpr std::string_view kPicture = R"(
unit 1s
regions
  c comp
  S main/MPI_Send
  R main/MPI_Recv
  m main
lanes
  0.0 |ccccccSmmm
  1.0 |cccRRRRmmm
events
  send 0.0@6 -> 1.0@3
)";

Result<Excerpt> part(const ExcerptSelection& selection) {
  const auto trace = trace::TextTrace::parse(kPicture);
  EXPECT_TRUE(trace.ok());
  Losses losses;
  return read_excerpt(*trace.value(), selection, 1, losses);
}

Time second(double s) {
  return Time::from_nanos(static_cast<int64_t>(s * 1e9));
}

std::string region(const Excerpt& excerpt, CallPathId path) {
  return excerpt.callpaths[path.index()].region;
}

TEST(Excerpt, HasAllOfARun) {
  const auto all = part({});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->wall, Duration::from_nanos(10'000'000'000));
  ASSERT_EQ(all->activities.size(), 6u);
  EXPECT_EQ(region(*all, all->activities[0].path), "comp");
  EXPECT_EQ(all->activities[0].end, second(6));
  EXPECT_EQ(region(*all, all->activities[4].path), "MPI_Recv");
  EXPECT_EQ(all->activities[4].begin, second(3));
  EXPECT_EQ(all->activities[4].end, second(7));
  ASSERT_EQ(all->waits.size(), 1u);
  EXPECT_EQ(all->waits[0].begin, second(3));
  EXPECT_EQ(all->waits[0].end, second(6));
  EXPECT_EQ(all->waits[0].cause, LocationId(0));
  EXPECT_EQ(all->waits[0].pattern, replay::pattern("mpi.late_sender"));
  ASSERT_EQ(all->messages.size(), 1u);
  EXPECT_EQ(all->messages[0].sender, LocationId(0));
  EXPECT_EQ(all->messages[0].receiver, LocationId(1));
  EXPECT_EQ(all->messages[0].sent, second(6));
  EXPECT_EQ(all->messages[0].received, second(7));
  EXPECT_EQ(all->critical.front().begin, second(0));
  EXPECT_EQ(all->critical.back().end, second(10));
}

TEST(Excerpt, IsCutAtItsEnds) {
  const auto some = part({.from_s = 4, .to_s = 6.5, .ranks = {1}, .shortest_s = 0});
  ASSERT_TRUE(some.ok());
  ASSERT_EQ(some->activities.size(), 1u);
  EXPECT_EQ(some->activities[0].begin, second(4));
  EXPECT_EQ(some->activities[0].end, second(6.5));
  ASSERT_EQ(some->waits.size(), 1u);
  EXPECT_EQ(some->waits[0].begin, second(4));
  EXPECT_EQ(some->messages.size(), 1u);  // one of its ends is wanted
}

TEST(Excerpt, LeavesOutWhatIsShort) {
  const auto some = part({.from_s = 0, .to_s = 100, .ranks = {}, .shortest_s = 3.5});
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->activities.size(), 2u);  // six seconds of comp, four of the receive
  EXPECT_EQ(some->left_out, 4u);
  EXPECT_TRUE(some->waits.empty());
}

TEST(Excerpt, RefusesWhatIsNotThere) {
  EXPECT_FALSE(part({.from_s = 0, .to_s = 1, .ranks = {7}, .shortest_s = 0}));
  EXPECT_FALSE(part({.from_s = 11, .to_s = 12, .ranks = {}, .shortest_s = 0}));
  EXPECT_FALSE(part({.from_s = 5, .to_s = 4, .ranks = {}, .shortest_s = 0}));
}

TEST(Excerpt, AnActivityIsAsLongAsItIsInTheWholeRun) {
  // Replay cuts comp where the message is sent for, and the part shows its last half second.
  ExcerptSelection tail;
  tail.from_s = 5.5;
  tail.shortest_s = 4;
  const auto found = part(tail);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->activities.size(), 2u);
  EXPECT_EQ(region(*found, found->activities[0].path), "comp");
  EXPECT_EQ(found->activities[0].begin, second(5.5));
  EXPECT_EQ(found->activities[0].end, second(6));
  EXPECT_EQ(region(*found, found->activities[1].path), "MPI_Recv");
}

}  // namespace
}  // namespace culprit::blame
