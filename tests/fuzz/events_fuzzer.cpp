// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Any events that the reader lets through: times that do not decrease, regions that nest, objects
// that exist (trace/otf2/events.h repairs the rest). Beyond that nothing needs to make sense:
// requests complete that nobody posted, teams end that nobody forked, collectives mismatch. The
// bytes choose the machine, then one event after the other.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace culprit::fuzz {
namespace {

using trace::Paradigm;
using trace::RegionRole;
using trace::RequestId;

/// Numbers from bytes; zeros when they are used up.
class Dice {
 public:
  Dice(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}
  bool done() const { return data_ == end_; }
  uint32_t byte() { return done() ? 0 : *data_++; }
  uint32_t below(uint32_t limit) { return byte() % limit; }

 private:
  const uint8_t* data_;
  const uint8_t* end_;
};

const std::vector<trace::Region>& regions() {
  static const std::vector<trace::Region> all = [] {
    std::vector<trace::Region> some;
    const auto add = [&](const char* name, RegionRole role, Paradigm paradigm) {
      some.push_back({name, role, paradigm, "a.c", 1});
    };
    add("main", RegionRole::function, Paradigm::user);
    add("work", RegionRole::function, Paradigm::user);
    for (const char* name :
         {"MPI_Init",         "MPI_Finalize",      "MPI_Send",     "MPI_Ssend",
          "MPI_Bsend",        "MPI_Recv",          "MPI_Isend",    "MPI_Irecv",
          "MPI_Wait",         "MPI_Waitall",       "MPI_Test",     "MPI_Sendrecv",
          "MPI_Probe",        "MPI_Mprobe",        "MPI_Start",    "MPI_Pready",
          "MPI_Barrier",      "MPI_Allreduce",     "MPI_Bcast",    "MPI_Reduce",
          "MPI_Scan",         "MPI_Win_fence",     "MPI_Win_post", "MPI_Win_start",
          "MPI_Win_complete", "MPI_Win_wait",      "MPI_Win_lock", "MPI_Win_unlock",
          "MPI_Put",          "MPI_File_write_all"}) {
      add(name, RegionRole::point_to_point, Paradigm::mpi);
    }
    add("!$omp parallel", RegionRole::parallel, Paradigm::openmp);
    add("!$omp implicit barrier", RegionRole::implicit_barrier, Paradigm::openmp);
    add("!$omp barrier", RegionRole::barrier, Paradigm::openmp);
    add("!$omp task", RegionRole::task, Paradigm::openmp);
    add("!$omp taskwait", RegionRole::task_wait, Paradigm::openmp);
    add("!$omp critical", RegionRole::critical, Paradigm::openmp);
    add("omp_set_lock", RegionRole::lock, Paradigm::openmp);
    add("!$omp single", RegionRole::worksharing, Paradigm::openmp);
    add("phase", RegionRole::phase, Paradigm::user);
    add("step", RegionRole::iteration, Paradigm::user);
    add(std::string(trace::kNotRecorded).c_str(), RegionRole::artificial,
        Paradigm::measurement_system);
    return some;
  }();
  return all;
}

/// What each location plays, decoded from the bytes.
class Chaos final : public trace::Source {
 public:
  Chaos(const uint8_t* data, size_t size) {
    Dice dice(data, size);
    machine(dice);
    streams_.resize(definitions_.locations.size());
    // Each location's share lies in one piece: changes to one leave the others alone.
    const size_t rest = size - std::min(size, size_t{3}), share = rest / streams_.size();
    for (size_t i = 0; i < streams_.size(); ++i) {
      streams_[i].assign(data + 3 + i * share, data + 3 + (i + 1) * share);
    }
  }

  const trace::Definitions& definitions() const override { return definitions_; }
  Result<void> read(LocationId location, trace::EventSink& sink, Losses&) const override;

 private:
  void machine(Dice& dice);
  void event(Dice& dice, trace::EventSink& sink, Time now) const;
  void message_event(Dice& dice, trace::EventSink& sink, Time now) const;
  void collective_event(Dice& dice, trace::EventSink& sink, Time now) const;
  void thread_event(Dice& dice, trace::EventSink& sink, Time now) const;
  void one_sided_event(Dice& dice, trace::EventSink& sink, Time now) const;

  CommId comm(Dice& dice) const {
    return CommId(dice.below(static_cast<uint32_t>(definitions_.comms.size())));
  }
  /// A member of `comm`, as its peers count.
  uint32_t peer(Dice& dice, CommId id) const {
    const trace::Comm& comm = definitions_.comms[id.index()];
    if (comm.kind == trace::CommKind::mpi_self) return 0;
    const size_t fewest = comm.kind == trace::CommKind::mpi_inter
                              ? std::min(comm.members.size(), comm.remote.size())
                              : comm.members.size();
    return dice.below(static_cast<uint32_t>(std::max<size_t>(1, fewest)));
  }
  GroupId group(Dice& dice) const {
    const uint32_t which = dice.below(static_cast<uint32_t>(definitions_.groups.size()) + 2);
    return which < definitions_.groups.size() ? GroupId(which) : GroupId::none();
  }

  trace::Definitions definitions_;
  std::vector<std::vector<uint8_t>> streams_;  ///< by LocationId
};

void Chaos::machine(Dice& dice) {
  definitions_.regions = regions();
  const uint32_t ranks = 1 + dice.below(4), threads = 1 + dice.below(3);
  const uint32_t kinds = dice.byte();
  trace::Comm world{"world", trace::CommKind::mpi_world, {}, {}};
  for (uint32_t r = 0; r < ranks; ++r) {
    world.members.emplace_back(r);
    definitions_.processes.push_back({"rank", "node", r, {}});
    for (uint32_t t = 0; t < threads; ++t) {
      definitions_.processes[r].locations.emplace_back(definitions_.locations.size());
      definitions_.locations.push_back(
          {"thread", trace::LocationKind::cpu_thread, ProcessId(r), t, 0, 0});
    }
  }
  definitions_.groups = {{world.members}, {{ProcessId(0)}}, {}};
  definitions_.comms.push_back(world);
  definitions_.comms.push_back({"self", trace::CommKind::mpi_self, {}, {}});
  definitions_.comms.push_back({"one", trace::CommKind::mpi, {ProcessId(ranks - 1)}, {}});
  if (ranks > 1) {
    std::vector<ProcessId> back(world.members.rbegin(), world.members.rend());
    definitions_.comms.push_back({"back", trace::CommKind::mpi, back, {}});
    definitions_.comms.push_back({"inter",
                                  trace::CommKind::mpi_inter,
                                  {ProcessId(0)},
                                  {world.members.begin() + 1, world.members.end()}});
  }
  if (kinds & 1) definitions_.comms.push_back({"none", trace::CommKind::mpi, {}, {}});
  definitions_.windows = {{"window", CommId(0)}, {"other", CommId(2)}};
  definitions_.files = {{"file", "MPI-IO", CommId(0)}, {"own", "POSIX", CommId::none()}};
  definitions_.metrics = {{"count", "", trace::MetricMode::accumulated},
                          {"height", "B", trace::MetricMode::level}};
  definitions_.metric_sets = {{MetricId(0), MetricId(1)}, {}};
}

Result<void> Chaos::read(LocationId location, trace::EventSink& sink, Losses&) const {
  const std::vector<uint8_t>& stream = streams_[location.index()];
  Dice dice(stream.data(), stream.size());
  std::vector<RegionId> open;
  int64_t now = 0;
  while (!dice.done()) {
    const uint32_t what = dice.byte();
    now += what & 7;  // often none at all
    const Time time = Time::from_nanos(now);
    if (what >= 160 && !open.empty()) {
      sink.leave(time, open.back());
      open.pop_back();
    } else if (what >= 80) {
      open.emplace_back(dice.below(static_cast<uint32_t>(definitions_.regions.size())));
      sink.enter(time, open.back());
    } else {
      event(dice, sink, time);
    }
  }
  for (; !open.empty(); open.pop_back()) sink.leave(Time::from_nanos(now), open.back());
  return {};
}

void Chaos::event(Dice& dice, trace::EventSink& sink, Time now) const {
  switch (dice.below(8)) {
    case 0:
    case 1:
    case 2:
      return message_event(dice, sink, now);
    case 3:
      return collective_event(dice, sink, now);
    case 4:
    case 5:
      return thread_event(dice, sink, now);
    case 6:
      return one_sided_event(dice, sink, now);
    default:
      break;
  }
  const double values[] = {static_cast<double>(dice.byte()), static_cast<double>(dice.byte())};
  switch (dice.below(5)) {
    case 0:
      return sink.metrics(now, MetricSetId(0), values);
    case 1:
      return sink.metrics(now, MetricSetId(1), {});
    case 2:
      return sink.iteration(now, static_cast<int64_t>(dice.byte()) - 9);
    case 3:
      return sink.recording(now, dice.below(2) == 0);
    default:
      return sink.other(now, "Unknown");
  }
}

void Chaos::message_event(Dice& dice, trace::EventSink& sink, Time now) const {
  const CommId in = comm(dice);
  trace::MpiMessage message{in, peer(dice, in), static_cast<int32_t>(dice.below(3)),
                            dice.below(2) == 0 ? 8u : 1u << 20};
  const uint32_t kind = dice.byte();
  if (kind % 11 == 3) message.partitioned = 1 + kind / 128;
  if (kind % 13 == 4) message.probe = trace::MatchedProbe{1 + kind / 64};
  const RequestId request{dice.below(4)};
  switch (kind % 10) {
    case 0:
      return sink.mpi_send(now, message);
    case 1:
      return sink.mpi_recv(now, message);
    case 2:
      return sink.mpi_isend(now, message, request);
    case 3:
      return sink.mpi_isend_complete(now, request);
    case 4:
      return sink.mpi_irecv_request(now, request);
    case 5:
      return sink.mpi_irecv(now, message, request);
    case 6:
      return sink.mpi_isend_ready(now, request);
    case 7:
      return sink.mpi_request_test(now, request);
    case 8:
      return sink.mpi_request_cancelled(now, request);
    default:
      return sink.mpi_probe(now, message);
  }
}

void Chaos::collective_event(Dice& dice, trace::EventSink& sink, Time now) const {
  trace::MpiCollective what;
  what.op = static_cast<trace::CollectiveOp>(
      dice.below(static_cast<uint32_t>(trace::CollectiveOp::other) + 1));
  what.comm = comm(dice);
  if (dice.below(2) == 0) what.root = peer(dice, what.comm);
  what.sends_to = group(dice);
  what.receives_from = group(dice);
  const RequestId request{dice.below(4)};
  switch (dice.below(4)) {
    case 0:
      return sink.mpi_icollective_request(now, request);
    case 1:
      return sink.mpi_icollective_complete(now, what, request);
    default:
      return sink.mpi_collective(now, what);
  }
}

void Chaos::thread_event(Dice& dice, trace::EventSink& sink, Time now) const {
  const uint32_t number = dice.below(4);
  const trace::TaskId task{dice.below(3), number};
  const auto kind =
      static_cast<trace::MutexKind>(dice.below(static_cast<uint32_t>(trace::kLastMutexKind) + 1));
  switch (dice.below(11)) {
    case 0:
      return sink.thread_fork(now, number, trace::RegionInstance{number});
    case 1:
      return sink.thread_join(now);
    case 2:
      return sink.thread_team_begin(now, trace::RegionInstance{number});
    case 3:
      return sink.thread_team_end(now);
    case 4:
      return sink.mutex_acquired(now, kind, number);
    case 5:
      return sink.mutex_released(now, kind, number);
    case 6:
      return sink.task_create(now, task);
    case 7:
      return sink.task_switch(now, task);
    case 8:
      return sink.task_complete(now, task);
    default:
      return sink.fact(now, static_cast<trace::Fact>(dice.below(trace::kFactCount)),
                       dice.below(2) == 0 ? number : task.number());
  }
}

void Chaos::one_sided_event(Dice& dice, trace::EventSink& sink, Time now) const {
  const WindowId window(dice.below(2));
  const FileId file(dice.below(2));
  const uint32_t target = peer(dice, definitions_.windows[window.index()].comm);
  const uint32_t pick = dice.byte();
  switch (dice.below(11)) {
    case 0:
      return sink.rma_window_created(now, window);
    case 1:
      return sink.rma_window_destroyed(now, window);
    case 2:
      return sink.rma_collective(now, {trace::CollectiveOp::barrier, window, {}, 0, 0, {}});
    case 3:
      return sink.rma_group_sync(now,
                                 {static_cast<trace::RmaEpoch>(pick % 5), window, group(dice), {}});
    case 4:
      return sink.rma_lock(
          now, {static_cast<trace::RmaLockStep>(pick % 4), window, target, pick > 128, 0, {}});
    case 5:
      return sink.rma_sync(now, {static_cast<trace::RmaSyncKind>(pick % 5), window, target});
    case 6:
      return sink.rma_operation(
          now, {window, target, static_cast<trace::RmaOp>(pick % 10), 8, 8, trace::RmaOpId{pick}});
    case 7:
      return sink.rma_complete(now, window, trace::RmaOpId{pick},
                               static_cast<trace::RmaCompletion>(pick % 3));
    case 8:
      return sink.file_opened(now, file, trace::FileAccess::read);
    case 9:
      return sink.file_operation(
          now, {file, trace::FileMode::write, pick > 128, pick % 2 == 0, 8, trace::FileOpId{pick}});
    default:
      return sink.file_closed(now, file);
  }
}

}  // namespace
}  // namespace culprit::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHead = 3;
  if (size <= kHead) return 0;
  culprit::fuzz::analyse(culprit::fuzz::Chaos(data, size), {});
  return 0;
}
