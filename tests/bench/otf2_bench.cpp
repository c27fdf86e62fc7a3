// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What reading through trace::Source costs: the same archive read location by location with bare
// OTF2 and empty callbacks, and with open_otf2() and an EventSink that does nothing, events by OTF2
// and by our own reader, on as many threads. Half of the events are enters and leaves, the rest
// messages and collectives, much as an MPI program's. The archive lies in the page cache.
#include <benchmark/benchmark.h>
#include <otf2/OTF2_Pthread_Locks.h>
#include <otf2/otf2.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "trace/otf2/reader.h"
#include "trace/otf2/writer.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLocations = 8;
constexpr size_t kCalls = 160'000;      // per location
constexpr uint64_t kEventsPerCall = 6;  // a function, and in it a call with one fact

Definitions definitions() {
  Definitions d;
  d.regions = {{"step", RegionRole::function, Paradigm::user, "step.c", 1},
               {"MPI_Send", RegionRole::point_to_point, Paradigm::mpi, "", 0},
               {"MPI_Allreduce", RegionRole::collective, Paradigm::mpi, "", 0}};
  d.comms = {{"MPI_COMM_WORLD", CommKind::mpi_world, {}, {}}};
  for (size_t i = 0; i < kLocations; ++i) {
    d.processes.push_back({"MPI Rank", "node", static_cast<uint32_t>(i), {LocationId(i)}});
    d.locations.push_back({"Master thread", LocationKind::cpu_thread, ProcessId(i), 0, i, 0});
    d.comms[0].members.push_back(ProcessId(i));
  }
  return d;
}

void play(EventSink& sink, uint32_t peer) {
  int64_t now = 0;
  const auto tick = [&] { return Time::from_nanos(now += 250); };
  for (size_t i = 0; i < kCalls; ++i) {
    const bool collective = i % 8 == 0;
    const RegionId call(collective ? 2 : 1);
    sink.enter(tick(), RegionId(0));
    sink.enter(tick(), call);
    if (collective) {
      sink.mpi_collective(tick(), {CollectiveOp::allreduce, CommId(0), std::nullopt, 8, 8});
    } else if (i % 2 == 0) {
      sink.mpi_send(tick(), {CommId(0), peer, 1, 1024});
    } else {
      sink.mpi_recv(tick(), {CommId(0), peer, 1, 1024});
    }
    sink.leave(tick(), call);
    sink.leave(tick(), RegionId(0));
  }
}

/// Written once, removed at exit.
class Archive {
 public:
  static const Archive& get() {
    static const Archive archive;
    return archive;
  }
  fs::path anchor() const { return folder_ / "trace" / "traces.otf2"; }

 private:
  Archive() {
    std::string pattern = (fs::temp_directory_path() / "culprit-bench-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    auto writer = create_otf2(folder_ / "trace");
    for (size_t i = 0; i < kLocations; ++i) {
      play(*(*writer)->open(ProcessId(i), 0), static_cast<uint32_t>((i + 1) % kLocations));
    }
    if (!(*writer)->finish(definitions()).ok()) std::abort();
  }
  ~Archive() { fs::remove_all(folder_); }

  fs::path folder_;
};

/// Runs `read(location)` for every location on `threads` threads.
template <class Read>
void on_threads(int64_t threads, Read read) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> pool;
  for (int64_t t = 0; t < threads; ++t) {
    pool.emplace_back([&] {
      for (size_t i = next++; i < kLocations; i = next++) read(i);
    });
  }
  for (auto& thread : pool) thread.join();
}

void count(benchmark::State& state, uint64_t events) {
  state.SetItemsProcessed(static_cast<int64_t>(events) * state.iterations());
}

OTF2_CallbackCode on_enter(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void*, OTF2_AttributeList*,
                           OTF2_RegionRef) {
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_message(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void*, OTF2_AttributeList*,
                             uint32_t, OTF2_CommRef, uint32_t, uint64_t) {
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_begin(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void*, OTF2_AttributeList*) {
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_end(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void*, OTF2_AttributeList*,
                         OTF2_CollectiveOp, OTF2_CommRef, uint32_t, uint64_t, uint64_t) {
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_EvtReaderCallbacks* empty_callbacks() {
  OTF2_EvtReaderCallbacks* c = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_enter);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_message);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_message);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_begin);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_end);
  return c;
}

uint64_t read_location(OTF2_Reader* reader, OTF2_LocationRef location,
                       const OTF2_EvtReaderCallbacks* callbacks) {
  OTF2_DefReader* local = OTF2_Reader_GetDefReader(reader, location);
  uint64_t read = 0;
  OTF2_Reader_ReadAllLocalDefinitions(reader, local, &read);
  OTF2_Reader_CloseDefReader(reader, local);
  OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, location);
  OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, nullptr);
  OTF2_Reader_ReadAllLocalEvents(reader, events, &read);
  OTF2_Reader_CloseEvtReader(reader, events);
  return read;
}

void bare_otf2(benchmark::State& state) {
  const std::string anchor = Archive::get().anchor().string();
  OTF2_EvtReaderCallbacks* callbacks = empty_callbacks();
  std::atomic<uint64_t> events = 0;
  for (auto _ : state) {
    events = 0;
    OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
    OTF2_Pthread_Reader_SetLockingCallbacks(reader, nullptr);
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    OTF2_GlobalDefReader* global = OTF2_Reader_GetGlobalDefReader(reader);
    uint64_t read = 0;
    OTF2_Reader_ReadAllGlobalDefinitions(reader, global, &read);
    OTF2_Reader_CloseGlobalDefReader(reader, global);
    for (size_t i = 0; i < kLocations; ++i) OTF2_Reader_SelectLocation(reader, i);
    OTF2_Reader_OpenDefFiles(reader);
    OTF2_Reader_OpenEvtFiles(reader);
    on_threads(state.range(0), [&](size_t i) { events += read_location(reader, i, callbacks); });
    OTF2_Reader_CloseDefFiles(reader);
    OTF2_Reader_CloseEvtFiles(reader);
    OTF2_Reader_Close(reader);
  }
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  count(state, events);
}

/// The same with an OTF2_Reader of its own for each thread's location.
void bare_otf2_reader_each(benchmark::State& state) {
  const std::string anchor = Archive::get().anchor().string();
  OTF2_EvtReaderCallbacks* callbacks = empty_callbacks();
  std::atomic<uint64_t> events = 0;
  for (auto _ : state) {
    events = 0;
    on_threads(state.range(0), [&](size_t i) {
      OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
      OTF2_Reader_SetSerialCollectiveCallbacks(reader);
      OTF2_Reader_SelectLocation(reader, i);
      OTF2_Reader_OpenDefFiles(reader);
      OTF2_Reader_OpenEvtFiles(reader);
      events += read_location(reader, i, callbacks);
      OTF2_Reader_CloseDefFiles(reader);
      OTF2_Reader_CloseEvtFiles(reader);
      OTF2_Reader_Close(reader);
    });
  }
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  count(state, events);
}

void empty_sink(benchmark::State& state, EventReader reader) {
  const fs::path anchor = Archive::get().anchor();
  uint64_t events = 0;
  for (auto _ : state) {
    Losses losses;
    auto source = open_otf2(anchor, losses, reader);
    if (!source.ok()) std::abort();
    events = 0;
    for (const Location& l : (*source)->definitions().locations) events += l.event_count;
    on_threads(state.range(0), [&](size_t i) {
      EventSink nothing;
      Losses lost;
      if (!(*source)->read(LocationId(i), nothing, lost).ok()) std::abort();
    });
  }
  count(state, events);
}

void own_reader(benchmark::State& state) {
  empty_sink(state, EventReader::own);
}
void otf2_reader(benchmark::State& state) {
  empty_sink(state, EventReader::otf2);
}

void write_archive(benchmark::State& state) {
  const fs::path folder = Archive::get().anchor().parent_path().parent_path() / "written";
  for (auto _ : state) {
    fs::remove_all(folder);
    auto writer = create_otf2(folder);
    on_threads(state.range(0), [&](size_t i) { play(*(*writer)->open(ProcessId(i), 0), 0); });
    if (!(*writer)->finish(definitions()).ok()) std::abort();
  }
  count(state, kLocations * kCalls * kEventsPerCall);
}

#define CULPRIT_BENCHMARK(name)                                                  \
  BENCHMARK(name)->Arg(1)->Arg(2)->MeasureProcessCPUTime()->UseRealTime()->Unit( \
      benchmark::kMillisecond)

CULPRIT_BENCHMARK(bare_otf2);
CULPRIT_BENCHMARK(bare_otf2_reader_each);
CULPRIT_BENCHMARK(otf2_reader);
CULPRIT_BENCHMARK(own_reader);
CULPRIT_BENCHMARK(write_archive);

}  // namespace
}  // namespace culprit::trace

BENCHMARK_MAIN();
