// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Archives that show calls, but not what happened in them: said, and never taken for a program in
// which nobody waits.
#include <gtest/gtest.h>
#include <otf2/otf2.h>

#include "foreign_archive.h"
#include "otf2_fixture.h"

namespace culprit::trace {
namespace {

/// Two processes of one time line each, and MPI's world of both.
class TwoRanks : public testing::Test {
 protected:
  enum Region : OTF2_RegionRef { kMain, kBarrier, kSend, kFinalize, kParallel };

  TwoRanks() : archive_(folder_.path() / "trace") {}

  /// What the region of a call is entered for: nothing.
  static void visit(OTF2_EvtWriter* w, OTF2_TimeStamp begin, OTF2_RegionRef region) {
    OTF2_EvtWriter_Enter(w, nullptr, begin, region);
    OTF2_EvtWriter_Leave(w, nullptr, begin + 1, region);
  }
  std::unique_ptr<Source> open(uint64_t events, const char* suffix = "") {
    OTF2_GlobalDefWriter* w = archive_.definitions(1'000'000'000, 0);
    const char* names[] = {"main", "MPI_Barrier", "MPI_Send", "MPI_Finalize", "!$omp parallel"};
    for (OTF2_StringRef i = 0; i < std::size(names); ++i) {
      const bool mpi = i >= kBarrier && i <= kFinalize;
      archive_.string(i + 1, (std::string(names[i]) + (mpi ? suffix : "")).c_str());
      OTF2_GlobalDefWriter_WriteRegion(
          w, i, i + 1, i + 1, 0,
          i == kParallel ? OTF2_REGION_ROLE_PARALLEL : OTF2_REGION_ROLE_FUNCTION,
          mpi              ? OTF2_PARADIGM_MPI
          : i == kParallel ? OTF2_PARADIGM_OPENMP
                           : OTF2_PARADIGM_USER,
          OTF2_REGION_FLAG_NONE, 0, 0, 0);
    }
    for (uint32_t rank = 0; rank < 2; ++rank) {
      archive_.process(rank);
      archive_.location(rank, events, rank);
    }
    archive_.group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, {0, 1});
    archive_.group(1, OTF2_GROUP_TYPE_COMM_GROUP, {0, 1});
    OTF2_GlobalDefWriter_WriteComm(w, 0, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    return archive_.open(losses_);
  }

  TemporaryFolder folder_;
  ForeignArchive archive_;
  Losses losses_;
};

TEST_F(TwoRanks, CallsWithoutRecordsAreCounted) {
  for (OTF2_LocationRef rank : {0, 1}) {
    archive_.events(rank, [](OTF2_EvtWriter* w) {
      visit(w, 10, kBarrier);
      visit(w, 20, kBarrier);
      OTF2_EvtWriter_Enter(w, nullptr, 30, kBarrier);
      OTF2_EvtWriter_MpiCollectiveEnd(w, nullptr, 31, OTF2_COLLECTIVE_OP_BARRIER, 0,
                                      OTF2_UNDEFINED_UINT32, 0, 0);
      OTF2_EvtWriter_Leave(w, nullptr, 32, kBarrier);
      visit(w, 40, kBarrier);
      visit(w, 50, kSend);
      visit(w, 60, kParallel);
    });
  }
  const auto source = open(13);
  ASSERT_TRUE(source);
  lines(*source, 0, losses_);
  EXPECT_EQ(lost(losses_, "collectives_without_records"), 3u);
  EXPECT_EQ(lost(losses_, "messages_without_records"), 1u);
  EXPECT_EQ(lost(losses_, "regions_without_teams"), 1u);
}

TEST_F(TwoRanks, SendsToNobodyAreFine) {
  for (OTF2_LocationRef rank : {0, 1}) {
    archive_.events(rank, [](OTF2_EvtWriter* w) {
      visit(w, 10, kSend);  // to MPI_PROC_NULL
      OTF2_EvtWriter_Enter(w, nullptr, 20, kSend);
      OTF2_EvtWriter_MpiSend(w, nullptr, 21, 1, 0, 0, 8);
      OTF2_EvtWriter_Leave(w, nullptr, 22, kSend);
    });
  }
  const auto source = open(5);
  ASSERT_TRUE(source);
  lines(*source, 0, losses_);
  EXPECT_EQ(lost(losses_, "messages_without_records"), 0u);
  EXPECT_EQ(lost(losses_, "collectives_without_records"), 0u);
}

TEST_F(TwoRanks, FinalizeIsACollectiveOfTheWorldEvenWithoutARecord) {
  for (OTF2_LocationRef rank : {0, 1}) {
    archive_.events(rank, [](OTF2_EvtWriter* w) { visit(w, 10, kFinalize); });
  }
  const auto source = open(2, "()");  // as TAU names its calls
  ASSERT_TRUE(source);
  const std::vector<std::string> expected{"10 enter 3", "11 collective 18 0 -1 0 0", "11 leave 3"};
  EXPECT_EQ(lines(*source, 1, losses_), expected);
  EXPECT_EQ(source->definitions().regions[kFinalize].name, "MPI_Finalize");
  EXPECT_EQ(lost(losses_, "messages_without_records"), 0u);
  EXPECT_EQ(lost(losses_, "collectives_without_records"), 0u);
}

TEST_F(TwoRanks, FinalizeWithARecordHasOne) {
  for (OTF2_LocationRef rank : {0, 1}) {
    archive_.events(rank, [](OTF2_EvtWriter* w) {
      OTF2_EvtWriter_Enter(w, nullptr, 10, kFinalize);
      OTF2_EvtWriter_MpiCollectiveEnd(w, nullptr, 11, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, 0,
                                      OTF2_UNDEFINED_UINT32, 0, 0);
      OTF2_EvtWriter_Leave(w, nullptr, 12, kFinalize);
    });
  }
  const auto source = open(3);
  ASSERT_TRUE(source);
  EXPECT_EQ(lines(*source, 0, losses_).size(), 3u);
}

TEST(Otf2Foreign, SamplesAndTimeLinesOfMetricsAreCounted) {
  TemporaryFolder folder;
  ForeignArchive archive(folder.path() / "trace");
  archive.events(0, [](OTF2_EvtWriter* w) {
    OTF2_EvtWriter_CallingContextSample(w, nullptr, 5, 0, 1, 0);
    OTF2_EvtWriter_CallingContextSample(w, nullptr, 6, 0, 1, 0);
  });
  archive.events(1, [](OTF2_EvtWriter* w) {
    const OTF2_Type type = OTF2_TYPE_UINT64;
    OTF2_MetricValue value;
    value.unsigned_int = 7;
    OTF2_EvtWriter_Metric(w, nullptr, 5, 0, 1, &type, &value);
  });
  archive.definitions(1'000'000'000, 0);
  archive.process(0);
  archive.location(0, 2, 0);
  archive.location(1, 1, 0, OTF2_LOCATION_TYPE_METRIC);
  Losses losses;
  const auto source = archive.open(losses);
  ASSERT_TRUE(source);
  EXPECT_EQ(source->definitions().locations.size(), 1u);
  EXPECT_EQ(lost(losses, "metric_locations"), 1u);
  lines(*source, 0, losses);
  EXPECT_EQ(lost(losses, "samples_not_used"), 2u);
}

}  // namespace
}  // namespace culprit::trace
