// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Seats are given by rank, world by world; a rank that is taken already opens another world, since
// two jobs may have run side by side.
#include "assemble/run/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace culprit::assemble {
namespace {

/// More ranks than any machine has: a damaged file.
constexpr int32_t kMaxRanks = 1 << 20;

/// A world while its ranks arrive.
struct Arriving {
  std::string_view job;     ///< of all its ranks; jobs may run at the same time
  std::string_view parent;  ///< likewise: who spawned it
  std::vector<std::optional<size_t>> seats;
};

bool takes_part_in_mpi(const RawProcessFolder& folder) {
  const auto& process = folder.process;
  return process.world_rank >= 0 && process.world_size > process.world_rank &&
         process.world_size <= kMaxRanks;
}

/// Or was recorded for its threads alone.
bool has_a_runtime(const RawProcessFolder& folder) {
  const auto& process = folder.process;
  return takes_part_in_mpi(folder) || process.mpi_library[0] != '\0' ||
         process.omp_runtime[0] != '\0' || process.gomp_redirected != 0 ||
         process.declined == trace::RawDeclined::other_tool || !folder.device_logs.empty();
}

/// Whether it was forked by a process that has a runtime, and goes on with the same program: a
/// script's workers load data for it.
bool works_for_one(const std::vector<RawProcessFolder>& folders, size_t index) {
  const trace::RawProcess& worker = folders[index].process;
  return std::any_of(folders.begin(), folders.end(), [&](const RawProcessFolder& folder) {
    return has_a_runtime(folder) &&
           folder.process.first.monotonic_ns <= worker.first.monotonic_ns &&
           strcmp(folder.process.host, worker.host) == 0 &&
           strcmp(folder.process.executable, worker.executable) == 0 &&
           strcmp(folder.process.command, worker.command) == 0;
  });
}

bool take_seat(Arriving& world, const RawProcessFolder& folder, size_t index) {
  const auto& process = folder.process;
  if (world.seats.size() != static_cast<size_t>(process.world_size)) return false;
  if (world.job != process.job || world.parent != process.parent) return false;
  auto& seat = world.seats[static_cast<size_t>(process.world_rank)];
  if (seat) return false;
  seat = index;
  return true;
}

/// Worlds in order of their first process; a rank that is taken opens another world.
std::vector<Arriving> gather_worlds(const std::vector<RawProcessFolder>& folders) {
  std::vector<Arriving> worlds;
  for (size_t i = 0; i < folders.size(); ++i) {
    if (!takes_part_in_mpi(folders[i])) continue;
    const bool seated = std::any_of(worlds.begin(), worlds.end(), [&](Arriving& world) {
      return take_seat(world, folders[i], i);
    });
    if (seated) continue;
    auto& world = worlds.emplace_back();
    world.job = folders[i].process.job;
    world.parent = folders[i].process.parent;
    world.seats.resize(static_cast<size_t>(folders[i].process.world_size));
    take_seat(world, folders[i], i);
  }
  return worlds;
}

void add_world(const Arriving& arrived, Processes& processes) {
  World world;
  for (const auto& folder : arrived.seats) {
    world.members.push_back(ProcessId(processes.slots.size()));
    processes.slots.push_back({folder, processes.worlds.size()});
  }
  processes.worlds.push_back(std::move(world));
}

/// Which process of the trace has this "<job>.<rank>".
std::optional<size_t> process_named(std::string_view name,
                                    const std::vector<RawProcessFolder>& folders,
                                    const Processes& processes) {
  for (size_t i = 0; i < processes.slots.size(); ++i) {
    if (!processes.slots[i].folder) continue;
    const auto& process = folders[*processes.slots[i].folder].process;
    if (fmt::format("{}.{}", process.job, process.world_rank) == name) return i;
  }
  return std::nullopt;
}

/// Users know ranks as their program numbers them: world by world.
std::string note_on(const Arriving& world, const std::vector<RawProcessFolder>& folders,
                    const Processes& processes) {
  const size_t count = world.seats.size();
  const size_t first = processes.slots.size() - count;
  std::string whose = "a separate job";
  if (!world.parent.empty()) {
    const auto spawner = process_named(world.parent, folders, processes);
    whose = spawner ? fmt::format("spawned by rank {}", *spawner) : "spawned";
  }
  if (count == 1) {
    return fmt::format("Rank {} is the only rank of another MPI_COMM_WORLD ({}).", first, whose);
  }
  return fmt::format("Ranks {} to {} are ranks 0 to {} of another MPI_COMM_WORLD ({}).", first,
                     first + count - 1, count - 1, whose);
}

}  // namespace

std::vector<size_t> order_of(const std::vector<RawProcessFolder>& folders) {
  std::vector<size_t> order;
  for (const Arriving& world : gather_worlds(folders)) {
    for (const auto& seat : world.seats) {
      if (seat) order.push_back(*seat);
    }
  }
  for (size_t i = 0; i < folders.size(); ++i) {
    if (!takes_part_in_mpi(folders[i])) order.push_back(i);
  }
  return order;
}

Processes arrange_processes(const std::vector<RawProcessFolder>& folders, Losses& losses,
                            std::vector<std::string>& notes) {
  Processes processes;
  for (const Arriving& world : gather_worlds(folders)) {
    const auto& seats = world.seats;
    const auto empty = static_cast<uint64_t>(std::count(seats.begin(), seats.end(), std::nullopt));
    losses.add(LossKind::missing_processes, empty);
    add_world(world, processes);
    if (processes.worlds.size() > 1) notes.push_back(note_on(world, folders, processes));
  }
  const bool have_runtimes = std::any_of(folders.begin(), folders.end(), has_a_runtime);
  size_t without_mpi = 0, left_out = 0;
  for (size_t i = 0; i < folders.size(); ++i) {
    if (takes_part_in_mpi(folders[i]) || folders[i].logs.empty()) continue;
    if (have_runtimes && !has_a_runtime(folders[i]) && !works_for_one(folders, i)) {
      ++left_out;
      continue;
    }
    processes.slots.push_back({i, std::nullopt});
    ++without_mpi;
  }
  if (left_out > 0) {
    notes.push_back(fmt::format(
        "{} process(es) that use threads, but neither MPI nor OpenMP nor a device, are left out.",
        left_out));
  }
  if (without_mpi > 0 && processes.slots.size() > 1) {
    notes.push_back(fmt::format(
        "{} process(es) did not use MPI; they are numbered {} to {} in order of their start.",
        without_mpi, processes.slots.size() - without_mpi, processes.slots.size() - 1));
  }
  return processes;
}

}  // namespace culprit::assemble
