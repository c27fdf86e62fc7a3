// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whom a collective exchanges data with: sets of ranks in the record, and when they are named.

#include "collector/mpi/groups/partners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/fakes/fake_recorder.h"

namespace culprit::collector::mpi {
namespace {

using tests::fake_count;
using tests::fake_records;
using tests::FakeRecord;
using trace::CollectiveOp;

/// Ranks of the sets that the records define, by number. They outlive a reset of the recorder.
std::set<int> members(RankSet set) {
  static std::map<uint32_t, std::set<int>> known;
  for (const FakeRecord& record : fake_records()) {
    if (record.kind != RawKind::mpi_rank_set && record.kind != RawKind::mpi_rank_set_more) continue;
    for (size_t i = 1; i + 1 < record.words.size(); i += 2) {
      for (unsigned bit = 0; bit < 64; ++bit) {
        if (record.words[i + 1] >> bit & 1) {
          known[record.arg].insert(static_cast<int>(record.words[i] * 64 + bit));
        }
      }
    }
  }
  return known[static_cast<uint32_t>(set)];
}

RankSet define(const std::vector<int>& ranks) {
  return set_of(*thread_log(), 1, [&](const auto& visit) {
    for (const int rank : ranks) visit(rank);
  });
}

class Partner : public testing::Test {
 protected:
  void SetUp() override {
    tests::fake_recorder_reset();
    comm.id = 2;
    comm.rank = 1;
    comm.size = 4;
  }
  Partners partners(const Collective& call) {
    return partners_in(*thread_log(), 1, call, comm, nullptr);
  }
  static Collective of(CollectiveOp op) {
    Collective call;
    call.op = op;
    call.send.type = call.recv.type = MPI_INT;
    return call;
  }
  Comm comm;
};

TEST_F(Partner, SetsAreRememberedByContent) {
  const RankSet set = define({1, 5, 200});
  EXPECT_NE(set, RankSet::implied);
  EXPECT_EQ(members(set), (std::set<int>{1, 5, 200}));
  EXPECT_EQ(fake_count(RawKind::mpi_rank_set), 1u);
  EXPECT_EQ(define({1, 5, 5, 200}), set);
  EXPECT_EQ(fake_count(RawKind::mpi_rank_set), 1u) << "known";
  EXPECT_NE(define({1, 5, 201}), set);
  EXPECT_NE(define({1, 5}), set);
  EXPECT_NE(define({}), set);
  EXPECT_EQ(define({}), define({}));
}

TEST_F(Partner, LongSetsGoOnInFurtherRecords) {
  std::vector<int> every_other;
  for (int i = 0; i < 100'000; i += 2) every_other.push_back(i);
  const RankSet set = define(every_other);
  EXPECT_EQ(fake_count(RawKind::mpi_rank_set), 1u);
  EXPECT_EQ(fake_count(RawKind::mpi_rank_set_more), 12u) << "1563 pairs, 127 a record";
  for (const FakeRecord& record : fake_records()) EXPECT_EQ(record.words.at(0), 1563u);
  EXPECT_EQ(members(set), std::set<int>(every_other.begin(), every_other.end()));
  EXPECT_EQ(define(every_other), set);
}

TEST_F(Partner, MemoryOfSetsIsBounded) {
  std::vector<int> ranks;
  for (int i = 0; i < 64'000; i += 64) ranks.push_back(i);  // 16 kB each
  for (int i = 0; i < 300; ++i) {
    ranks[0] = i % 64, ranks[1] = 64 + i / 64;
    define(ranks);
  }
  tests::fake_recorder_reset();
  EXPECT_EQ(members(define(ranks)), std::set<int>(ranks.begin(), ranks.end()))
      << "defined anew, but right";
}

TEST_F(Partner, EverybodyIsNotNamed) {
  const int counts[] = {1, 0, 2, 3};  // nothing with oneself
  Collective call = of(CollectiveOp::alltoallv);
  call.send.counts = call.recv.counts = counts;
  const Partners found = partners(call);
  EXPECT_EQ(found.sends_to, RankSet::implied);
  EXPECT_EQ(found.receives_from, RankSet::implied);
  EXPECT_TRUE(fake_records().empty());
}

TEST_F(Partner, ZeroCountsOfAlltoallv) {
  const int sent[] = {1, 1, 0, 0};
  const MPI_Count received[] = {0, 0, 0, 7};
  Collective call = of(CollectiveOp::alltoallv);
  call.send.counts = sent;
  call.recv.counts = received;
  Partners found = partners(call);
  EXPECT_EQ(members(found.sends_to), (std::set<int>{0, 1}));
  EXPECT_EQ(members(found.receives_from), (std::set<int>{3}));
  call.send.in_place = true;
  found = partners(call);
  EXPECT_EQ(found.sends_to, found.receives_from) << "in place, both are what is received";
}

TEST_F(Partner, EmptyTypesOfAlltoallw) {
  const int counts[] = {1, 1, 1, 1};
  MPI_Datatype nothing;
  PMPI_Type_contiguous(0, MPI_INT, &nothing);
  const MPI_Datatype types[] = {MPI_INT, MPI_INT, nothing, MPI_INT};
  Collective call = of(CollectiveOp::alltoallw);
  call.send.counts = call.recv.counts = counts;
  call.send.types = call.recv.types = Types(Language::c, types);
  EXPECT_EQ(members(partners(call).sends_to), (std::set<int>{0, 1, 3}));
  PMPI_Type_free(&nothing);
}

TEST_F(Partner, CountsOfGathervMatterAtTheRootAlone) {
  const int counts[] = {4, 4, 0, 4};
  Collective call = of(CollectiveOp::gatherv);
  call.rooted = true;
  call.root = 1;
  call.recv.counts = counts;
  call.send.count = 4;
  Partners found = partners(call);
  EXPECT_EQ(found.sends_to, RankSet::implied);
  EXPECT_EQ(members(found.receives_from), (std::set<int>{0, 1, 3}));
  call.root = 0;
  call.recv.counts = Counts();  // may be null elsewhere
  found = partners(call);
  EXPECT_EQ(found.sends_to, RankSet::implied);
  EXPECT_EQ(found.receives_from, RankSet::implied);
  call.send.count = 0;
  found = partners(call);
  EXPECT_NE(found.sends_to, RankSet::implied);
  EXPECT_TRUE(members(found.sends_to).empty());
}

TEST_F(Partner, ScattervAllgathervReduceScatter) {
  const int counts[] = {4, 0, 0, 4};
  Collective scatter = of(CollectiveOp::scatterv);
  scatter.rooted = true;
  scatter.root = 1;
  scatter.send.counts = counts;
  EXPECT_EQ(members(partners(scatter).sends_to), (std::set<int>{0, 3}));
  scatter.root = 2;
  scatter.recv.count = 0;
  EXPECT_TRUE(members(partners(scatter).receives_from).empty());
  EXPECT_NE(partners(scatter).receives_from, RankSet::implied);

  Collective gather = of(CollectiveOp::allgatherv);
  gather.recv.counts = counts;
  gather.send.count = 0;
  EXPECT_NE(partners(gather).sends_to, RankSet::implied);
  EXPECT_EQ(members(partners(gather).receives_from), (std::set<int>{0, 3}));

  Collective reduce = of(CollectiveOp::reduce_scatter);
  reduce.recv.counts = counts;
  EXPECT_EQ(members(partners(reduce).sends_to), (std::set<int>{0, 3}));
  EXPECT_NE(partners(reduce).receives_from, RankSet::implied) << "gets nothing, so waits for none";
  EXPECT_TRUE(members(partners(reduce).receives_from).empty());
}

TEST_F(Partner, RemoteGroupIsCounted) {
  comm.remote_size = 3;
  const int counts[] = {1, 0, 1};  // rank 1 of the remote group, which is not oneself
  Collective call = of(CollectiveOp::alltoallv);
  call.send.counts = call.recv.counts = counts;
  EXPECT_EQ(members(partners(call).sends_to), (std::set<int>{0, 2}));
}

class Neighborhoods : public Partner {};

TEST_F(Neighborhoods, BorderOfAGridHasNoNeighbours) {
  const int dims[] = {1, 1}, periods[] = {0, 1};
  MPI_Comm grid;
  PMPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &grid);
  const Comm known = comm_of(*thread_log(), 1, grid);
  const Neighborhood* found = neighborhood_of(*thread_log(), 1, grid, known);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->in.ranks, (std::vector<int>{MPI_PROC_NULL, MPI_PROC_NULL, 0, 0}));
  EXPECT_EQ(found->in.ascending, (std::vector<int>{2, 3}));
  EXPECT_EQ(neighborhood_of(*thread_log(), 1, grid, known), found) << "asked once";
  Collective call = of(CollectiveOp::neighbor);
  const int counts[] = {9, 9, 0, 0};
  call.send.counts = counts;
  call.recv.count = 3;
  const Partners partners = partners_in(*thread_log(), 1, call, known, found);
  EXPECT_TRUE(members(partners.sends_to).empty());
  EXPECT_NE(partners.sends_to, RankSet::implied);
  EXPECT_EQ(members(partners.receives_from), (std::set<int>{0}));
  Comm copy;
  forget(find_handle(HandleKind::comm, key_of(grid), copy));
  PMPI_Comm_free(&grid);
}

TEST_F(Neighborhoods, DirectedGraphsWithAndWithoutWeights) {
  const int twice[] = {0, 0}, weights[] = {3, 4};
  for (const int* given : {static_cast<const int*>(MPI_UNWEIGHTED), weights}) {
    MPI_Comm graph;
    PMPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 2, twice, given, 0, nullptr,
                                    given == weights ? MPI_WEIGHTS_EMPTY : MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &graph);
    const Comm known = comm_of(*thread_log(), 1, graph);
    const Neighborhood* found = neighborhood_of(*thread_log(), 1, graph, known);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->in.ranks, (std::vector<int>{0, 0}));
    EXPECT_TRUE(found->out.ranks.empty());
    EXPECT_EQ(members(found->in.all), (std::set<int>{0}));
    EXPECT_TRUE(members(found->out.all).empty());
    Comm copy;
    forget(find_handle(HandleKind::comm, key_of(graph), copy));
    PMPI_Comm_free(&graph);
  }
}

/// The record of a communicator's topology, if there is one.
const FakeRecord* topology(RawKind kind) {
  for (const FakeRecord& record : fake_records()) {
    if (record.kind == kind) return &record;
  }
  return nullptr;
}

TEST_F(Neighborhoods, AreToldWhenACommunicatorIsDefined) {
  constexpr int kMany = 71;
  const std::vector<int> self(kMany, 0);
  MPI_Comm graph, grid;
  const int dims[] = {1, 1}, periods[] = {0, 1};
  PMPI_Dist_graph_create_adjacent(MPI_COMM_SELF, kMany, self.data(), MPI_UNWEIGHTED, kMany,
                                  self.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  PMPI_Cart_create(MPI_COMM_SELF, 2, dims, periods, 0, &grid);
  const Comm known = comm_of(*thread_log(), 1, graph);
  const FakeRecord* told = topology(RawKind::mpi_graph);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->arg, known.id);
  EXPECT_EQ(told->words.size(), 1 + trace::kMostNeighbors / 2);
  EXPECT_EQ(told->words[0], static_cast<uint64_t>(kMany));
  const Comm of_grid = comm_of(*thread_log(), 1, grid);
  told = topology(RawKind::mpi_grid);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->arg, of_grid.id);
  EXPECT_EQ(told->words, (std::vector<uint64_t>{2, 1, 1 | uint64_t{1} << 63}));
  Comm copy;
  for (MPI_Comm* handle : {&graph, &grid}) {
    forget(find_handle(HandleKind::comm, key_of(*handle), copy));
    PMPI_Comm_free(handle);
  }
}

}  // namespace
}  // namespace culprit::collector::mpi
