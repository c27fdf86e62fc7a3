// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Grids and graphs that processes told of, each its own part.

#include "assemble/run/comms/topologies.h"

#include <gtest/gtest.h>

#include "tests/unit/assemble/fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

/// Two processes that know communicator 2 and 3 of each other, in reverse order of their ranks.
class Topologies : public testing::Test {
 protected:
  Topologies() {
    comms_.comms = {{"world", {}, {ProcessId(0), ProcessId(1)}, {}},
                    {"a", {}, {ProcessId(1), ProcessId(0)}, {}},
                    {"b", {}, {ProcessId(1), ProcessId(0)}, {}}};
    comms_.local = {{{2, CommId(1)}, {3, CommId(2)}}, {{2, CommId(1)}, {3, CommId(2)}}};
    for (size_t i = 0; i < 2; ++i) {
      users_.push_back({.process = ProcessId(i), .world = 0, .survey = &surveys_[i]});
    }
  }

  CommTable comms_;
  Survey surveys_[2];
  std::vector<CommUser> users_;
};

TEST_F(Topologies, EqualGridsAreOneAndPlacesOutsideAreNone) {
  for (const uint32_t comm : {2u, 3u}) {
    surveys_[0].grids.push_back({comm, {{2, true}, {1, false}}, {1, 0}});
    surveys_[1].grids.push_back({comm, {{2, true}, {1, false}}, {0, 0}});
  }
  surveys_[1].grids.push_back({3, {{2, true}, {1, false}}, {7, 0}});
  surveys_[1].grids.push_back({99, {{2, true}}, {0}});
  const auto grids = unify_grids(comms_, users_);
  ASSERT_EQ(grids.size(), 1u);
  EXPECT_EQ(grids[0].comm, CommId(1));
  EXPECT_EQ(grids[0].places,
            (std::vector<trace::GridPlace>{{ProcessId(0), {1, 0}}, {ProcessId(1), {0, 0}}}));
}

TEST_F(Topologies, NeighboursAreRanksOfTheirCommunicator) {
  surveys_[0].graphs = {{2, {0, 1}, 2}, {3, {0}, 500}};
  surveys_[1].graphs = {{2, {0, 40}, 2}};
  const auto graphs = unify_graphs(comms_, users_);
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_EQ(graphs[0].places,
            (std::vector<trace::GraphPlace>{{ProcessId(0), {ProcessId(1), ProcessId(0)}, 2},
                                            {ProcessId(1), {ProcessId(1)}, 2}}));
  EXPECT_EQ(graphs[1].name, "graph 1");
  EXPECT_EQ(graphs[1].places,
            (std::vector<trace::GraphPlace>{{ProcessId(0), {ProcessId(1)}, 500}}));
}

TEST_F(Topologies, OfManyTheFirstAreKept) {
  for (uint32_t i = 0; i < 100; ++i) {
    comms_.comms.push_back({"", {}, {ProcessId(0)}, {}});
    comms_.local[0][10 + i] = CommId(3 + i);
    surveys_[0].grids.push_back({10 + i, {{100, false}}, {i}});
  }
  EXPECT_EQ(unify_grids(comms_, users_).size(), kMostTopologies);
}

class TopologyRecords : public AssembleTest {};

TEST_F(TopologyRecords, ThatAreCutShortOrWrongAreIgnored) {
  process()
      ->thread(0)
      .put(RawKind::mpi_grid, 10, 0, 2, {2, 4 | uint64_t{3} << 32 | uint64_t{1} << 63, 5})
      .put(RawKind::mpi_grid, 11, 0, 3, {2, 4})
      .put(RawKind::mpi_grid, 12, 0, 3, {uint64_t{1} << 40, 4})
      .put(RawKind::mpi_graph, 13, 0, 4, {3, 7 | uint64_t{8} << 32, 9})
      .put(RawKind::mpi_graph, 14, 0, 5, {3, 7})
      .put(RawKind::mpi_graph, 15, 0, 6, {0});
  Losses losses;
  const Survey survey =
      survey_log(read_raw(GuardedPath(folder_) / "raw", losses).at(0).logs.at(0)).survey;
  ASSERT_EQ(survey.grids.size(), 1u);
  EXPECT_EQ(survey.grids[0].dimensions, (std::vector<trace::GridDimension>{{4, true}, {5, false}}));
  EXPECT_EQ(survey.grids[0].coordinates, (std::vector<uint32_t>{3, 0}));
  ASSERT_EQ(survey.graphs.size(), 2u);
  EXPECT_EQ(survey.graphs[0].neighbors, (std::vector<uint32_t>{7, 8, 9}));
  EXPECT_TRUE(survey.graphs[1].neighbors.empty());
}

}  // namespace
}  // namespace culprit::assemble::test
