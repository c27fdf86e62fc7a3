// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is written comes back the same, and otf2-print, which reads with OTF2's own eyes, agrees.
#include <gtest/gtest.h>

#include <thread>

#include "otf2_fixture.h"
#include "recording_sink.h"
#include "trace/otf2/export.h"
#include "trace/otf2/reader.h"
#include "trace/otf2/writer.h"

namespace culprit::trace {
namespace {

std::unique_ptr<Source> open(const std::filesystem::path& anchor) {
  Losses losses;
  auto source = open_otf2(anchor, losses);
  EXPECT_TRUE(source.ok()) << source.error().sentence;
  EXPECT_TRUE(losses.all().empty());
  return source.ok() ? std::move(source).value() : nullptr;
}

TEST(Otf2RoundTrip, EveryEvent) {
  TemporaryFolder folder;
  const auto source = open(write_rich_archive(folder.path() / "trace"));
  ASSERT_TRUE(source);
  const auto& locations = source->definitions().locations;
  for (size_t i = 0; i < locations.size(); ++i) {
    RecordingSink expected, read;
    play_everything(expected, static_cast<uint32_t>(locations[i].process.index()),
                    locations[i].thread);
    Losses losses;
    ASSERT_TRUE(source->read(LocationId(i), read, losses).ok());
    EXPECT_EQ(read.lines, expected.lines);
    EXPECT_TRUE(lost_nothing(losses));
  }
}

TEST(Otf2RoundTrip, Metrics) {
  TemporaryFolder folder;
  const auto source = open(write_rich_archive(folder.path() / "trace"));
  ASSERT_TRUE(source);
  const auto by_name = [](const Definitions& d, size_t set) {
    std::vector<Metric> metrics;
    for (const MetricId metric : d.metric_sets.at(set))
      metrics.push_back(d.metrics[metric.index()]);
    return metrics;
  };
  ASSERT_EQ(source->definitions().metric_sets.size(), 2u);
  for (size_t set = 0; set < 2; ++set) {
    EXPECT_EQ(by_name(source->definitions(), set), by_name(rich_definitions(), set));
  }
}

TEST(Otf2RoundTrip, ReadsALocationTwice) {
  TemporaryFolder folder;
  const auto source = open(write_rich_archive(folder.path() / "trace"));
  ASSERT_TRUE(source);
  RecordingSink first, second;
  Losses losses;
  ASSERT_TRUE(source->read(LocationId(1), first, losses).ok());
  ASSERT_TRUE(source->read(LocationId(1), second, losses).ok());
  EXPECT_EQ(first.lines, second.lines);
  EXPECT_FALSE(first.lines.empty());
}

TEST(Otf2RoundTrip, RegionsAndProcesses) {
  TemporaryFolder folder;
  const auto source = open(write_rich_archive(folder.path() / "trace"));
  ASSERT_TRUE(source);
  const Definitions expected = rich_definitions();
  const Definitions& read = source->definitions();
  EXPECT_EQ(read.program, expected.program);
  EXPECT_EQ(read.creator, expected.creator);
  ASSERT_EQ(read.regions.size(), expected.regions.size());
  for (size_t i = 0; i < read.regions.size(); ++i) {
    EXPECT_EQ(read.regions[i].name, expected.regions[i].name);
    EXPECT_EQ(read.regions[i].role, expected.regions[i].role) << read.regions[i].name;
    EXPECT_EQ(read.regions[i].paradigm, expected.regions[i].paradigm) << read.regions[i].name;
    EXPECT_EQ(read.regions[i].file, expected.regions[i].file);
    EXPECT_EQ(read.regions[i].line, expected.regions[i].line);
  }
  ASSERT_EQ(read.processes.size(), expected.processes.size());
  for (size_t i = 0; i < read.processes.size(); ++i) {
    EXPECT_EQ(read.processes[i].name, expected.processes[i].name);
    EXPECT_EQ(read.processes[i].node, expected.processes[i].node);
    EXPECT_EQ(read.processes[i].rank, expected.processes[i].rank);
    EXPECT_EQ(read.processes[i].locations, expected.processes[i].locations);
  }
}

TEST(Otf2RoundTrip, LocationsAndCommunicators) {
  TemporaryFolder folder;
  const auto source = open(write_rich_archive(folder.path() / "trace"));
  ASSERT_TRUE(source);
  const Definitions expected = rich_definitions();
  const Definitions& read = source->definitions();
  ASSERT_EQ(read.locations.size(), expected.locations.size());
  for (size_t i = 0; i < read.locations.size(); ++i) {
    EXPECT_EQ(read.locations[i].name, expected.locations[i].name);
    EXPECT_EQ(read.locations[i].process, expected.locations[i].process);
    EXPECT_EQ(read.locations[i].thread, expected.locations[i].thread);
    EXPECT_EQ(read.locations[i].file_id, expected.locations[i].file_id);
    EXPECT_GT(read.locations[i].event_count, 100u);
  }
  ASSERT_EQ(read.comms.size(), expected.comms.size() + 2);  // a thread team for each process
  for (size_t i = 0; i < expected.comms.size(); ++i) {
    EXPECT_EQ(read.comms[i].name, expected.comms[i].name);
    EXPECT_EQ(read.comms[i].kind, expected.comms[i].kind) << read.comms[i].name;
    EXPECT_EQ(read.comms[i].members, expected.comms[i].members) << read.comms[i].name;
    EXPECT_EQ(read.comms[i].remote, expected.comms[i].remote) << read.comms[i].name;
  }
  EXPECT_EQ(read.comms[4].kind, CommKind::thread_team);
  EXPECT_EQ(read.comms[4].members, std::vector<ProcessId>(2, ProcessId(0)));
  EXPECT_EQ(read.comms[5].members, std::vector<ProcessId>(1, ProcessId(1)));
}

TEST(Otf2RoundTrip, Grids) {
  TemporaryFolder folder;
  const auto source = open(write_rich_archive(folder.path() / "trace"));
  ASSERT_TRUE(source);
  const Definitions expected = rich_definitions();
  const Definitions& read = source->definitions();
  ASSERT_EQ(read.grids.size(), expected.grids.size());
  for (size_t i = 0; i < read.grids.size(); ++i) {
    EXPECT_EQ(read.grids[i].name, expected.grids[i].name);
    EXPECT_EQ(read.grids[i].comm, expected.grids[i].comm);
    EXPECT_EQ(read.grids[i].dimensions, expected.grids[i].dimensions);
    EXPECT_EQ(read.grids[i].places, expected.grids[i].places);
  }
}

TEST(Otf2RoundTrip, WindowsGroupsAndFiles) {
  TemporaryFolder folder;
  const auto source = open(write_rich_archive(folder.path() / "trace"));
  ASSERT_TRUE(source);
  const Definitions expected = rich_definitions();
  const Definitions& read = source->definitions();
  ASSERT_EQ(read.windows.size(), expected.windows.size());
  for (size_t i = 0; i < read.windows.size(); ++i) {
    EXPECT_EQ(read.windows[i].name, expected.windows[i].name);
    EXPECT_EQ(read.windows[i].comm, expected.windows[i].comm);
  }
  ASSERT_GE(read.groups.size(), expected.groups.size());  // those of communicators follow
  for (size_t i = 0; i < expected.groups.size(); ++i) {
    EXPECT_EQ(read.groups[i].members, expected.groups[i].members);
  }
  ASSERT_EQ(read.files.size(), expected.files.size());
  for (size_t i = 0; i < read.files.size(); ++i) {
    EXPECT_EQ(read.files[i].name, expected.files[i].name);
    EXPECT_EQ(read.files[i].paradigm, expected.files[i].paradigm);
    EXPECT_EQ(read.files[i].comm, expected.files[i].comm);
  }
}

/// Two processes, of which the first has two devices and shares one of them.
Definitions with_devices() {
  Definitions d;
  d.regions = {{"main", RegionRole::function, Paradigm::user, "", 0},
               {"saxpy", RegionRole::kernel, Paradigm::cuda, "", 0},
               {"copy to device", RegionRole::data_transfer, Paradigm::opencl, "", 0}};
  d.processes = {{"MPI Rank 0", "node-a", 0, {LocationId(0), LocationId(1), LocationId(2)}},
                 {"MPI Rank 1", "node-a", 1, {LocationId(3), LocationId(4)}}};
  d.devices = {{"fast", "node-a", "bus 1"}, {"slow", "node-a", "bus 2"}};
  const auto thread = LocationKind::cpu_thread;
  const auto stream = LocationKind::accelerator_stream;
  const auto ref = [](uint64_t number, uint64_t rank) { return number << 32 | rank; };
  d.locations = {{"Master thread", thread, ProcessId(0), 0, ref(0, 0), 0, DeviceId::none(), 0},
                 {"stream 7", stream, ProcessId(0), 1, ref(1, 0), 0, DeviceId(0), 3},
                 {"queue 0", stream, ProcessId(0), 2, ref(2, 0), 0, DeviceId(1), 0},
                 {"Master thread", thread, ProcessId(1), 0, ref(0, 1), 0, DeviceId::none(), 0},
                 {"stream 7", stream, ProcessId(1), 1, ref(1, 1), 0, DeviceId(0), 1}};
  return d;
}

void play_host(EventSink& sink) {
  int64_t now = 0;
  const auto tick = [&now] { return Time::from_nanos(now += 3); };
  const OperationNumber after[] = {OperationNumber{5}, OperationNumber{uint64_t{1} << 40}};
  sink.enter(tick(), RegionId(0));
  for (int kind = 0; kind <= static_cast<int>(kLastDeviceOpKind); ++kind) {
    sink.device_launch(tick(), {OperationNumber(kind + 1), static_cast<DeviceOpKind>(kind), 3, {}});
  }
  sink.device_launch(tick(), {OperationNumber{90}, DeviceOpKind::copy, kNoDeviceQueue, after});
  sink.device_launch(tick(), {OperationNumber{91}, DeviceOpKind::copy, 0, {}});
  sink.device_wait(tick(), {DeviceWaitFor::operation, 0, DeviceId::none(), after[1]});
  sink.device_wait(tick(), {DeviceWaitFor::queue, 3, DeviceId::none(), OperationNumber::none});
  sink.device_wait(tick(), {DeviceWaitFor::device, 0, DeviceId(1), OperationNumber::none});
  sink.device_wait(tick(), {DeviceWaitFor::device, 0, DeviceId::none(), OperationNumber::none});
  sink.leave(tick(), RegionId(0));
}

void play_stream(EventSink& sink) {
  const auto visit = [&](int64_t begin, size_t region, const DeviceOperation& operation) {
    sink.enter(Time::from_nanos(begin), RegionId(region));
    sink.device_operation(Time::from_nanos(begin), operation);
    sink.leave(Time::from_nanos(begin + 10), RegionId(region));
  };
  visit(10, 1, {OperationNumber{1}, DeviceOpKind::kernel, {}, {}, 0, {}, 0});
  DeviceOperation copy{OperationNumber{90}, DeviceOpKind::copy, CopyDirection::within_host,
                       HostMemory::managed, uint64_t{1} << 40,  Time::from_nanos(0),
                       uint64_t{1} << 50};
  visit(20, 2, copy);
  copy.memory = HostMemory::pageable;
  copy.direction = CopyDirection::to_device;
  visit(30, 2, copy);
}

std::filesystem::path write_devices(const std::filesystem::path& folder) {
  auto writer = create_otf2(folder);
  EXPECT_TRUE(writer.ok());
  const Definitions definitions = with_devices();
  for (const Location& location : definitions.locations) {
    const auto sink = (*writer)->open(location.process, location.thread);
    location.kind == LocationKind::cpu_thread ? play_host(*sink) : play_stream(*sink);
  }
  EXPECT_TRUE((*writer)->finish(definitions).ok());
  return folder / "traces.otf2";
}

TEST(Otf2RoundTrip, DevicesAndTheirStreams) {
  TemporaryFolder folder;
  const auto source = open(write_devices(folder.path() / "trace"));
  ASSERT_TRUE(source);
  const Definitions expected = with_devices();
  const Definitions& read = source->definitions();
  ASSERT_EQ(read.devices.size(), expected.devices.size());
  EXPECT_TRUE(read.numbers_operations());
  for (size_t i = 0; i < read.devices.size(); ++i) {
    EXPECT_EQ(read.devices[i].name, expected.devices[i].name);
    EXPECT_EQ(read.devices[i].node, expected.devices[i].node);
    EXPECT_EQ(read.devices[i].identity, expected.devices[i].identity);
  }
  ASSERT_EQ(read.processes.size(), expected.processes.size());
  EXPECT_EQ(read.processes[0].node, "node-a");
  ASSERT_EQ(read.locations.size(), expected.locations.size());
  for (size_t i = 0; i < read.locations.size(); ++i) {
    EXPECT_EQ(read.locations[i].name, expected.locations[i].name);
    EXPECT_EQ(read.locations[i].kind, expected.locations[i].kind);
    EXPECT_EQ(read.locations[i].process, expected.locations[i].process);
    EXPECT_EQ(read.locations[i].thread, expected.locations[i].thread);
    EXPECT_EQ(read.locations[i].device, expected.locations[i].device);
    EXPECT_EQ(read.locations[i].queue, expected.locations[i].queue);
    RecordingSink sent, got;
    expected.locations[i].kind == LocationKind::cpu_thread ? play_host(sent) : play_stream(sent);
    Losses losses;
    ASSERT_TRUE(source->read(LocationId(i), got, losses).ok());
    EXPECT_EQ(got.lines, sent.lines);
    EXPECT_TRUE(losses.all().empty());
  }
}

TEST(Otf2RoundTrip, OtherToolsCanReadDevices) {
  TemporaryFolder folder;
  EXPECT_EQ(otf2_print_complaints(write_devices(folder.path() / "trace")), "");
}

TEST(Otf2RoundTrip, PropertiesOfTheCallerWin) {
  TemporaryFolder folder;
  Definitions definitions = rich_definitions();
  definitions.properties = {{"OTF2::MPI_COMMUNICATION_COMPLETE", "false"},
                            {"CULPRIT::SAMPLING_HZ", "100"}};
  auto writer = create_otf2(folder.path() / "trace");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->finish(definitions).ok());
  const auto source = open(folder.path() / "trace" / "traces.otf2");
  ASSERT_TRUE(source);
  const auto& read = source->definitions().properties;
  for (const auto& property : definitions.properties) {
    EXPECT_NE(std::find(read.begin(), read.end(), property), read.end()) << property.first;
  }
}

TEST(Otf2RoundTrip, OtherToolsCanReadIt) {
  TemporaryFolder folder;
  EXPECT_EQ(otf2_print_complaints(write_rich_archive(folder.path() / "trace")), "");
}

TEST(Otf2RoundTrip, OtherToolsCanReadAnArchiveWithoutEvents) {
  TemporaryFolder folder;
  auto writer = create_otf2(folder.path() / "trace");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->finish(rich_definitions()).ok());
  const auto anchor = folder.path() / "trace" / "traces.otf2";
  EXPECT_EQ(otf2_print_complaints(anchor), "");
  const auto source = open(anchor);
  ASSERT_TRUE(source);
  RecordingSink sink;
  Losses losses;
  EXPECT_TRUE(source->read(LocationId(0), sink, losses).ok());
  EXPECT_TRUE(sink.lines.empty());
  EXPECT_TRUE(losses.all().empty());
}

TEST(Otf2RoundTrip, CollectivesBeginWithTheirCall) {
  TemporaryFolder folder;
  const auto anchor = write_rich_archive(folder.path() / "trace");
  const auto print = run_command("otf2-print -L 0 '" + anchor.string() + "'");
  ASSERT_EQ(print.status, 0);
  std::istringstream lines(print.output);
  std::string kind, location, time, entered;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream(line) >> kind >> location >> time;
    if (kind == "ENTER") entered = time;
    if (kind == "MPI_COLLECTIVE_BEGIN" || kind == "RMA_COLLECTIVE_BEGIN") {
      EXPECT_EQ(time, entered);
    }
  }
}

/// Scalasca 2.5's scout ends at any other: Score-P wrote no others for MPI until version 9.
TEST(Otf2RoundTrip, CollectivesOfMpiAreOperationsThatOlderToolsKnow) {
  const std::set<std::string> known{
      "BARRIER",   "BCAST",     "GATHER",     "GATHERV",        "SCATTER",
      "SCATTERV",  "ALLGATHER", "ALLGATHERV", "ALLTOALL",       "ALLTOALLV",
      "ALLTOALLW", "ALLREDUCE", "REDUCE",     "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK",
      "SCAN",      "EXSCAN"};
  TemporaryFolder folder;
  const auto anchor = write_rich_archive(folder.path() / "trace");
  const auto print = run_command("otf2-print -L 0 '" + anchor.string() + "'");
  ASSERT_EQ(print.status, 0);
  std::istringstream lines(print.output);
  const std::string_view before = "Operation: ";
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("MPI_COLLECTIVE_END")) continue;
    const size_t begin = line.find(before) + before.size();
    seen.insert(line.substr(begin, line.find(',', begin) - begin));
  }
  EXPECT_EQ(seen, known);
}

TEST(Otf2RoundTrip, CallsOfMpiLieInTheFileByWhichOtherToolsKnowThem) {
  TemporaryFolder folder;
  const auto anchor = write_rich_archive(folder.path() / "trace");
  const auto print = run_command("otf2-print -G '" + anchor.string() + "'");
  ASSERT_EQ(print.status, 0);
  std::istringstream lines(print.output);
  size_t calls = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("REGION") || line.find("\"MPI_") == line.npos) continue;
    ++calls;
    EXPECT_NE(line.find("File: \"MPI\""), line.npos) << line;
  }
  EXPECT_GT(calls, 0u);
}

TEST(Otf2Writer, ClipsNamesThatNoChunkHolds) {
  TemporaryFolder folder;
  Definitions definitions = rich_definitions();
  std::string name(65535, 'x');
  while (name.size() < 300'000) name += "\u00e9";  // two bytes; the limit lies in the middle of one
  definitions.regions[0].name = name;
  auto writer = create_otf2(folder.path() / "trace");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->finish(definitions).ok());
  const auto source = open(folder.path() / "trace" / "traces.otf2");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->definitions().regions[0].name, std::string(65535, 'x'));
}

TEST(Otf2Writer, WritesGroupsOfAllLocations) {
  TemporaryFolder folder;
  Definitions definitions = rich_definitions();
  definitions.groups.emplace_back();
  // 200,000 ranks take 4 bytes each, more than the smallest chunk holds.
  for (uint32_t rank = 0; rank < 200'000; ++rank)
    definitions.groups.back().members.push_back(ProcessId(rank));
  for (const auto& [locations, fits] : {std::pair(0, false), std::pair(200'000, true)}) {
    auto writer = create_otf2(folder.path() / std::to_string(locations), locations);
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ((*writer)->finish(definitions).ok(), fits);
  }
}

TEST(Otf2Writer, RefusesAFolderWithContents) {
  TemporaryFolder folder;
  write_rich_archive(folder.path() / "trace");
  const auto again = create_otf2(folder.path() / "trace");
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().sentence.find("not empty"), std::string::npos) << again.error().sentence;
}

TEST(Otf2Writer, SaysWhenItCannotWrite) {
  const auto writer = create_otf2("/proc/no/such/place");
  ASSERT_FALSE(writer.ok());
  EXPECT_NE(writer.error().sentence.find("/proc/no/such/place"), std::string::npos);
}

/// Plays a stream that differs between locations and fills several chunks.
void play_long(EventSink& sink, size_t location, size_t events) {
  for (size_t i = 0; i < events; ++i) {
    const Time now = Time::from_nanos(static_cast<int64_t>(i * (location + 1)));
    i % 2 == 0 ? sink.enter(now, RegionId(location)) : sink.leave(now, RegionId(location));
  }
}

Definitions many_locations(size_t count) {
  Definitions d;
  d.regions = rich_definitions().regions;
  for (size_t i = 0; i < count; ++i) {
    const ProcessId process(i / 2);
    const auto thread = static_cast<uint32_t>(i % 2);
    if (thread == 0) d.processes.push_back({"Process", "node", static_cast<uint32_t>(i / 2), {}});
    d.processes.back().locations.push_back(LocationId(i));
    d.locations.push_back({"Thread", LocationKind::cpu_thread, process, thread, 0, 0});
  }
  return d;
}

TEST(Otf2Concurrency, EightLocationsOnFourThreads) {
  constexpr size_t kLocations = 8, kThreads = 4, kEvents = 300'000;
  TemporaryFolder folder;
  auto writer = create_otf2(folder.path() / "trace");
  ASSERT_TRUE(writer.ok());
  const Definitions definitions = many_locations(kLocations);
  const auto on_threads = [&](const std::function<void(size_t)>& work) {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t; i < kLocations; i += kThreads) work(i);
      });
    }
    for (auto& thread : threads) thread.join();
  };
  on_threads([&](size_t i) {
    const Location& location = definitions.locations[i];
    play_long(*(*writer)->open(location.process, location.thread), i, kEvents);
  });
  ASSERT_TRUE((*writer)->finish(definitions).ok());

  const auto source = open(folder.path() / "trace" / "traces.otf2");
  ASSERT_TRUE(source);
  std::vector<char> same(kLocations);
  on_threads([&](size_t i) {
    RecordingSink expected, read;
    Losses losses;
    play_long(expected, i, kEvents);
    same[i] = source->read(LocationId(i), read, losses).ok() && read.lines == expected.lines &&
              lost_nothing(losses);
  });
  EXPECT_EQ(same, std::vector<char>(kLocations, 1));
}

TEST(Otf2Export, LossesBeforeTheArchiveAreToldByIt) {
  TemporaryFolder folder;
  const std::filesystem::path rich = write_rich_archive(folder.path() / "rich");
  Losses lost;
  auto source = open_otf2(rich, lost);
  ASSERT_TRUE(source.ok()) << source.error().sentence;
  Losses before;
  before.restore("lost_in_the_future", {12, Severity::warning, "It: was told."});
  before.add(LossKind::dropped_records, 3);
  ASSERT_TRUE(export_otf2(*source.value(), folder.path() / "again", 2, before).ok());
  EXPECT_FALSE(export_otf2(*source.value(), folder.path() / "again", 2, before).ok());
  Losses told;
  auto again = open_otf2(folder.path() / "again" / "traces.otf2", told);
  ASSERT_TRUE(again.ok()) << again.error().sentence;
  EXPECT_EQ(told.all().at("lost_in_the_future").count, 12u);
  EXPECT_EQ(told.all().at("lost_in_the_future").severity, Severity::warning);
  EXPECT_EQ(told.all().at("lost_in_the_future").advice, "It: was told.");
  EXPECT_EQ(told.all().at("dropped_records").count, 3u);
  EXPECT_EQ(again.value()->definitions().properties, source.value()->definitions().properties);
  EXPECT_EQ(again.value()->definitions().origin_realtime_ns,
            source.value()->definitions().origin_realtime_ns);
  EXPECT_NE(source.value()->definitions().origin_realtime_ns, 0u);
}

}  // namespace
}  // namespace culprit::trace
