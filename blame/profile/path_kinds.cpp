// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Call paths are visited from the root down: a path is of its parent's kind unless its own region
// says otherwise.
#include "blame/profile/path_kinds.h"

#include <array>

#include "base/ranks/exchange.h"
#include "blame/profile/start_up.h"
#include "trace/mpi_calls.h"

namespace culprit::blame {

namespace {

using replay::kPatterns;
using trace::Paradigm;
using trace::RegionRole;

PathKind kind_of(const trace::Region& region) {
  if (region.paradigm == Paradigm::mpi) {
    return trace::is_mpi_call(region, trace::MpiKind::file) ? PathKind::io : PathKind::mpi;
  }
  if (region.paradigm != Paradigm::openmp) return PathKind::work;
  switch (region.role) {
    case RegionRole::barrier:
    case RegionRole::implicit_barrier:
    case RegionRole::task_wait:
    case RegionRole::lock:
      return PathKind::runtime;
    default:
      return PathKind::work;  // regions, loops, tasks, critical: the user's code is in them
  }
}

/// Is the pattern `id`, or below it?
constexpr bool belongs_to(size_t row, std::string_view id) {
  while (row < kPatterns.size() && kPatterns[row].id != id) {
    row = kPatterns[row].parent.empty() ? kPatterns.size()
                                        : replay::find_pattern(kPatterns[row].parent);
  }
  return row < kPatterns.size();
}

constexpr auto kWaitKinds = [] {
  std::array<WaitKind, kPatterns.size()> kinds{};
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i] = belongs_to(i, "omp.mutex")          ? WaitKind::mutex
               : belongs_to(i, "omp.idle_threads") ? WaitKind::pool
               : belongs_to(i, "omp")              ? WaitKind::team
               : belongs_to(i, "mpi")              ? WaitKind::mpi
               : belongs_to(i, "dev")              ? WaitKind::device
               : belongs_to(i, "mpi.polling")      ? WaitKind::polling
                                                   : WaitKind::other;
  }
  return kinds;
}();

}  // namespace

std::vector<PathKind> path_kinds(const replay::Run& run) {
  std::vector<PathKind> kinds(run.callpaths.size());
  const std::vector<bool> start_up = start_up_paths(run);
  for (size_t i = 0; i < kinds.size(); ++i) {
    const CallPathId path(i);
    if (path == run.not_started || path == run.ended) {
      kinds[i] = PathKind::absent;
    } else if (path == run.idle || path == run.waking) {
      kinds[i] = PathKind::waking;
    } else if (start_up[i]) {
      kinds[i] = PathKind::start_up;
    } else if (run.callpaths[path].region.valid()) {
      kinds[i] = kind_of(run.regions[run.callpaths[path].region.index()]);
    }
  }
  return kinds;
}

Tile tile_of_own_code(trace::Pseudo kind) {
  switch (kind) {
    case trace::Pseudo::io_in:
      return Tile::io;
    case trace::Pseudo::blocked_in:
    case trace::Pseudo::blocked_unknown:
      return Tile::blocked;
    case trace::Pseudo::spinning:
      return Tile::spinning;
    default:
      return Tile::useful;
  }
}

std::vector<bool> idle_in_own_code(const replay::Run& run, const std::vector<PathKind>& kinds) {
  std::vector<bool> idle(kinds.size());
  for (size_t i = 0; i < idle.size(); ++i) {
    const RegionId region = run.callpaths[CallPathId(i)].region;
    if (kinds[i] != PathKind::work || !region.valid()) continue;
    const trace::Pseudo pseudo = trace::pseudo_of(run.regions[region.index()].name);
    idle[i] = tile_of_own_code(pseudo) != Tile::useful;
  }
  return idle;
}

std::vector<bool> inside_parallel(const replay::Run& run) {
  std::vector<bool> inside(run.callpaths.size());
  for (size_t i = 0; i < inside.size(); ++i) {
    const auto& node = run.callpaths[CallPathId(i)];
    const trace::Region& region = run.regions[node.region.index()];
    inside[i] = (region.role == trace::RegionRole::parallel) ||
                (node.parent.valid() && inside[node.parent.index()]);
  }
  return inside;
}

std::vector<bool> on_streams(const replay::Run& run) {
  std::vector<bool> all(run.callpaths.size());
  if (!run.device_idle.valid()) return all;  // no rank has any
  std::vector<double> ranks(run.callpaths.size());
  for (LocationId id : run.locations) {
    for (const replay::DeviceOperation& operation : run.at(id).device.operations) {
      ranks[operation.path.index()] = 1;
    }
  }
  add_up(*run.ranks, ranks);
  for (size_t i = 0; i < all.size(); ++i) all[i] = ranks[i] > 0;
  for (CallPathId path : {run.device_idle, run.stream_idle, run.launch_latency}) {
    all[path.index()] = true;
  }
  return all;
}

WaitKind wait_kind(replay::Pattern pattern) {
  return kWaitKinds[static_cast<size_t>(pattern)];
}

}  // namespace culprit::blame
