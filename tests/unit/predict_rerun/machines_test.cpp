// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Drawn runs on other machines: what a message takes there, by its size and by where it goes, is
// added to or taken from what is awaited of it. Each answer is worked out by hand.
#include "tests/unit/predict_rerun/drawn.h"

namespace culprit::predict {
namespace {

Link link_of(double latency_s, double s_per_byte) {
  Link link;
  link.latency = Duration::from_nanos(std::llround(latency_s * 1e9));
  link.ns_per_byte = s_per_byte * 1e9;
  return link;
}

Scenario moved(LinkKind kind, const Link& recorded, const Link& wanted) {
  Scenario scenario;
  scenario.perturbation.links[static_cast<size_t>(kind)] = LinkChange{recorded, wanted};
  return scenario;
}

Scenario near(const Link& recorded, const Link& wanted) {
  return moved(LinkKind::same_node, recorded, wanted);
}

// Rank 1 is there when the message comes: it takes 4 s, of 8 bytes.
constexpr const char* kAwaited = R"(
unit 1s
regions
  m main
  S MPI_Send
  R MPI_Recv
lanes
  0.0 |mSmmm
  1.0 |RRRRRmm
events
  send 0.0@1 -> 1.0@0 bytes 8
)";

TEST(OtherMachine, AMessageTakesTheDifference) {
  expect_wall(kAwaited, near(link_of(4, 0), link_of(4, 0)), 7);
  expect_wall(kAwaited, near(link_of(4, 0), link_of(6, 0)), 9);
  expect_wall(kAwaited, near(link_of(4, 0), link_of(1, 0)), 5);  // then rank 0's end is the last
  expect_wall(kAwaited, near(link_of(2, 0.25), link_of(2, 0.5)), 9);
}

TEST(OtherMachine, FactorsAreThoseOfItsLink) {
  Scenario slower = near(link_of(2, 0.25), link_of(2, 0.25));
  slower.latency = 2;
  expect_wall(kAwaited, slower, 9);
  slower.bandwidth = 0.5;
  expect_wall(kAwaited, slower, 11);
}

TEST(OtherMachine, WhoComesLaterDoesNotWait) {
  // Rank 1 comes 5 s after the message was sent, and takes 1 s to get it.
  constexpr const char* kLate = R"(
unit 1s
regions
  m main
  c main/comp
  S MPI_Send
  R MPI_Recv
lanes
  0.0 |mSmmm
  1.0 |ccccccRmm
events
  send 0.0@1 -> 1.0@6 bytes 8
)";
  expect_wall(kLate, near(link_of(1, 0), link_of(4, 0)), 9);
  expect_wall(kLate, near(link_of(1, 0), link_of(8, 0)), 12);
  Scenario sooner = near(link_of(1, 0), link_of(4, 0));
  sooner.scalings.push_back({"comp", 0.5});  // at 3; the message comes at 5
  expect_wall(kLate, sooner, 8);
}

TEST(OtherMachine, LinksAreToldApart) {
  constexpr const char* kTwoNodes = R"(
unit 1s
regions
  m main
  S MPI_Send
  R MPI_Recv
lanes
  0.0 a |mSmmm
  1.0 b |RRRRRmm
events
  send 0.0@1 -> 1.0@0 bytes 8
)";
  expect_wall(kTwoNodes, moved(LinkKind::other_node, link_of(4, 0), link_of(6, 0)), 9);
  const Scenario unlike = near(link_of(4, 0), link_of(6, 0));
  expect_wall(kTwoNodes, unlike, 7);
  const auto found = predict(kTwoNodes, unlike);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->unknown_links, std::set{LinkKind::other_node});
}

TEST(OtherMachine, OfSeveralMessagesTheSlowestCounts) {
  constexpr const char* kSeveral = R"(
unit 1s
regions
  m main
  S MPI_Send
  I MPI_Irecv
  J MPI_Irecv
  W MPI_Waitall
lanes
  0.0 |mmSmm
  1.0 |mmSmm
  2.0 |IJWWWWmm
events
  send 0.0@2 -> irecv 2.0@0 wait 2 bytes 8
  send 1.0@2 -> irecv 2.0@1 wait 2 bytes 16
)";
  // Both are on their way since 2, and the call ends at 6. One takes 2 s more, the other 4 s.
  expect_wall(kSeveral, near(link_of(0.001, 0.5), link_of(0.001, 0.75)), 12);
}

// Four ranks, two rounds; data that the root sends at 1 is there at 4.
constexpr const char* kBroadcast = R"(
unit 1s
regions
  m main
  B MPI_Bcast
lanes
  0.0 |mBm
  1.0 |BBBBm
  2.0 |BBBBm
  3.0 |BBBBm
events
  bcast root 0 0.0@1 1.0@0 2.0@0 3.0@0
)";

TEST(OtherMachine, ABroadcastTakesTheLevelsOfATree) {
  expect_wall(kBroadcast, near(link_of(1, 0), link_of(2, 0)), 7);
  Scenario later;
  later.perturbation.message_delay = Distribution(Constant{1e9});
  later.repeats = 1;
  expect_wall(kBroadcast, later, 7);
}

TEST(OtherMachine, OneSmallMessageHidesNoGain) {
  // 8 bytes and 8000, both sent at 1, awaited from 2 on: the large one until 9.
  constexpr const char* kBoth = R"(
unit 1s
regions
  m main
  S MPI_Send
  I MPI_Irecv
  J MPI_Irecv
  W MPI_Waitall
lanes
  0.0 |mmSmm
  1.0 |mmSmm
  2.0 |IJWWWWWWWWWm
events
  send 0.0@2 -> irecv 2.0@0 wait 2 bytes 8
  send 1.0@2 -> irecv 2.0@1 wait 2 bytes 8000
)";
  expect_wall(kBoth, near(link_of(1, 8.0 / 8000), link_of(1, 1.0 / 8000)), 5);
}

TEST(OtherMachine, WhatIsRemovedPaysForNoMessage) {
  Scenario removed = near(link_of(4, 0), link_of(20, 0));
  removed.scalings.push_back({"MPI_Recv", 0, true});
  expect_wall(kAwaited, removed, 5);  // rank 0's end
}

TEST(OtherMachine, MediansInAnyOrderMakeNothingFaster) {
  Link measured = link_of(0, 0);
  measured.sizes = {{1, Distribution(Constant{1.0e9})}, {8, Distribution(Constant{0.9e9})}};
  fit(measured);
  Scenario slower = near(measured, measured);
  slower.bandwidth = 0.05;
  expect_wall(kAwaited, slower, 7);
}

TEST(OtherMachine, WhoIsLastHasItsOwnDataAlready) {
  // Rank 0 comes to the Allreduce 6 s after all others: their data is there, and its own goes out.
  constexpr const char* kLateRank = R"(
unit 1s
regions
  m main
  A MPI_Allreduce
lanes
  0.0 |mmmmmmAm
  1.0 |AAAAAAAm
  2.0 |AAAAAAAm
  3.0 |AAAAAAAm
events
  allreduce 0.0@6 1.0@0 2.0@0 3.0@0
)";
  const auto found = predict(kLateRank, near(link_of(1, 0), link_of(2, 0)));
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->predicted.locations[0].waiting_s, 2, 1e-6);  // at its end, for the others
  EXPECT_NEAR(found->predicted.run.wall_s, 10, 1e-6);             // two rounds for the others
}

TEST(OtherMachine, NothingIsOnItsWayToOneAlone) {
  constexpr const char* kAlone = R"(
unit 1s
regions
  m main
  A MPI_Allreduce
lanes
  0.0 |mAAm
events
  allreduce 0.0@1
)";
  Scenario faster;
  faster.latency = 0.5;
  expect_wall(kAlone, faster, 4);
  const auto trace = trace::TextTrace::parse(kAlone);
  const auto found = what_if(**trace, faster, 1, {}, /*with_sensitivities=*/true);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->sensitivities.rows.front().transfers, 0u);
}

}  // namespace
}  // namespace culprit::predict
