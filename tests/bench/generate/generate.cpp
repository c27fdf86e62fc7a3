// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/generate/generate.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/bench/generate/pattern.h"
#include "trace/otf2/writer.h"

namespace culprit::bench {

namespace {

using trace::Paradigm;
using trace::RegionRole;

std::vector<trace::Region> common_regions() {
  constexpr auto kMpi = Paradigm::mpi;
  constexpr auto kOmp = Paradigm::openmp;
  return {
      {"main", RegionRole::function, Paradigm::user, "synthetic.c", 1},
      {"step", RegionRole::function, Paradigm::user, "synthetic.c", 10},
      {"compute", RegionRole::function, Paradigm::user, "synthetic.c", 20},
      {"MPI_Send", RegionRole::point_to_point, kMpi, "", 0},
      {"MPI_Recv", RegionRole::point_to_point, kMpi, "", 0},
      {"MPI_Isend", RegionRole::point_to_point, kMpi, "", 0},
      {"MPI_Irecv", RegionRole::point_to_point, kMpi, "", 0},
      {"MPI_Waitall", RegionRole::point_to_point, kMpi, "", 0},
      {"MPI_Barrier", RegionRole::barrier, kMpi, "", 0},
      {"MPI_Allreduce", RegionRole::collective, kMpi, "", 0},
      {"MPI_Alltoall", RegionRole::collective, kMpi, "", 0},
      {"MPI_Finalize", RegionRole::collective, kMpi, "", 0},
      {"!$omp parallel @synthetic.c:30", RegionRole::parallel, kOmp, "synthetic.c", 30},
      {"!$omp implicit barrier @synthetic.c:30", RegionRole::implicit_barrier, kOmp, "synthetic.c",
       30},
      {"!$omp create task @synthetic.c:32", RegionRole::function, kOmp, "synthetic.c", 32},
      {"!$omp task @synthetic.c:32", RegionRole::task, kOmp, "synthetic.c", 32},
      {"!$omp critical @synthetic.c:34", RegionRole::critical, kOmp, "synthetic.c", 34},
      {"!$omp critical body @synthetic.c:34", RegionRole::function, kOmp, "synthetic.c", 34},
  };
}

void add_places(trace::Definitions& definitions, uint32_t ranks, uint32_t threads) {
  trace::Comm world{"MPI_COMM_WORLD", trace::CommKind::mpi_world, {}, {}};
  for (uint32_t r = 0; r < ranks; ++r) {
    world.members.emplace_back(r);
    definitions.processes.push_back(
        {"MPI Rank " + std::to_string(r), "node" + std::to_string(r / 64), r, {}});
    for (uint32_t t = 0; t < threads; ++t) {
      definitions.processes[r].locations.emplace_back(definitions.locations.size());
      definitions.locations.push_back({t == 0 ? "Master thread" : "OMP thread " + std::to_string(t),
                                       trace::LocationKind::cpu_thread, ProcessId(r), t,
                                       (uint64_t{t} << 32) | r, 0});
    }
  }
  definitions.comms.push_back(std::move(world));
}

class Synthetic final : public trace::Source {
 public:
  Synthetic(const PatternKind& kind, const Shape& shape) : pattern_(kind.make(shape)) {
    definitions_.regions = common_regions();
    CULPRIT_CHECK(definitions_.regions.size() == kRegionCount);
    definitions_.program = "synthetic " + std::string(kind.name);
    definitions_.creator = "culprit trace generator";
    add_places(definitions_, shape.ranks, kind.hybrid ? shape.threads : 1);
    pattern_->define(definitions_);
  }
  const trace::Definitions& definitions() const override { return definitions_; }
  Result<void> read(LocationId id, trace::EventSink& sink, Losses&) const override {
    const trace::Location& location = definitions_.locations[id.index()];
    Pen pen(sink);
    pattern_->play(static_cast<uint32_t>(location.process.index()), location.thread, pen);
    return {};
  }

 private:
  std::unique_ptr<Pattern> pattern_;
  trace::Definitions definitions_;
};

/// Counts what a pattern plays; archives count the same way, but for what attributes carry.
class Counter final : public trace::EventSink {
 public:
  uint64_t count = 0;
  void enter(Time, RegionId) override { ++count; }
  void leave(Time, RegionId) override { ++count; }
  void mpi_send(Time, const trace::MpiMessage&) override { ++count; }
  void mpi_recv(Time, const trace::MpiMessage&) override { ++count; }
  void mpi_isend(Time, const trace::MpiMessage&, trace::RequestId) override { ++count; }
  void mpi_isend_complete(Time, trace::RequestId) override { ++count; }
  void mpi_irecv_request(Time, trace::RequestId) override { ++count; }
  void mpi_irecv(Time, const trace::MpiMessage&, trace::RequestId) override { ++count; }
  void mpi_collective(Time, const trace::MpiCollective&) override { count += 2; }
  void thread_fork(Time, uint32_t, trace::RegionInstance) override { ++count; }
  void thread_join(Time) override { ++count; }
  void thread_team_begin(Time, trace::RegionInstance) override { ++count; }
  void thread_team_end(Time) override { ++count; }
  void mutex_acquired(Time, trace::MutexKind, uint64_t) override { ++count; }
  void mutex_released(Time, trace::MutexKind, uint64_t) override { ++count; }
  void task_create(Time, trace::TaskId) override { ++count; }
  void task_switch(Time, trace::TaskId) override { ++count; }
  void task_complete(Time, trace::TaskId) override { ++count; }
};

uint64_t count_events(const PatternKind& kind, const Shape& shape) {
  const auto trace = synthetic_trace(kind, shape);
  Counter counter;
  Losses losses;
  for (size_t i = 0; i < trace->definitions().locations.size(); ++i) {
    CULPRIT_CHECK(trace->read(LocationId(i), counter, losses).ok());
  }
  return counter.count;
}

}  // namespace

uint64_t scatter(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = a * 0x9e3779b97f4a7c15ull + b * 0xbf58476d1ce4e5b9ull + c * 0xd6e8feb86659fd93ull;
  x = (x ^ (x >> 31)) * 0x94d049bb133111ebull;
  return x ^ (x >> 29);
}

void Pen::send(int64_t begin, int64_t end, uint32_t to, int32_t tag) {
  enter(begin, kSend);
  sink_.mpi_send(at(begin), {CommId(0), to, tag, 1024});
  leave(end, kSend);
}

void Pen::recv(int64_t begin, int64_t end, uint32_t from, int32_t tag) {
  enter(begin, kRecv);
  sink_.mpi_recv(at(end), {CommId(0), from, tag, 1024});
  leave(end, kRecv);
}

void Pen::isend(int64_t begin, int64_t end, uint32_t to, int32_t tag, uint64_t request) {
  enter(begin, kIsend);
  sink_.mpi_isend(at(begin), {CommId(0), to, tag, 1024}, trace::RequestId{request});
  leave(end, kIsend);
}

void Pen::irecv(int64_t begin, int64_t end, uint64_t request) {
  enter(begin, kIrecv);
  sink_.mpi_irecv_request(at(begin), trace::RequestId{request});
  leave(end, kIrecv);
}

void Pen::received(int64_t time, uint32_t from, int32_t tag, uint64_t request) {
  sink_.mpi_irecv(at(time), {CommId(0), from, tag, 1024}, trace::RequestId{request});
}

void Pen::sent(int64_t time, uint64_t request) {
  sink_.mpi_isend_complete(at(time), trace::RequestId{request});
}

void Pen::collective(int64_t begin, int64_t end, size_t region, trace::CollectiveOp op,
                     CommId comm) {
  enter(begin, region);
  sink_.mpi_collective(at(end), {op, comm, std::nullopt, 8, 8});
  leave(end, region);
}

std::span<const PatternKind> pattern_kinds() {
  static const std::vector<PatternKind> all = [] {
    std::vector<PatternKind> kinds;
    for (const auto& some :
         {mpi_patterns(), openmp_patterns(), adversarial_patterns(), uneven_patterns()}) {
      kinds.insert(kinds.end(), some.begin(), some.end());
    }
    return kinds;
  }();
  return all;
}

const PatternKind* find_pattern(std::string_view name) {
  for (const PatternKind& kind : pattern_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::unique_ptr<trace::Source> synthetic_trace(const PatternKind& kind, const Shape& shape) {
  return std::make_unique<Synthetic>(kind, shape);
}

uint64_t generate(const std::filesystem::path& folder, const PatternKind& kind,
                  const Shape& shape) {
  const auto trace = synthetic_trace(kind, shape);
  const auto& locations = trace->definitions().locations;
  auto writer = trace::create_otf2(folder, locations.size());
  CULPRIT_CHECK(writer.ok());
  Losses losses;
  for (size_t i = 0; i < locations.size(); ++i) {
    const auto sink = (*writer)->open(locations[i].process, locations[i].thread);
    CULPRIT_CHECK(trace->read(LocationId(i), *sink, losses).ok());
  }
  CULPRIT_CHECK((*writer)->finish(trace->definitions()).ok());
  return count_events(kind, shape);
}

Shape with_events(const PatternKind& kind, Shape shape, uint64_t events) {
  shape.iterations = 1;
  const uint64_t one = count_events(kind, shape);
  shape.iterations = 11;
  const uint64_t each = std::max<uint64_t>(1, (count_events(kind, shape) - one) / 10);
  const uint64_t more = events > one ? (events - one + each / 2) / each : 0;
  shape.iterations = static_cast<uint32_t>(1 + more);
  return shape;
}

}  // namespace culprit::bench
