// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/unit/blame/random_program.h"

#include <algorithm>
#include <numeric>

namespace culprit::testing_support {

using trace::CommKind;

RandomProgram::RandomProgram(uint32_t seed, RandomShape shape) : random_(seed), shape_(shape) {
  ranks_ = pick(2, 6);
  if (shape_.ranks != 0) ranks_ = shape_.ranks;
  threads_ = pick(1, 4);
  streams_ = toss() ? pick(1, 3) : 0;
  if (shape_.plain) threads_ = 1, streams_ = 0;
  shares_device_ = toss(3);
  executed_.resize(ranks_);
  define_places();
  define_comms();
  trace_.definitions_.windows.push_back({"window", CommId(1)});
  pending_.resize(ranks_);
  unlocked_.resize(ranks_);
}

RandomTrace RandomProgram::run() {
  for (uint32_t r = 0; r < ranks_; ++r) {
    now(master(r)) = last_for(20);
    enter(master(r), "main");
  }
  const uint32_t steps = pick(5, 40);
  for (uint32_t s = 0; s < steps; ++s) step();
  for (uint32_t r = 0; r < ranks_; ++r) {
    complete_all(r);
    leave(master(r), now(master(r)) + last_for(20), "main");
  }
  return std::move(trace_);
}

int64_t RandomProgram::last_for(uint32_t most) {
  return shape_.no_ties ? pick(1, most * 100'003) : pick(0, most);
}

/// The world's order is that of the processes; that of communicator 1 is the program's.
void RandomProgram::define_places() {
  std::vector<uint32_t> order(ranks_);
  std::iota(order.begin(), order.end(), 0);
  if (shape_.renamed) {  // with numbers of its own: the program stays the same
    std::mt19937 shuffle(ranks_ * 7919 + threads_);
    std::shuffle(order.begin(), order.end(), shuffle);
  }
  process_of_.resize(ranks_);
  trace::Definitions& definitions = trace_.definitions_;
  definitions.locations.resize(size_t{ranks_} * threads_);
  for (uint32_t p = 0; p < ranks_; ++p) {
    process_of_[order[p]] = ProcessId(p);
    definitions.processes.push_back({"rank", "node" + std::to_string(order[p] / 2), p, {}});
    for (uint32_t t = 0; t < threads_; ++t) {
      const LocationId id(shape_.scattered ? t * ranks_ + p : p * threads_ + t);
      definitions.processes.back().locations.push_back(id);
      definitions.locations[id.index()] = {
          "thread", trace::LocationKind::cpu_thread, ProcessId(p), t, 0, 0};
    }
    define_streams(order[p], ProcessId(p));
  }
  for (uint32_t r = 0; streams_ > 0 && r < ranks_; ++r) {
    definitions.devices.push_back({"device", "node" + std::to_string(r / 2), std::to_string(r)});
  }
  trace_.events_.resize(definitions.locations.size());
  now_.resize(definitions.locations.size());
  rank_of_ = order;
  trace_.original_ranks_ = order;
}

void RandomProgram::define_comms() {
  std::vector<uint32_t> all(ranks_);
  std::iota(all.begin(), all.end(), 0);
  comms_ = {rank_of_, all};
  for (uint32_t more = pick(0, 2); more > 0; --more) {
    std::vector<uint32_t> some = all;
    std::shuffle(some.begin(), some.end(), random_);
    some.resize(pick(2, ranks_));
    comms_.push_back(std::move(some));
  }
  for (const std::vector<uint32_t>& members : comms_) {
    const bool world = trace_.definitions_.comms.empty();
    trace::Comm comm{"comm", world ? CommKind::mpi_world : CommKind::mpi, {}, {}};
    for (uint32_t r : members) comm.members.push_back(process_of_[r]);
    trace_.definitions_.comms.push_back(std::move(comm));
  }
  trace::Comm between{"between", CommKind::mpi_inter, {}, {}};
  for (uint32_t r = 0; r < ranks_; ++r) {
    (r % 2 == 0 ? between.members : between.remote).push_back(process_of_[r]);
  }
  trace_.definitions_.comms.push_back(std::move(between));
}

RegionId RandomProgram::region(std::string_view name) {
  std::vector<trace::Region>& regions = trace_.definitions_.regions;
  for (size_t r = 0; r < regions.size(); ++r) {
    if (regions[r].name == name) return RegionId(r);
  }
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  trace::Region region{
      std::string(name), trace::RegionRole::function, trace::Paradigm::user, {}, 0};
  if (has("MPI_")) region.paradigm = trace::Paradigm::mpi;
  if (has("!$omp")) {
    region.paradigm = trace::Paradigm::openmp;
    region.role = has("implicit barrier") ? trace::RegionRole::implicit_barrier
                  : has("barrier")        ? trace::RegionRole::barrier
                  : has("critical")       ? trace::RegionRole::critical
                  : has("parallel")       ? trace::RegionRole::parallel
                  : has("taskwait")       ? trace::RegionRole::task_wait
                  : has("task")           ? trace::RegionRole::task
                                          : trace::RegionRole::worksharing;
  }
  regions.push_back(std::move(region));
  return RegionId(regions.size() - 1);
}

void RandomProgram::work(LocationId at) {
  static constexpr const char* kNames[] = {"solve", "assemble", "refine"};
  const char* const name = kNames[pick(0, 2)];
  enter(at, name);
  if (toss(3)) {
    now(at) += last_for(10);
    enter(at, "inner");
    leave(at, now(at) + last_for(15), "inner");
  }
  leave(at, now(at) + last_for(20), name);
}

void RandomProgram::step() {
  for (uint32_t r = 0; r < ranks_; ++r) {
    if (!toss(4)) work(master(r));
  }
  if (streams_ > 0 && toss()) device_calls(any_rank());
  const uint32_t from = any_rank();
  if (shape_.plain) return plain_step(from);
  switch (pick(0, shape_.no_windows ? 9 : 10)) {
    case 0:
    case 1:
    case 2:
      return collective();
    case 3:
    case 4:
      return parallel_regions();
    case 5:
      return complete(from);
    case 6:
      return send_receive(from, other_rank(from));
    case 10:
      return one_sided();
    case 7:
      if (toss(4)) cancelled_receive(from);
      [[fallthrough]];
    default:
      return message(from, other_rank(from));
  }
}

void RandomProgram::plain_step(uint32_t from) {
  switch (pick(0, 9)) {
    case 0:
    case 1:
      return collective();
    case 2:
      return complete_all(from);
    case 3:
    case 4:
      return send_receive(from, other_rank(from));
    case 5:
    case 6:
      return shift(pick(1, ranks_ - 1));
    default:
      return message(from, other_rank(from));
  }
}

}  // namespace culprit::testing_support
