// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A send takes 10 us and waits for nobody, a receive as long after its message was sent; the sum
// takes 20 us after the last has come.
#include "traced_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

namespace culprit::blame {
namespace {

constexpr size_t kIterations = 8;  ///< of a block
constexpr int64_t kMessage_ns = 10'000, kSum_ns = 20'000;

// Regions.
const RegionId kMain(0), kFill(1), kSolve(2), kSend(3), kReceive(4), kAllreduce(5);

Duration span(double seconds) {
  return Duration::from_nanos(std::llround(std::max(seconds, 0.0) * 1e9));
}

trace::Definitions definitions(uint32_t ranks) {
  using enum trace::RegionRole;
  trace::Definitions all;
  const auto user = trace::Paradigm::user, mpi = trace::Paradigm::mpi;
  all.regions = {
      {"main", function, user, "a.c", 1},       {"fill", function, user, "a.c", 10},
      {"solve", function, user, "a.c", 20},     {"MPI_Send", point_to_point, mpi, "", 0},
      {"MPI_Recv", point_to_point, mpi, "", 0}, {"MPI_Allreduce", collective, mpi, "", 0}};
  trace::Comm world;
  world.name = "MPI_COMM_WORLD";
  world.kind = trace::CommKind::mpi_world;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    trace::Location location;
    location.name = "thread " + std::to_string(rank);
    location.process = ProcessId(rank);
    all.locations.push_back(location);
    trace::Process process;
    process.name = "rank " + std::to_string(rank);
    process.node = "node";
    process.rank = rank;
    process.locations = {LocationId(rank)};
    all.processes.push_back(process);
    world.members.push_back(ProcessId(rank));
  }
  all.comms = {world};
  return all;
}

}  // namespace

class TracedRun::Stretch : public trace::Source {
 public:
  Stretch(const TracedRun& run, size_t first, size_t end) : run_(run), first_(first), end_(end) {}

  const trace::Definitions& definitions() const override { return run_.definitions_; }

  Result<void> read(LocationId location, trace::EventSink& sink, Losses&) const override {
    const auto rank = static_cast<uint32_t>(location.index());
    sink.enter(run_.begins_[first_], kMain);
    for (size_t block = first_; block < end_; ++block) {
      const Moments* last = nullptr;
      for (size_t i = 0; i < kIterations; ++i) {
        last = &run_.iterations_[rank][block * kIterations + i];
        play(*last, rank, sink);
      }
      const Time end = run_.begins_[block + 1];
      sink.enter(last->received, kAllreduce);
      trace::MpiCollective sum;
      sum.op = trace::CollectiveOp::allreduce;
      sum.comm = CommId(0);
      sum.bytes_sent = sum.bytes_received = 8;
      sink.mpi_collective(end, sum);
      sink.leave(end, kAllreduce);
    }
    sink.leave(run_.begins_[end_], kMain);
    return {};
  }

 private:
  static void play(const Moments& at, uint32_t rank, trace::EventSink& sink) {
    const auto visit = [&](RegionId region, Time begin, Time end, const auto& what) {
      sink.enter(begin, region);
      what(end);
      sink.leave(end, region);
    };
    const auto nothing = [](Time) {};
    trace::MpiMessage message;
    message.comm = CommId(0);
    message.bytes = 1000;
    visit(kFill, at.begin, at.filled, nothing);
    visit(kSolve, at.filled, at.solved, nothing);
    message.peer = (rank + 1) % kRanks;
    visit(kSend, at.solved, at.sent, [&](Time) { sink.mpi_send(at.solved, message); });
    message.peer = (rank + kRanks - 1) % kRanks;
    visit(kReceive, at.sent, at.received, [&](Time end) { sink.mpi_recv(end, message); });
  }

  const TracedRun& run_;
  const size_t first_, end_;
};

TracedRun::TracedRun(const TracedCourse& course, size_t blocks, Random& random)
    : definitions_(blame::definitions(kRanks)), iterations_(kRanks), begins_(1) {
  for (size_t block = 0; block < blocks; ++block) {
    add_block(course, static_cast<double>(block) / static_cast<double>(blocks), random);
  }
}

void TracedRun::add_block(const TracedCourse& course, double progress, Random& random) {
  std::array<Time, kRanks> now;
  now.fill(begins_.back());
  for (size_t i = 0; i < kIterations; ++i) {
    const bool in_phase = course.period_s > 0 &&
                          std::fmod(now[0].seconds(), course.period_s) < 0.25 * course.period_s;
    std::array<Moments, kRanks> at;
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      double fill_s = 0.004 * (1 + 0.05 * random.normal());
      double solve_s = 0.006 * (1 + 0.05 * random.normal());
      if (rank == 0)
        solve_s += 0.003 * (1 + course.growth * progress) * (1 + 0.3 * random.normal());
      if (rank == 3 && in_phase) fill_s += 0.005 * (1 + 0.3 * random.normal());
      if (rank == 2 && random.uniform() < course.stall_share) fill_s += 0.1;
      at[rank].begin = now[rank];
      at[rank].filled = at[rank].begin + span(fill_s);
      at[rank].solved = at[rank].filled + span(solve_s);
      at[rank].sent = at[rank].solved + Duration::from_nanos(kMessage_ns);
    }
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      const Time sent = at[(rank + kRanks - 1) % kRanks].solved;
      at[rank].received = std::max(at[rank].sent, sent) + Duration::from_nanos(kMessage_ns);
      now[rank] = at[rank].received;
      iterations_[rank].push_back(at[rank]);
    }
  }
  begins_.push_back(*std::max_element(now.begin(), now.end()) + Duration::from_nanos(kSum_ns));
}

std::unique_ptr<trace::Source> TracedRun::stretch(size_t first_block, size_t end_block) const {
  return std::make_unique<Stretch>(*this, first_block, end_block);
}

}  // namespace culprit::blame
