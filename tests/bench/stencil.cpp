// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/stencil.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/result.h"
#include "trace/otf2_writer.h"

namespace culprit::bench {

using trace::MpiMessage;
using trace::RegionInstance;
using trace::RequestId;

namespace {

enum Regions : size_t {
  kMain,
  kStep,
  kIrecv,
  kIsend,
  kWaitall,
  kAllreduce,
  kParallel,
  kCompute,
  kImplicit
};

class Stencil {
 public:
  Stencil(trace::Otf2Writer& writer, const StencilSize& size) : writer_(writer), size_(size) {
    using trace::Paradigm;
    using trace::RegionRole;
    definitions_.regions = {
        {"main", RegionRole::function, Paradigm::user, "stencil.c", 1},
        {"step", RegionRole::function, Paradigm::user, "stencil.c", 10},
        {"MPI_Irecv", RegionRole::point_to_point, Paradigm::mpi, "", 0},
        {"MPI_Isend", RegionRole::point_to_point, Paradigm::mpi, "", 0},
        {"MPI_Waitall", RegionRole::point_to_point, Paradigm::mpi, "", 0},
        {"MPI_Allreduce", RegionRole::collective, Paradigm::mpi, "", 0},
        {"!$omp parallel @stencil.c:20", RegionRole::parallel, Paradigm::openmp, "stencil.c", 20},
        {"compute", RegionRole::function, Paradigm::user, "stencil.c", 30},
        {"!$omp implicit barrier @stencil.c:20", RegionRole::implicit_barrier, Paradigm::openmp,
         "stencil.c", 20}};
    trace::Comm world{"MPI_COMM_WORLD", trace::CommKind::mpi_world, {}, {}};
    for (uint32_t r = 0; r < size.ranks; ++r) {
      world.members.emplace_back(r);
      definitions_.processes.push_back({"MPI Rank " + std::to_string(r), "node", r, {}});
      for (uint32_t t = 0; t < size.threads; ++t) {
        definitions_.processes[r].locations.emplace_back(definitions_.locations.size());
        definitions_.locations.push_back(
            {t == 0 ? "Master thread" : "OMP thread " + std::to_string(t),
             trace::LocationKind::cpu_thread, ProcessId(r), t, (uint64_t{t} << 32) | r, 0});
        sinks_.push_back(writer.open(ProcessId(r), t));
      }
    }
    definitions_.comms.push_back(std::move(world));
    clock_.assign(size.ranks, 1000);
  }

  uint64_t run() {
    for (uint32_t r = 0; r < size_.ranks; ++r) enter(r, 0, 1000, kMain);
    for (uint32_t i = 0; i < size_.iterations; ++i) iterate(i);
    for (uint32_t r = 0; r < size_.ranks; ++r) leave(r, 0, clock_[r], kMain);
    sinks_.clear();
    CULPRIT_CHECK(writer_.finish(definitions_, 0).ok());
    return events_;
  }

 private:
  trace::EventSink& sink(uint32_t rank, uint32_t thread) {
    ++events_;
    return *sinks_[rank * size_.threads + thread];
  }
  void enter(uint32_t rank, uint32_t thread, int64_t time, size_t region) {
    sink(rank, thread).enter(Time::from_nanos(time), RegionId(region));
  }
  void leave(uint32_t rank, uint32_t thread, int64_t time, size_t region) {
    sink(rank, thread).leave(Time::from_nanos(time), RegionId(region));
  }

  /// Between 1000 and 2023 ns, the same for the same arguments.
  static int64_t work(uint32_t rank, uint32_t thread, uint32_t iteration) {
    uint64_t x = rank * 0x9e3779b97f4a7c15ull + thread * 0xbf58476d1ce4e5b9ull + iteration;
    x = (x ^ (x >> 31)) * 0x94d049bb133111ebull;
    return 1000 + static_cast<int64_t>((x >> 40) & 1023);
  }

  void iterate(uint32_t iteration) {
    for (uint32_t r = 0; r < size_.ranks; ++r) {
      enter(r, 0, clock_[r], kStep);
      region(r, iteration);
    }
    exchange();
    if (iteration % 10 == 9) allreduce();
    for (uint32_t r = 0; r < size_.ranks; ++r) leave(r, 0, clock_[r] += 10, kStep);
  }

  void region(uint32_t rank, uint32_t iteration) {
    const RegionInstance instance{iteration + 1};
    const int64_t fork = clock_[rank];
    int64_t end = 0;
    for (uint32_t t = 0; t < size_.threads; ++t) end = std::max(end, work(rank, t, iteration));
    end += fork + 20;
    sink(rank, 0).thread_fork(Time::from_nanos(fork), size_.threads, instance);
    for (uint32_t t = 0; t < size_.threads; ++t) {
      sink(rank, t).thread_team_begin(Time::from_nanos(fork + 10), instance);
      enter(rank, t, fork + 10, kParallel);
      enter(rank, t, fork + 10, kCompute);
      const int64_t arrival = fork + 10 + work(rank, t, iteration);
      leave(rank, t, arrival, kCompute);
      enter(rank, t, arrival, kImplicit);
      leave(rank, t, end, kImplicit);
      leave(rank, t, end, kParallel);
      sink(rank, t).thread_team_end(Time::from_nanos(end));
    }
    sink(rank, 0).thread_join(Time::from_nanos(end));
    clock_[rank] = end;
  }

  /// Halos to the left and right neighbour.
  void exchange() {
    const uint32_t n = size_.ranks;
    std::vector<int64_t> sent(n);
    for (uint32_t r = 0; r < n; ++r) post(r, sent[r]);
    for (uint32_t r = 0; r < n; ++r) {
      const uint32_t left = (r + n - 1) % n, right = (r + 1) % n;
      enter(r, 0, clock_[r], kWaitall);
      clock_[r] = std::max({clock_[r], sent[left], sent[right]}) + 50;
      const Time now = Time::from_nanos(clock_[r]);
      sink(r, 0).mpi_irecv(now, {CommId(0), left, 1, 4096}, RequestId{1});
      sink(r, 0).mpi_irecv(now, {CommId(0), right, 2, 4096}, RequestId{2});
      sink(r, 0).mpi_isend_complete(now, RequestId{3});
      sink(r, 0).mpi_isend_complete(now, RequestId{4});
      leave(r, 0, clock_[r], kWaitall);
    }
  }

  void post(uint32_t r, int64_t& sent) {
    const uint32_t n = size_.ranks, left = (r + n - 1) % n, right = (r + 1) % n;
    int64_t& now = clock_[r];
    for (uint64_t request : {1, 2}) {
      enter(r, 0, now, kIrecv);
      sink(r, 0).mpi_irecv_request(Time::from_nanos(now), RequestId{request});
      leave(r, 0, now += 20, kIrecv);
    }
    sent = now;
    enter(r, 0, now, kIsend);
    sink(r, 0).mpi_isend(Time::from_nanos(now), {CommId(0), right, 1, 4096}, RequestId{3});
    leave(r, 0, now += 20, kIsend);
    enter(r, 0, now, kIsend);
    sink(r, 0).mpi_isend(Time::from_nanos(now), {CommId(0), left, 2, 4096}, RequestId{4});
    leave(r, 0, now += 20, kIsend);
  }

  void allreduce() {
    const int64_t end = *std::max_element(clock_.begin(), clock_.end()) + 30;
    for (uint32_t r = 0; r < size_.ranks; ++r) {
      enter(r, 0, clock_[r], kAllreduce);
      sink(r, 0).mpi_collective(Time::from_nanos(end),
                                {trace::CollectiveOp::allreduce, CommId(0), std::nullopt, 8, 8});
      leave(r, 0, end, kAllreduce);
      clock_[r] = end;
    }
  }

  trace::Otf2Writer& writer_;
  StencilSize size_;
  trace::Definitions definitions_;
  std::vector<std::unique_ptr<trace::EventSink>> sinks_;
  std::vector<int64_t> clock_;  // by rank, nanoseconds
  uint64_t events_ = 0;
};

}  // namespace

uint64_t write_stencil(const std::filesystem::path& folder, const StencilSize& size) {
  auto writer = trace::create_otf2(folder);
  CULPRIT_CHECK(writer.ok());
  return Stencil(**writer, size).run();
}

}  // namespace culprit::bench
