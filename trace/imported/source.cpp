// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Locations of a process: its threads, the main one first, then a stream for each lane of its
// queues. Time 0 is the first moment of the job.
#include "trace/imported/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/parallel.h"
#include "trace/imported/host_acts.h"
#include "trace/imported/lanes.h"
#include "trace/valid_names.h"

namespace culprit::trace {
namespace {

/// More is no time of any clock, and sums and differences stay within 64 bits.
constexpr int64_t kFarthest = int64_t{1} << 61;

/// A process, ready to be played.
struct Player {
  ImportedProcess process;
  std::vector<ImportedQueue> queues;
  std::unique_ptr<HostActs> acts;
  std::vector<RegionId> regions;  ///< of the trace, by the process's own
};

std::span<const ImportedAct> acts_of(const ImportedThread& thread, uint64_t call) {
  if (call == 0 || thread.acts.empty()) return {};
  const auto first = std::partition_point(thread.acts.begin(), thread.acts.end(),
                                          [&](const ImportedAct& act) { return act.call < call; });
  auto last = first;
  while (last != thread.acts.end() && last->call == call) ++last;
  return {first, last};
}

void play_act(Time time, const ImportedAct& act, EventSink& sink) {
  using enum ImportedAct::What;
  const MpiMessage message{CommId(act.comm), act.peer, act.tag, act.bytes};
  const RequestId request{act.number};
  MpiCollective done{act.op, CommId(act.comm), {}, act.bytes, act.received};
  done.is_root = act.is_root;
  switch (act.what) {
    case send:
      return sink.mpi_send(time, message);
    case isend:
      return sink.mpi_isend(time, message, request);
    case irecv_request:
      return sink.mpi_irecv_request(time, request);
    case fork:
      return sink.thread_fork(time, act.peer, RegionInstance{act.number});
    case team_begin:
      return sink.thread_team_begin(time, RegionInstance{act.number});
    case isend_complete:
      return sink.mpi_isend_complete(time, request);
    case recv:
      return sink.mpi_recv(time, message);
    case irecv:
      return sink.mpi_irecv(time, message, request);
    case collective:
      return sink.mpi_collective(time, done);
    case team_end:
      return sink.thread_team_end(time);
    case join:
      return sink.thread_join(time);
  }
}

struct Part {
  size_t player = 0;
  const ImportedThread* thread = nullptr;
  const ImportedQueue* queue = nullptr;  ///< or a lane of a queue
  size_t lane = 0;
};

class ImportedSource final : public Source {
 public:
  ImportedSource(std::vector<Player> players, Definitions definitions, std::vector<Part> parts,
                 int64_t origin)
      : players_(std::move(players)),
        definitions_(std::move(definitions)),
        parts_(std::move(parts)),
        origin_(origin) {}

  const Definitions& definitions() const override { return definitions_; }

  uint64_t expected_events() const override {
    uint64_t sum = 0;
    for (const Location& location : definitions_.locations) sum += location.event_count;
    return sum;
  }

  Result<void> read(LocationId location, EventSink& sink, Losses&) const override {
    const Part& part = parts_[location.index()];
    if (part.thread != nullptr) {
      play_calls(players_[part.player], *part.thread, sink);
    } else {
      play_operations(players_[part.player], *part.queue, part.lane, sink);
    }
    return {};
  }

 private:
  Time at(int64_t ns) const { return Time::from_nanos(ns - origin_); }

  void play_calls(const Player& player, const ImportedThread& thread, EventSink& sink) const {
    struct Open {
      const ImportedCall* call;
      std::span<const ImportedAct> at_end;
    };
    std::vector<Open> open;
    const auto leave_until = [&](int64_t time) {
      while (!open.empty() && open.back().call->end <= time) {
        const ImportedCall& call = *open.back().call;
        for (const ImportedAct& act : open.back().at_end) play_act(at(call.end), act, sink);
        sink.leave(at(call.end), player.regions[call.region.index()]);
        open.pop_back();
      }
    };
    for (const ImportedCall& call : thread.calls) {
      leave_until(call.begin);
      const RegionId region = player.regions[call.region.index()];
      sink.enter(at(call.begin), region);
      std::span<const ImportedAct> acts;
      if (definitions_.regions[region.index()].role == RegionRole::iteration) {
        sink.iteration(at(call.begin), static_cast<int64_t>(call.number));
      } else {
        player.acts->play(call, at(call.begin), sink);
        acts = acts_of(thread, call.number);
      }
      while (!acts.empty() && !acts.front().is_at_end()) {
        play_act(at(call.begin), acts.front(), sink);
        acts = acts.subspan(1);
      }
      open.push_back({&call, acts});
    }
    leave_until(std::numeric_limits<int64_t>::max());
  }

  void play_operations(const Player& player, const ImportedQueue& queue, size_t lane,
                       EventSink& sink) const {
    for (size_t i = 0; i < queue.lanes[lane].size(); ++i) {
      const ImportedOperation& told = queue.lanes[lane][i];
      const RegionId region = player.regions[told.region.index()];
      DeviceOperation operation;
      operation.operation = queue.numbers[lane][i];
      operation.kind = told.kind;
      operation.direction = told.direction;
      operation.memory = told.memory;
      operation.bytes = told.bytes;
      sink.enter(at(told.begin), region);
      sink.device_operation(at(told.begin), operation);
      sink.leave(at(told.end), region);
    }
  }

  std::vector<Player> players_;
  Definitions definitions_;
  std::vector<Part> parts_;  ///< by LocationId
  int64_t origin_;
};

template <class Span>
void drop_absurd(std::vector<Span>& spans, Losses& losses) {
  const size_t before = spans.size();
  std::erase_if(spans, [](const Span& span) {
    return std::max(span.begin, span.end) > kFarthest ||
           std::min(span.begin, span.end) < -kFarthest;
  });
  losses.add(LossKind::times_absurd, before - spans.size());
}

/// A thread that only joins teams of others has nothing to do between them.
bool is_in_pool(const ImportedThread& thread) {
  const auto any = [&](ImportedAct::What what) {
    return std::any_of(thread.acts.begin(), thread.acts.end(),
                       [&](const ImportedAct& act) { return act.what == what; });
  };
  return any(ImportedAct::What::team_begin) && !any(ImportedAct::What::fork);
}

Player prepare(ImportedProcess process) {
  Player player;
  player.process = std::move(process);
  ImportedProcess& told = player.process;
  for (auto& [key, thread] : told.threads) {
    drop_absurd(thread.calls, told.losses);
    make_nested(thread.calls, told.regions, told.losses);
    set_ranges_of_libraries_apart(thread.calls, told.regions);
    std::stable_sort(thread.acts.begin(), thread.acts.end(),
                     [](const ImportedAct& a, const ImportedAct& b) {
                       return std::pair(a.call, a.is_at_end()) < std::pair(b.call, b.is_at_end());
                     });
    if (!is_in_pool(thread)) name_gaps(thread.calls, told.regions);
  }
  std::erase_if(told.threads, [](const auto& thread) { return thread.second.calls.empty(); });
  for (auto& [key, operations] : told.queues) {
    drop_absurd(operations, told.losses);
    auto lanes = lanes_of(std::move(operations), told.losses);
    if (!lanes.empty()) player.queues.push_back({key, std::move(lanes), {}});
  }
  told.queues.clear();
  player.acts = std::make_unique<HostActs>(told, player.queues);
  return player;
}

/// In the order of ranks; those without one stay where they are, behind the others.
Result<void> put_in_order(std::vector<ImportedProcess>& processes) {
  std::stable_sort(processes.begin(), processes.end(),
                   [](const ImportedProcess& a, const ImportedProcess& b) {
                     constexpr uint32_t kLast = UINT32_MAX;
                     return a.rank.value_or(kLast) < b.rank.value_or(kLast);
                   });
  for (size_t i = 1; i < processes.size(); ++i) {
    if (!processes[i].rank || processes[i].rank != processes[i - 1].rank) continue;
    return Error{fmt::format("'{}' and '{}' are both of rank {}: give one trace of each rank",
                             processes[i - 1].file, processes[i].file, *processes[i].rank)};
  }
  return {};
}

/// Adds the process's regions to those of all.
class RegionUnion {
 public:
  explicit RegionUnion(std::vector<Region>& all) : all_(all) {}

  std::vector<RegionId> add(std::vector<Region>& own) {
    std::vector<RegionId> ids;
    ids.reserve(own.size());
    for (const Region& region : own) {
      const auto key =
          fmt::format("{}\n{}\n{}\n{}\n{}", region.name, region.file, region.line,
                      static_cast<int>(region.role), static_cast<int>(region.paradigm));
      const auto [place, fresh] = known_.try_emplace(key, RegionId(all_.size()));
      if (fresh) all_.push_back(region);
      ids.push_back(place->second);
    }
    return ids;
  }

 private:
  std::vector<Region>& all_;
  std::unordered_map<std::string, RegionId> known_;
};

int64_t main_thread_of(const ImportedProcess& process) {
  if (process.threads.contains(process.main_thread)) return process.main_thread;
  const auto most = std::max_element(
      process.threads.begin(), process.threads.end(),
      [](const auto& a, const auto& b) { return a.second.calls.size() < b.second.calls.size(); });
  return most == process.threads.end() ? 0 : most->first;
}

/// Fills the definitions of one process and of what is in it.
class Describer {
 public:
  Describer(Definitions& definitions, std::vector<Part>& parts)
      : definitions_(definitions), parts_(parts) {}

  void add(size_t index, Player& player) {
    const ImportedProcess& told = player.process;
    const ProcessId id(definitions_.processes.size());
    Process& process = definitions_.processes.emplace_back();
    process.rank = static_cast<uint32_t>(id.index());
    process.name = fmt::format("rank {}", told.rank.value_or(process.rank));
    process.node = told.node.empty() ? "node of " + process.name : told.node;
    const int64_t main = main_thread_of(told);
    if (const auto first = told.threads.find(main); first != told.threads.end()) {
      add_thread(id, index, "master thread", first->second);
    }
    for (const auto& [key, thread] : told.threads) {
      if (key == main) continue;
      add_thread(id, index, thread.name.empty() ? fmt::format("thread {}", key) : thread.name,
                 thread);
    }
    std::map<uint64_t, DeviceId> devices;
    for (uint32_t q = 0; q < player.queues.size(); ++q) {
      add_queue(id, index, told, q, player.queues[q], devices);
    }
  }

 private:
  Location& add_location(ProcessId process, std::string name, LocationKind kind, uint64_t events) {
    Process& of = definitions_.processes[process.index()];
    Location location;
    location.name = std::move(name);
    location.kind = kind;
    location.process = process;
    location.thread = static_cast<uint32_t>(of.locations.size());
    location.file_id = uint64_t{location.thread} << 32 | of.rank;
    location.event_count = events;
    of.locations.push_back(LocationId(definitions_.locations.size()));
    return definitions_.locations.emplace_back(std::move(location));
  }

  void add_thread(ProcessId process, size_t player, std::string name,
                  const ImportedThread& thread) {
    add_location(process, std::move(name), LocationKind::cpu_thread,
                 2 * thread.calls.size() + thread.acts.size());
    parts_.push_back({player, &thread, nullptr, 0});
  }

  void add_queue(ProcessId process, size_t player, const ImportedProcess& told, uint32_t number,
                 const ImportedQueue& queue, std::map<uint64_t, DeviceId>& devices) {
    const auto [device, fresh] =
        devices.try_emplace(queue.key.device, DeviceId(definitions_.devices.size()));
    if (fresh) {
      const Process& of = definitions_.processes[process.index()];
      const auto name = told.device_names.find(queue.key.device);
      definitions_.devices.push_back({name != told.device_names.end() ? name->second : "GPU",
                                      of.node, fmt::format("{} of {}", queue.key.device, of.name)});
    }
    for (size_t lane = 0; lane < queue.lanes.size(); ++lane) {
      Location& location =
          add_location(process,
                       fmt::format("stream {} of device {}{}", queue.key.stream, queue.key.device,
                                   lane == 0 ? "" : fmt::format(" ({})", lane + 1)),
                       LocationKind::accelerator_stream, 3 * queue.lanes[lane].size());
      location.device = device->second;
      location.queue = number;
      parts_.push_back({player, nullptr, &queue, lane});
    }
  }

  Definitions& definitions_;
  std::vector<Part>& parts_;
};

int64_t first_moment(const std::vector<Player>& players) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const Player& player : players) {
    for (const auto& [key, thread] : player.process.threads) {
      first = std::min(first, thread.calls.front().begin);
    }
    for (const ImportedQueue& queue : player.queues) {
      for (const auto& lane : queue.lanes) first = std::min(first, lane.front().begin);
    }
  }
  return first;
}

}  // namespace

Result<std::unique_ptr<Source>> make_source(std::vector<ImportedProcess> processes,
                                            std::string creator, unsigned threads, Losses& losses,
                                            std::vector<std::string>& notes,
                                            std::vector<ImportedComm> comms) {
  if (auto ordered = put_in_order(processes); !ordered) return ordered.error();
  std::vector<Player> players(processes.size());
  parallel_for(processes.size(), threads,
               [&](size_t i) { players[i] = prepare(std::move(processes[i])); });
  Definitions definitions;
  definitions.creator = std::move(creator);
  std::vector<Part> parts;
  RegionUnion regions(definitions.regions);
  Describer describer(definitions, parts);
  for (size_t i = 0; i < players.size(); ++i) {
    const ImportedProcess& told = players[i].process;
    losses.merge(told.losses);
    players[i].regions = regions.add(players[i].process.regions);
    describer.add(i, players[i]);
    if (definitions.program.empty()) definitions.program = told.program;
    if (told.rank && *told.rank != i) {
      notes.push_back(
          fmt::format("Rank {} here is rank {} of the job ({}).", i, *told.rank, told.file));
    }
  }
  if (parts.empty()) return Error{"there is no call and no operation of a device in it"};
  for (ImportedComm& comm : comms) {
    Comm& described = definitions.comms.emplace_back();
    described.name = std::move(comm.name);
    described.kind = comm.kind;
    for (uint32_t member : comm.members) described.members.push_back(ProcessId(member));
  }
  make_names_valid(definitions);
  const int64_t origin = first_moment(players);
  return std::unique_ptr<Source>(std::make_unique<ImportedSource>(
      std::move(players), std::move(definitions), std::move(parts), origin));
}

}  // namespace culprit::trace
