// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "otf2_fixture.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "trace/otf2/writer.h"

/// Read by LeakSanitizer: OTF2 forgets its memory when a damaged anchor makes it give up.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:otf2_archive_open\nleak:otf2_file_posix_open\n";
}

namespace culprit::trace {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "culprit-test-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

namespace {

std::vector<Region> every_region() {
  std::vector<Region> regions{
      {"main", RegionRole::function, Paradigm::compiler, "/src/main.c", 7},
      {"MPI_Send", RegionRole::point_to_point, Paradigm::mpi, "", 0},
      {"MPI_Allreduce", RegionRole::collective, Paradigm::mpi, "", 0},
      {"MPI_Barrier", RegionRole::barrier, Paradigm::mpi, "", 0},
      {"!$omp parallel @a.c:7", RegionRole::parallel, Paradigm::openmp, "a.c", 7},
      {"!$omp for @a.c:8", RegionRole::worksharing, Paradigm::openmp, "a.c", 8},
      {"!$omp implicit barrier @a.c:9", RegionRole::implicit_barrier, Paradigm::openmp, "a.c", 9},
      {"!$omp task @a.c:10", RegionRole::task, Paradigm::openmp, "a.c", 10},
      {"!$omp taskwait @a.c:11", RegionRole::task_wait, Paradigm::openmp, "a.c", 11},
      {"!$omp critical @a.c:12", RegionRole::critical, Paradigm::openmp, "a.c", 12},
      {"omp_set_lock", RegionRole::lock, Paradigm::openmp, "", 0},
      {"copy", RegionRole::data_transfer, Paradigm::cuda, "", 0},
      {"flush", RegionRole::artificial, Paradigm::measurement_system, "", 0},
      {"?", RegionRole::unknown, Paradigm::unknown, "", 0},
      {"solve<double>(int) \"x\" \xc3\xa4", RegionRole::function, Paradigm::user, "s.cpp", 1},
      {"sampled", RegionRole::function, Paradigm::sampling, "", 0},
      {"pthread_join", RegionRole::function, Paradigm::pthread, "", 0},
      {"clFinish", RegionRole::function, Paradigm::opencl, "", 0},
      {"acc_wait", RegionRole::function, Paradigm::openacc, "", 0},
      {"MPI_Win_start", RegionRole::function, Paradigm::mpi, "", 0},
      {"MPI_Win_complete", RegionRole::function, Paradigm::mpi, "", 0},
      {"MPI_Win_post", RegionRole::function, Paradigm::mpi, "", 0},
      {"MPI_Win_test", RegionRole::function, Paradigm::mpi, "", 0},
      {"MPI_Win_flush", RegionRole::function, Paradigm::mpi, "", 0},
      {"MPI_Win_flush_local_all", RegionRole::function, Paradigm::mpi, "", 0},
      {"part", RegionRole::code, Paradigm::user, "", 0},
      {"stage", RegionRole::phase, Paradigm::user, "", 0},
      {"step", RegionRole::iteration, Paradigm::user, "", 0},
      {std::string(kNotRecorded), RegionRole::artificial, Paradigm::measurement_system, "", 0},
  };
  return regions;
}

}  // namespace

Definitions rich_definitions() {
  Definitions d;
  d.origin_realtime_ns = 1'700'000'000'000'000'000;
  d.regions = every_region();
  const ProcessId first(0), second(1);
  d.processes = {{"MPI Rank 0", "node-a", 0, {LocationId(0), LocationId(1)}},
                 {"MPI Rank 1", "node-b", 1, {LocationId(2)}}};
  d.locations = {{"Master thread", LocationKind::cpu_thread, first, 0, 0, 0},
                 {"OMP thread 1", LocationKind::cpu_thread, first, 1, uint64_t{1} << 32, 0},
                 {"Master thread", LocationKind::cpu_thread, second, 0, 1, 0}};
  d.comms = {{"MPI_COMM_WORLD", CommKind::mpi_world, {first, second}, {}},
             {"MPI_COMM_SELF", CommKind::mpi_self, {}, {}},
             {"reversed", CommKind::mpi, {second, first}, {}},
             {"bridge", CommKind::mpi_inter, {first}, {second}}};
  d.metrics = {{"PAPI_TOT_INS", "", MetricMode::accumulated},
               {"ru_maxrss", "KiB", MetricMode::level},
               {"sde:::lib::new", "bytes", MetricMode::relative}};
  d.metric_sets = {{MetricId(1)}, {MetricId(2), MetricId(0)}};
  d.groups = {{{second}}, {{second, first}}, {{}}};
  d.grids = {{"grid 0", CommId(2), {{2, true}, {1, false}}, {{second, {0, 0}}, {first, {1, 0}}}},
             {"grid 1", CommId(0), {{3, false}}, {{first, {2}}}}};
  d.windows = {{"window 0", CommId(0)}, {"window 1", CommId(2)}};
  d.files = {{"out.dat", "MPI-IO", CommId(0)},
             {"out.dat", "MPI-IO", CommId(1)},
             {"log", "POSIX", CommId::none()}};
  d.program = "./app --size 3";
  d.creator = "culprit 0.1";
  return d;
}

namespace {

/// A clock and a call around events, for those who play.
struct Player {
  EventSink& sink;
  int64_t now;
  Time tick() { return Time::from_nanos(now += 3); }
  void call(size_t region, const std::function<void()>& inside) {
    sink.enter(tick(), RegionId(region));
    inside();
    sink.leave(tick(), RegionId(region));
  }
};

void play_windows(Player& p) {
  constexpr size_t kStart = 19, kComplete = 20, kPost = 21, kTest = 22, kFlush = 23, kLocalAll = 24;
  constexpr size_t kAny = 1;
  EventSink& sink = p.sink;
  const WindowId window(1), other(0);
  const RmaAssertions some = RmaAssertions::no_store | RmaAssertions::no_precede;
  p.call(kAny, [&] {
    sink.rma_window_created(p.tick(), window);
    sink.rma_collective(Time::from_nanos(p.now),
                        {CollectiveOp::create_handle, window, {}, 0, 0, RmaAssertions::none});
  });
  p.call(kAny,
         [&] { sink.rma_collective(p.tick(), {CollectiveOp::barrier, other, {}, 0, 0, some}); });
  p.call(kAny, [&] { sink.rma_collective(p.tick(), {CollectiveOp::bcast, other, 1, 8, 9, {}}); });
  for (int op = 0; op <= static_cast<int>(RmaOp::fetch_and_accumulate); ++op) {
    RmaOperation operation{window, 1, static_cast<RmaOp>(op), 100, 200, RmaOpId(1000 + op)};
    if (operation.op == RmaOp::put) operation.bytes_received = 0;
    if (operation.op == RmaOp::get) operation.bytes_sent = 0;
    p.call(kAny, [&] { sink.rma_operation(p.tick(), operation); });
    p.call(kAny, [&] {
      sink.rma_complete(p.tick(), window, operation.id, static_cast<RmaCompletion>(op % 3));
    });
  }
  const auto epoch = [&](size_t region, RmaEpoch what, GroupId group, RmaAssertions assertions) {
    p.call(region, [&] { sink.rma_group_sync(p.tick(), {what, window, group, assertions}); });
  };
  epoch(kPost, RmaEpoch::post, GroupId(0), RmaAssertions::no_check);
  epoch(kStart, RmaEpoch::start, GroupId(1), some);
  epoch(kComplete, RmaEpoch::complete, GroupId(1), RmaAssertions::none);
  epoch(kTest, RmaEpoch::wait, GroupId(2), RmaAssertions::none);
  epoch(kAny, RmaEpoch::other, GroupId::none(), RmaAssertions::none);
  for (int step = 0; step <= static_cast<int>(RmaLockStep::released); ++step) {
    RmaLock lock{static_cast<RmaLockStep>(step), other, 1, step == 1, 7, RmaAssertions::none};
    p.call(kAny, [&] { sink.rma_lock(p.tick(), lock); });
    lock.target.reset();
    if (lock.step == RmaLockStep::request) lock.assertions = RmaAssertions::no_check;
    p.call(kAny, [&] { sink.rma_lock(p.tick(), lock); });
  }
  p.call(kAny, [&] { sink.rma_sync(p.tick(), {RmaSyncKind::memory, other, {}}); });
  p.call(kAny, [&] { sink.rma_sync(p.tick(), {RmaSyncKind::notify_in, other, 0}); });
  p.call(kAny, [&] { sink.rma_sync(p.tick(), {RmaSyncKind::notify_out, other, 1}); });
  p.call(kFlush, [&] { sink.rma_sync(p.tick(), {RmaSyncKind::flush, other, 1}); });
  p.call(kLocalAll, [&] { sink.rma_sync(p.tick(), {RmaSyncKind::flush_local, other, {}}); });
  p.call(kAny, [&] {
    sink.rma_window_destroyed(p.tick(), window);
    sink.rma_collective(p.tick(),
                        {CollectiveOp::destroy_handle, window, {}, 0, 0, RmaAssertions::none});
  });
}

void play_files(Player& p) {
  constexpr size_t kAny = 1;
  EventSink& sink = p.sink;
  p.call(kAny, [&] {
    sink.file_opened(p.tick(), FileId(0),
                     FileAccess::read | FileAccess::write | FileAccess::create |
                         FileAccess::exclusive | FileAccess::unique);
  });
  p.call(kAny, [&] {
    sink.file_opened(p.tick(), FileId(1),
                     FileAccess::write | FileAccess::append | FileAccess::delete_on_close |
                         FileAccess::sequential);
  });
  p.call(kAny, [&] { sink.file_opened(p.tick(), FileId(2), FileAccess::read); });
  for (int mode = 0; mode <= static_cast<int>(FileMode::flush); ++mode) {
    for (int kind = 0; kind < 4; ++kind) {
      const auto id = FileOpId(50 + mode * 4 + kind);
      p.call(kAny, [&] {
        sink.file_operation(p.tick(), {FileId(0), static_cast<FileMode>(mode), (kind & 1) != 0,
                                       (kind & 2) != 0, 4096, id});
        if (kind & 2) sink.file_operation_issued(p.tick(), FileId(0), id);
      });
      p.call(kAny, [&] { sink.file_operation_complete(p.tick(), FileId(0), id, 4000); });
    }
  }
  p.call(kAny, [&] { sink.file_closed(p.tick(), FileId(0)); });
}

}  // namespace

void play_everything(EventSink& sink, uint32_t process, uint32_t thread) {
  int64_t now = 1000 * (1 + thread) + process;
  const auto tick = [&] { return Time::from_nanos(now += 3); };
  const auto call = [&](size_t region, const std::function<void()>& inside) {
    sink.enter(tick(), RegionId(region));
    inside();
    sink.leave(tick(), RegionId(region));
  };
  const MpiMessage message{CommId(0), 1 - process, 17, 4096};
  const MpiMessage wild{CommId(2), process, -1, uint64_t{1} << 40};
  const RequestId request{uint64_t{7} << 50};
  const RegionInstance instance{uint64_t{3} << 40 | 5};
  const double counts[] = {3, 0x1p53};
  call(0, [&] {
    sink.metrics(tick(), MetricSetId(0), std::span(counts).first(1));
    call(1, [&] { sink.metrics(Time::from_nanos(now), MetricSetId(1), counts); });
    call(1, [&] { sink.mpi_send(tick(), message); });
    call(1, [&] { sink.mpi_recv(tick(), wild); });
    call(1, [&] { sink.mpi_isend(tick(), MpiMessage{CommId(3), 0, 0, 0}, request); });
    call(1, [&] { sink.mpi_irecv_request(tick(), RequestId{2}); });
    call(1, [&] { sink.mpi_request_test(tick(), RequestId{2}); });
    call(1, [&] {
      sink.mpi_isend_complete(tick(), request);
      sink.mpi_irecv(tick(), MpiMessage{CommId(1), 0, 1, 8}, RequestId{2});
    });
    call(1, [&] { sink.mpi_request_cancelled(tick(), RequestId{9}); });
    MpiMessage found = message, partitioned = message;
    found.probe = MatchedProbe{uint64_t{5} << 40};
    partitioned.partitioned = 2;
    // What OTF2 has no record for is told when the call is left.
    call(1, [&] { sink.mpi_probe(Time::from_nanos(now + 3), wild); });
    call(1, [&] { sink.mpi_probe(Time::from_nanos(now + 3), found); });
    call(1, [&] { sink.mpi_recv(tick(), found); });
    call(1, [&] { sink.mpi_isend(tick(), partitioned, RequestId{3}); });
    call(1, [&] {
      call(12, [] {});
      sink.mpi_isend_ready(Time::from_nanos(now + 3), request);
    });
    for (int op = 0; op <= static_cast<int>(CollectiveOp::other); ++op) {
      MpiCollective collective{static_cast<CollectiveOp>(op), CommId(op % 3), {}, 1, 2};
      if (op % 4 == 1) collective.sends_to = GroupId(op % 3);
      if (op % 4 > 1) collective.receives_from = GroupId(op % 2);
      if (op % 3 == 0) collective.root = process;
      collective.is_root = op % 3 == 2;
      call(2, [&] { sink.mpi_collective(tick(), collective); });
      call(2, [&] { sink.mpi_icollective_request(tick(), RequestId(op)); });
      call(2, [&] { sink.mpi_icollective_complete(tick(), collective, RequestId(op)); });
    }
    Player player{sink, now};
    play_windows(player);
    play_files(player);
    now = player.now;
    sink.thread_fork(tick(), 2, instance);
    sink.thread_team_begin(tick(), instance);
    call(4, [&] {
      for (int kind = 0; kind <= static_cast<int>(kLastMutexKind); ++kind) {
        call(9, [&] {
          sink.mutex_acquired(tick(), static_cast<MutexKind>(kind), 77);
          sink.mutex_released(tick(), static_cast<MutexKind>(kind), 0x7fff12345678);
        });
      }
    });
    sink.task_create(tick(), TaskId{1, 7});
    for (size_t fact = 0; fact < kFactCount; ++fact) {
      sink.fact(tick(), static_cast<Fact>(fact), uint64_t{1} << (40 + fact % 24));
    }
    sink.task_switch(tick(), TaskId{1, 7});
    sink.task_complete(tick(), TaskId{1, 7});
    sink.task_switch(tick(), TaskId{});
    sink.thread_team_end(tick());
    sink.thread_join(tick());
    call(19, [&] { call(20, [&] { sink.iteration(tick(), -7); }); });
    sink.recording(tick(), false);
    call(21, [] {});
    sink.recording(tick(), true);
    sink.thread_fork(tick(), 1, RegionInstance::unknown);
    sink.thread_join(Time::from_nanos(now));
  });
}

fs::path write_rich_archive(const fs::path& folder) {
  auto writer = create_otf2(folder);
  EXPECT_TRUE(writer.ok());
  const Definitions definitions = rich_definitions();
  for (const Location& location : definitions.locations) {
    auto sink = (*writer)->open(location.process, location.thread);
    play_everything(*sink, static_cast<uint32_t>(location.process.index()), location.thread);
  }
  const auto finished = (*writer)->finish(definitions);
  EXPECT_TRUE(finished.ok()) << finished.error().sentence;
  return folder / "traces.otf2";
}

bool lost_nothing(const Losses& losses) {
  return std::all_of(losses.all().begin(), losses.all().end(), [](const auto& loss) {
    return loss.first.find("_without_records") != std::string::npos ||
           loss.first == "regions_without_teams";
  });
}

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void set_content(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

CommandResult run_command(const std::string& command) {
  CommandResult result;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return result;
  std::array<char, 4096> buffer;
  while (size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::string otf2_print_complaints(const fs::path& anchor) {
  const CommandResult all = run_command("otf2-print --show-all --warnings-as-errors '" +
                                        anchor.string() + "' >/dev/null");
  const CommandResult silent =
      run_command("otf2-print --silent --warnings-as-errors '" + anchor.string() + "'");
  std::string complaints = all.output;
  if (all.status != 0) complaints += "\nexit status " + std::to_string(all.status);
  if (silent.status != 0) complaints += "\n" + silent.output;
  return complaints;
}

}  // namespace culprit::trace
