// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/unit/blame/random_trace.h"

#include <algorithm>

namespace culprit::testing_support {

using trace::CollectiveOp;
using trace::EventSink;
using trace::MpiCollective;
using trace::MpiMessage;
using trace::RegionInstance;
using trace::RequestId;

/// A bulk-synchronous toy machine: each step of the random program is one thing that all or two
/// ranks do; `clock_` says when each rank is through with the step before.
class Simulator {
 public:
  explicit Simulator(uint32_t seed) : random_(seed) {
    ranks_ = pick(2, 6);
    threads_ = pick(1, 4);
    for (const char* name :
         {"main", "solve", "assemble", "MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv",
          "MPI_Waitall", "MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Scan"}) {
      const bool mpi = std::string(name).starts_with("MPI");
      trace_.definitions_.regions.push_back({name,
                                             trace::RegionRole::function,
                                             mpi ? trace::Paradigm::mpi : trace::Paradigm::user,
                                             {},
                                             0});
    }
    trace_.definitions_.regions.push_back(
        {"!$omp parallel", trace::RegionRole::parallel, trace::Paradigm::openmp, {}, 0});
    trace_.definitions_.regions.push_back({"!$omp implicit barrier",
                                           trace::RegionRole::implicit_barrier,
                                           trace::Paradigm::openmp,
                                           {},
                                           0});
    define_places();
  }

  RandomTrace run() {
    for (uint32_t r = 0; r < ranks_; ++r) {
      clock_.push_back(pick(0, 20));
      enter(master(r), clock_[r], kMain);
    }
    const uint32_t steps = pick(5, 40);
    for (uint32_t s = 0; s < steps; ++s) step();
    for (uint32_t r = 0; r < ranks_; ++r) leave(master(r), clock_[r], kMain);
    return std::move(trace_);
  }

 private:
  enum Regions : size_t {
    kMain,
    kSolve,
    kAssemble,
    kSend,
    kRecv,
    kIsend,
    kIrecv,
    kWaitall,
    kBarrier,
    kAllreduce,
    kBcast,
    kReduce,
    kScan,
    kParallel,
    kImplicit
  };

  uint32_t pick(uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random_);
  }

  void define_places() {
    trace::Comm world{"world", trace::CommKind::mpi_world, {}, {}};
    for (uint32_t r = 0; r < ranks_; ++r) {
      world.members.emplace_back(r);
      trace_.definitions_.processes.push_back({"rank", "node", r, {}});
      for (uint32_t t = 0; t < threads_; ++t) {
        trace_.definitions_.processes.back().locations.emplace_back(
            trace_.definitions_.locations.size());
        trace_.definitions_.locations.push_back(
            {"thread", trace::LocationKind::cpu_thread, ProcessId(r), t, 0, 0});
        trace_.events_.emplace_back();
      }
    }
    trace_.definitions_.comms.push_back(std::move(world));
  }

  LocationId place(uint32_t rank, uint32_t thread) const {
    return trace_.definitions_.processes[rank].locations[thread];
  }
  LocationId master(uint32_t rank) const { return place(rank, 0); }

  void put(LocationId at, int64_t time, std::function<void(EventSink&, Time)> play) {
    trace_.events_[at.index()].push_back({Time::from_nanos(time), std::move(play)});
  }
  void enter(LocationId at, int64_t time, size_t region) {
    put(at, time, [=](EventSink& sink, Time t) { sink.enter(t, RegionId(region)); });
  }
  void leave(LocationId at, int64_t time, size_t region) {
    put(at, time, [=](EventSink& sink, Time t) { sink.leave(t, RegionId(region)); });
  }

  void step() {
    for (uint32_t r = 0; r < ranks_; ++r) work(r);
    switch (pick(0, 5)) {
      case 0:
        return collective(kBarrier, CollectiveOp::barrier, false);
      case 1:
        return collective(kAllreduce, CollectiveOp::allreduce, false);
      case 2:
        return rooted();
      case 3:
        return parallel_regions();
      default:
        return message();
    }
  }

  void work(uint32_t rank) {
    const size_t region = pick(0, 1) == 0 ? kSolve : kAssemble;
    enter(master(rank), clock_[rank], region);
    clock_[rank] += pick(0, 30);
    leave(master(rank), clock_[rank], region);
  }

  void collective(size_t region, CollectiveOp op, bool prefix) {
    const int64_t last = *std::max_element(clock_.begin(), clock_.end());
    int64_t latest = 0;
    for (uint32_t r = 0; r < ranks_; ++r) {
      latest = std::max(latest, clock_[r]);
      const int64_t end = (prefix ? latest : last) + pick(0, 2);
      visit(r, region, {op, CommId(0), std::nullopt, 8, 8}, end);
    }
  }

  void visit(uint32_t rank, size_t region, const MpiCollective& what, int64_t end) {
    enter(master(rank), clock_[rank], region);
    put(master(rank), end, [=](EventSink& sink, Time t) { sink.mpi_collective(t, what); });
    leave(master(rank), end, region);
    clock_[rank] = end;
  }

  void rooted() {
    const uint32_t root = pick(0, ranks_ - 1);
    const uint32_t kind = pick(0, 2);
    if (kind == 2) return collective(kScan, CollectiveOp::scan, true);
    const bool bcast = kind == 0;
    const int64_t last = *std::max_element(clock_.begin(), clock_.end());
    const int64_t roots = clock_[root];
    for (uint32_t r = 0; r < ranks_; ++r) {
      int64_t end = bcast ? std::max(clock_[r], roots) : r == root ? last : clock_[r];
      visit(r, bcast ? kBcast : kReduce,
            {bcast ? CollectiveOp::bcast : CollectiveOp::reduce, CommId(0), root, 8, 8},
            end + pick(0, 2));
    }
  }

  void message() {
    const uint32_t from = pick(0, ranks_ - 1);
    const uint32_t to = (from + pick(1, ranks_ - 1)) % ranks_;
    const bool eager = pick(0, 1) == 0;
    if (pick(0, 1) == 0) return nonblocking(from, to);
    const int64_t sent = clock_[from];
    const int64_t posted = clock_[to];
    const int64_t met = std::max(sent, posted);
    enter(master(from), sent, kSend);
    put(master(from), sent,
        [=](EventSink& sink, Time t) { sink.mpi_send(t, {CommId(0), to, 1, 8}); });
    clock_[from] = (eager ? sent : met) + pick(0, 2);
    leave(master(from), clock_[from], kSend);
    enter(master(to), posted, kRecv);
    clock_[to] = met + pick(0, 2);
    put(master(to), clock_[to],
        [=](EventSink& sink, Time t) { sink.mpi_recv(t, {CommId(0), from, 1, 8}); });
    leave(master(to), clock_[to], kRecv);
  }

  /// Both sides post, work, and complete with Waitall.
  void nonblocking(uint32_t from, uint32_t to) {
    const RequestId request{++requests_};
    const MpiMessage out{CommId(0), to, 2, 8}, in{CommId(0), from, 2, 8};
    const int64_t sent = clock_[from];
    enter(master(from), sent, kIsend);
    put(master(from), sent, [=](EventSink& sink, Time t) { sink.mpi_isend(t, out, request); });
    leave(master(from), sent, kIsend);
    const int64_t posted = clock_[to];
    enter(master(to), posted, kIrecv);
    put(master(to), posted, [=](EventSink& sink, Time t) { sink.mpi_irecv_request(t, request); });
    leave(master(to), posted, kIrecv);
    work(from);
    work(to);
    const int64_t send_end = std::max(clock_[from], posted) + pick(0, 2);
    enter(master(from), clock_[from], kWaitall);
    put(master(from), send_end,
        [=](EventSink& sink, Time t) { sink.mpi_isend_complete(t, request); });
    leave(master(from), send_end, kWaitall);
    clock_[from] = send_end;
    const int64_t recv_end = std::max(clock_[to], sent) + pick(0, 2);
    enter(master(to), clock_[to], kWaitall);
    put(master(to), recv_end, [=](EventSink& sink, Time t) { sink.mpi_irecv(t, in, request); });
    leave(master(to), recv_end, kWaitall);
    clock_[to] = recv_end;
  }

  void parallel_regions() {
    for (uint32_t r = 0; r < ranks_; ++r) parallel_region(r, pick(1, threads_));
  }

  void parallel_region(uint32_t rank, uint32_t team) {
    const RegionInstance instance{++instances_};
    const int64_t fork = clock_[rank];
    std::vector<int64_t> arrivals;
    for (uint32_t t = 0; t < team; ++t) arrivals.push_back(fork + pick(0, 30));
    const int64_t end = *std::max_element(arrivals.begin(), arrivals.end()) + pick(0, 1);
    put(master(rank), fork, [=](EventSink& sink, Time t) { sink.thread_fork(t, team, instance); });
    for (uint32_t t = 0; t < team; ++t) {
      const LocationId at = place(rank, t);
      put(at, fork, [=](EventSink& sink, Time time) { sink.thread_team_begin(time, instance); });
      enter(at, fork, kParallel);
      enter(at, arrivals[t], kImplicit);
      leave(at, end, kImplicit);
      leave(at, end, kParallel);
      put(at, end, [](EventSink& sink, Time time) { sink.thread_team_end(time); });
    }
    put(master(rank), end, [](EventSink& sink, Time t) { sink.thread_join(t); });
    clock_[rank] = end;
  }

  std::mt19937 random_;
  uint32_t ranks_ = 0, threads_ = 0;
  std::vector<int64_t> clock_;  // by rank, nanoseconds
  uint64_t requests_ = 0, instances_ = 0;
  RandomTrace trace_;
};

RandomTrace RandomTrace::make_plausible(uint32_t seed) {
  return Simulator(seed).run();
}

void RandomTrace::make_chaotic(uint32_t seed) {
  std::mt19937 random(seed);
  for (std::vector<Event>& events : events_) {
    std::vector<Time> times;
    for (const Event& event : events) {
      const int64_t shake = std::uniform_int_distribution<int64_t>(-40, 40)(random);
      times.push_back(Time::from_nanos(std::max<int64_t>(0, event.time.nanos() + shake)));
    }
    std::sort(times.begin(), times.end());
    for (size_t i = 0; i < events.size(); ++i) events[i].time = times[i];
  }
}

}  // namespace culprit::testing_support
