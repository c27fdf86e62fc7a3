// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Archives as other writers make them: records that culprit does not write, written here with OTF2
// itself. Old OpenMP records, calling contexts, another clock resolution, local ids, ranks in
// another order than the locations, devices in groups of their own.
#include <gtest/gtest.h>
#include <otf2/otf2.h>

#include <fstream>

#include "foreign_archive.h"
#include "otf2_fixture.h"

// The old records are deprecated for writers; readers still meet them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace culprit::trace {
namespace {

TEST(Otf2Foreign, OldOpenMpRecordsAndAnotherClock) {
  TemporaryFolder folder;
  ForeignArchive archive(folder.path() / "trace");
  archive.events(0, [](OTF2_EvtWriter* w) {
    OTF2_EvtWriter_OmpFork(w, nullptr, 5000, 4);
    OTF2_EvtWriter_Enter(w, nullptr, 5001, 7);
    OTF2_EvtWriter_OmpAcquireLock(w, nullptr, 5002, 3, 1);
    OTF2_EvtWriter_OmpReleaseLock(w, nullptr, 5003, 3, 1);
    OTF2_EvtWriter_Leave(w, nullptr, 5004, 7);
    OTF2_EvtWriter_OmpTaskCreate(w, nullptr, 5005, 1);
    OTF2_EvtWriter_OmpJoin(w, nullptr, 5006);
  });
  archive.definitions(1'000'000, 4000);  // microseconds
  archive.process(0);
  archive.location(0, 7, 0);
  archive.region(7, OTF2_REGION_ROLE_CRITICAL, OTF2_PARADIGM_OPENMP);
  Losses losses;
  const auto source = archive.open(losses);
  ASSERT_TRUE(source);
  const std::vector<std::string> expected{
      "1000000 fork 4 0", "1001000 enter 0",       "1002000 acquired 1 3", "1003000 released 1 3",
      "1004000 leave 0",  "1005000 OmpTaskCreate", "1006000 join"};
  EXPECT_EQ(lines(*source, 0, losses), expected);
  ASSERT_EQ(losses.all().size(), 1u);  // this writer left out local definitions, as some do
  EXPECT_EQ(losses.all().begin()->first, "locations_without_local_definitions");
}

TEST(Otf2Foreign, CallingContextsAreRegions) {
  TemporaryFolder folder;
  ForeignArchive archive(folder.path() / "trace");
  archive.events(0, [](OTF2_EvtWriter* w) {
    OTF2_EvtWriter_CallingContextEnter(w, nullptr, 10, 4, 1);
    OTF2_EvtWriter_CallingContextSample(w, nullptr, 11, 4, 1, 0);
    OTF2_EvtWriter_CallingContextLeave(w, nullptr, 12, 4);
    OTF2_EvtWriter_MeasurementOnOff(w, nullptr, 13, OTF2_MEASUREMENT_OFF);
  });
  OTF2_GlobalDefWriter* definitions = archive.definitions(1'000'000'000, 0);
  archive.process(0);
  archive.location(0, 4, 0);
  archive.region(0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER);
  archive.region(1, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER);
  OTF2_GlobalDefWriter_WriteCallingContext(definitions, 4, 1, OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
                                           OTF2_UNDEFINED_CALLING_CONTEXT);
  Losses losses;
  const auto source = archive.open(losses);
  ASSERT_TRUE(source);
  const std::vector<std::string> expected{"10 enter 1", "11 CallingContextSample", "12 leave 1",
                                          "13 recording 0"};
  EXPECT_EQ(lines(*source, 0, losses), expected);
}

/// A table of local ids in a location's own definitions applies to its events.
TEST(Otf2Foreign, LocalIdsAreMapped) {
  TemporaryFolder folder;
  ForeignArchive archive(folder.path() / "trace");
  archive.events(0, [](OTF2_EvtWriter* w) {
    OTF2_EvtWriter_Enter(w, nullptr, 1, 0);
    OTF2_EvtWriter_Leave(w, nullptr, 2, 0);
  });
  OTF2_Archive_OpenDefFiles(archive.archive());
  OTF2_DefWriter* local = OTF2_Archive_GetDefWriter(archive.archive(), 0);
  const uint32_t global_of_local[] = {2};
  OTF2_IdMap* map = OTF2_IdMap_CreateFromUint32Array(1, global_of_local, false);
  OTF2_DefWriter_WriteMappingTable(local, OTF2_MAPPING_REGION, map);
  OTF2_IdMap_Free(map);
  OTF2_Archive_CloseDefWriter(archive.archive(), local);
  OTF2_Archive_CloseDefFiles(archive.archive());
  archive.definitions(1'000'000'000, 0);
  archive.process(0);
  archive.location(0, 2, 0);
  for (OTF2_RegionRef r = 0; r < 3; ++r) {
    archive.region(r, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
  }
  Losses losses;
  const auto source = archive.open(losses);
  ASSERT_TRUE(source);
  // Each time that the location is read.
  for (int reading = 0; reading < 2; ++reading) {
    EXPECT_EQ(lines(*source, 0, losses), (std::vector<std::string>{"1 enter 2", "2 leave 2"}));
  }
  EXPECT_FALSE(losses.contains(LossKind::damaged_local_definitions));
}

/// Score-P measures each process's clock against the first one's, at the begin and the end, and
/// leaves the straight line between to the reader: here from +100 at 1000 to +300 at 3000, of a
/// clock whose ticks are beyond what a double counts one by one.
TEST(Otf2Foreign, ClockOffsetsAreApplied) {
  constexpr uint64_t kLate = 10'000'000'000'000'001;
  TemporaryFolder folder;
  ForeignArchive archive(folder.path() / "trace");
  for (OTF2_LocationRef location : {0, 1}) {
    archive.events(location, [](OTF2_EvtWriter* w) {
      for (uint64_t ticks : {1000, 1500, 2000, 3000}) {
        OTF2_EvtWriter_Enter(w, nullptr, kLate + ticks, 0);
      }
      for (uint64_t ticks : {3000, 3000, 3000, 3001}) {
        OTF2_EvtWriter_Leave(w, nullptr, kLate + ticks, 0);
      }
    });
  }
  OTF2_Archive_OpenDefFiles(archive.archive());
  for (OTF2_LocationRef location : {0, 1}) {
    OTF2_DefWriter* local = OTF2_Archive_GetDefWriter(archive.archive(), location);
    OTF2_DefWriter_WriteClockOffset(local, kLate + 1000, location == 0 ? 0 : 100, 0.0);
    OTF2_DefWriter_WriteClockOffset(local, kLate + 3000, location == 0 ? 0 : 300, 0.0);
    OTF2_Archive_CloseDefWriter(archive.archive(), local);
  }
  OTF2_Archive_CloseDefFiles(archive.archive());
  archive.definitions(1'000'000'000, kLate);
  for (uint32_t p : {0, 1}) archive.process(p);
  for (uint32_t p : {0, 1}) archive.location(p, 8, p);
  archive.region(0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
  Losses losses;
  const auto source = archive.open(losses);
  ASSERT_TRUE(source);
  EXPECT_EQ(
      lines(*source, 0, losses),
      (std::vector<std::string>{"1000 enter 0", "1500 enter 0", "2000 enter 0", "3000 enter 0",
                                "3000 leave 0", "3000 leave 0", "3000 leave 0", "3001 leave 0"}));
  for (int reading = 0; reading < 2; ++reading) {
    EXPECT_EQ(
        lines(*source, 1, losses),
        (std::vector<std::string>{"1100 enter 0", "1650 enter 0", "2200 enter 0", "3300 enter 0",
                                  "3300 leave 0", "3300 leave 0", "3300 leave 0", "3301 leave 0"}));
  }
  EXPECT_FALSE(losses.contains(LossKind::damaged_local_definitions));
}

/// rocprofv3 does not say who uses a device; where there is but one process, it is that one.
TEST(Otf2Foreign, DevicesWithoutACreatorBelongToTheOnlyProcess) {
  TemporaryFolder folder;
  ForeignArchive archive(folder.path() / "trace");
  archive.definitions(1'000'000'000, 0);
  archive.process(10);
  archive.process(11, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR);
  archive.location(100, 0, 10);
  archive.location(101, 0, 11, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
  Losses losses;
  const auto source = archive.open(losses);
  ASSERT_TRUE(source);
  const Definitions& d = source->definitions();
  ASSERT_EQ(d.processes.size(), 1u);
  EXPECT_EQ(d.processes[0].locations.size(), 2u);
  EXPECT_EQ(d.locations[1].device, DeviceId(0));
}

TEST(Otf2Foreign, RanksThreadsAndDevicesFindTheirPlaces) {
  TemporaryFolder folder;
  ForeignArchive archive(folder.path() / "trace");
  OTF2_GlobalDefWriter* definitions = archive.definitions(1'000'000'000, 0);
  archive.process(10);
  archive.process(11);
  archive.process(12, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 11);
  archive.process(13);  // has no locations
  archive.location(500, 0, 12, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
  archive.location(901, 0, 11);
  archive.location(900, 0, 11);
  archive.location(100, 0, 10);
  archive.location(7, 0, 99);  // its process is not defined
  archive.group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, {900, 100});
  archive.group(1, OTF2_GROUP_TYPE_COMM_GROUP, {0, 1});
  archive.group(2, OTF2_GROUP_TYPE_COMM_GROUP, {0, 5});
  OTF2_GlobalDefWriter_WriteComm(definitions, 3, 0, 2, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteComm(definitions, 8, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  Losses losses;
  const auto source = archive.open(losses);
  ASSERT_TRUE(source);
  const Definitions& d = source->definitions();
  ASSERT_EQ(d.processes.size(), 2u);
  ASSERT_EQ(d.locations.size(), 4u);
  const uint64_t expected_ids[] = {900, 901, 500, 100};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(d.locations[i].file_id, expected_ids[i]);
  EXPECT_EQ(d.locations[2].kind, LocationKind::accelerator_stream);
  EXPECT_EQ(d.locations[2].thread, 2u);
  EXPECT_EQ(d.locations[2].device, DeviceId(0));
  EXPECT_FALSE(d.numbers_operations());
  EXPECT_EQ(d.locations[3].process, ProcessId(1));
  EXPECT_EQ(d.processes[1].rank, 1u);
  ASSERT_EQ(d.comms.size(), 1u);
  EXPECT_EQ(d.comms[0].kind, CommKind::mpi_world);
  EXPECT_EQ(losses.all().at("unusable_communicators").count, 1u);
  EXPECT_EQ(losses.all().at("processes_without_locations").count, 1u);
  EXPECT_EQ(losses.all().at("locations_without_process").count, 1u);
}

/// Collectives without a begin, roots that are none, and operations of OTF2 3.
TEST(Otf2Foreign, Collectives) {
  TemporaryFolder folder;
  ForeignArchive archive(folder.path() / "trace");
  archive.events(0, [](OTF2_EvtWriter* w) {
    const auto end = [&](uint64_t t, OTF2_CollectiveOp op, uint32_t root) {
      OTF2_EvtWriter_MpiCollectiveEnd(w, nullptr, t, op, 0, root, 1, 2);
    };
    end(1, OTF2_COLLECTIVE_OP_BCAST, 0);
    end(2, OTF2_COLLECTIVE_OP_BARRIER, OTF2_COLLECTIVE_ROOT_NONE);
    end(3, OTF2_COLLECTIVE_OP_CREATE_HANDLE, OTF2_COLLECTIVE_ROOT_NONE);
    end(4, OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE, OTF2_COLLECTIVE_ROOT_NONE);
    end(5, OTF2_COLLECTIVE_OP_ALLOCATE, OTF2_COLLECTIVE_ROOT_NONE);
    end(6, OTF2_COLLECTIVE_OP_REDUCE, 4000);  // no such rank
  });
  OTF2_GlobalDefWriter* definitions = archive.definitions(1'000'000'000, 0);
  archive.process(0);
  archive.location(0, 6, 0);
  archive.group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, {0});
  archive.group(1, OTF2_GROUP_TYPE_COMM_GROUP, {0});
  OTF2_GlobalDefWriter_WriteComm(definitions, 0, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  Losses losses;
  const auto source = archive.open(losses);
  ASSERT_TRUE(source);
  const std::vector<std::string> expected{"1 collective 1 0 0 1 2",   "2 collective 0 0 -1 1 2",
                                          "3 collective 17 0 -1 1 2", "4 collective 18 0 -1 1 2",
                                          "5 collective 20 0 -1 1 2", "6 collective 12 0 -1 1 2"};
  EXPECT_EQ(lines(*source, 0, losses), expected);
}

/// Replaces the one occurrence of `from` in the file, as a 64-bit number in this machine's order.
void replace_time(const std::filesystem::path& file, uint64_t from, uint64_t to) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::string pattern(reinterpret_cast<const char*>(&from), sizeof from);
  const size_t at = bytes.find(pattern);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, sizeof to, reinterpret_cast<const char*>(&to), sizeof to);
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST(Otf2Foreign, TimesThatGoBackStay) {
  TemporaryFolder folder;
  ForeignArchive archive(folder.path() / "trace");
  archive.events(0, [](OTF2_EvtWriter* w) {  // OTF2 refuses to write what the test is about
    OTF2_EvtWriter_Enter(w, nullptr, 120, 0);
    OTF2_EvtWriter_Enter(w, nullptr, 7001, 0);
    OTF2_EvtWriter_Leave(w, nullptr, 7002, 0);
    OTF2_EvtWriter_Leave(w, nullptr, 7003, 0);
  });
  archive.definitions(1'000'000'000, 100);
  archive.process(0);
  archive.location(0, 4, 0);
  archive.region(0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER);
  Losses losses;
  const auto source = archive.open(losses);
  ASSERT_TRUE(source);
  const auto events = folder.path() / "trace" / "traces" / "0.evt";
  replace_time(events, 7001, 110);
  replace_time(events, 7002, 130);
  replace_time(events, 7003, uint64_t{1} << 62);
  const std::vector<std::string> expected{"20 enter 0", "20 enter 0", "30 leave 0", "30 leave 0"};
  EXPECT_EQ(lines(*source, 0, losses), expected);
  EXPECT_EQ(losses.all().at("times_backward").count, 1u);
  EXPECT_EQ(losses.all().at("times_absurd").count, 1u);
}

}  // namespace
}  // namespace culprit::trace
