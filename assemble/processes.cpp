// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/processes.h"

#include <fmt/format.h>

#include <algorithm>

namespace culprit::assemble {
namespace {

/// More ranks than any machine has: a damaged file.
constexpr int32_t kMaxRanks = 1 << 24;

/// A world while its ranks arrive.
using Seats = std::vector<std::optional<size_t>>;

bool takes_part_in_mpi(const RawProcessFolder& folder) {
  const auto& process = folder.process;
  return process.world_rank >= 0 && process.world_size > process.world_rank &&
         process.world_size <= kMaxRanks;
}

bool take_seat(Seats& seats, const RawProcessFolder& folder, size_t index) {
  const auto& process = folder.process;
  if (seats.size() != static_cast<size_t>(process.world_size)) return false;
  auto& seat = seats[static_cast<size_t>(process.world_rank)];
  if (seat) return false;
  seat = index;
  return true;
}

/// Worlds in order of their first process; a rank that is taken opens another world.
std::vector<Seats> gather_worlds(const std::vector<RawProcessFolder>& folders) {
  std::vector<Seats> worlds;
  for (size_t i = 0; i < folders.size(); ++i) {
    if (!takes_part_in_mpi(folders[i])) continue;
    const bool seated = std::any_of(worlds.begin(), worlds.end(),
                                    [&](Seats& seats) { return take_seat(seats, folders[i], i); });
    if (seated) continue;
    worlds.emplace_back(static_cast<size_t>(folders[i].process.world_size));
    take_seat(worlds.back(), folders[i], i);
  }
  return worlds;
}

void add_world(const Seats& seats, Processes& processes) {
  World world;
  for (const auto& folder : seats) {
    world.members.push_back(ProcessId(processes.slots.size()));
    processes.slots.push_back({folder, processes.worlds.size()});
  }
  processes.worlds.push_back(std::move(world));
}

}  // namespace

Processes arrange_processes(const std::vector<RawProcessFolder>& folders, Losses& losses,
                            std::vector<std::string>& notes) {
  Processes processes;
  for (const Seats& seats : gather_worlds(folders)) {
    const auto empty = static_cast<uint64_t>(std::count(seats.begin(), seats.end(), std::nullopt));
    losses.add("missing_processes", Severity::data_loss,
               "Ranks of the program left no records (another node's files out of reach, or killed "
               "at start); waiting for them is not explained.",
               empty);
    if (!processes.worlds.empty()) {
      losses.add("spawned_processes", Severity::warning,
                 "Processes with an MPI_COMM_WORLD of their own are shown after the others; "
                 "communication between the worlds is not analysed.",
                 seats.size() - empty);
    }
    add_world(seats, processes);
  }
  size_t without_mpi = 0;
  for (size_t i = 0; i < folders.size(); ++i) {
    if (takes_part_in_mpi(folders[i]) || folders[i].logs.empty()) continue;
    processes.slots.push_back({i, std::nullopt});
    ++without_mpi;
  }
  if (without_mpi > 0 && processes.slots.size() > 1) {
    notes.push_back(fmt::format(
        "{} process(es) did not use MPI; they are numbered {} to {} in order of their start.",
        without_mpi, processes.slots.size() - without_mpi, processes.slots.size() - 1));
  }
  return processes;
}

}  // namespace culprit::assemble
