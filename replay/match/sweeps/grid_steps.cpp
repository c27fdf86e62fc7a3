// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each message must be one step in one dimension; then the steps are counted to check that none is
// missing. Traces do not record which grid a slice was made from, but its processes are arranged as
// in the whole.
#include "replay/match/sweeps/grid_steps.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace culprit::replay {

namespace {

struct Step {
  size_t dimension;
  int way;  ///< -1 or 1
};

/// None: they are no neighbors. What goes round a periodic dimension is no step: a sweep begins and
/// ends at borders.
std::optional<Step> step_between(const trace::GridPlace& from, const trace::GridPlace& to) {
  std::optional<Step> step;
  for (size_t d = 0; d < from.coordinates.size(); ++d) {
    const int64_t way = int64_t{to.coordinates[d]} - int64_t{from.coordinates[d]};
    if (way == 0) continue;
    if (step || way > 1 || way < -1) return {};
    step = {d, static_cast<int>(way)};
  }
  return step;
}

}  // namespace

GridSteps::GridSteps(const trace::Definitions& definitions) : definitions_(definitions) {
  for (size_t g = 0; g < definitions.grids.size(); ++g) {
    const trace::Grid& grid = definitions.grids[g];
    if (grid.dimensions.size() > kMostDimensions) continue;
    if (grid.comm.valid()) grid_of_comm_.set(grid.comm.index(), static_cast<uint32_t>(g));
    for (size_t i = 0; i < grid.places.size(); ++i) {
      if (grid.places[i].coordinates.size() != grid.dimensions.size()) continue;
      places_.set(uint64_t{g} << 32 | grid.places[i].process.index(), static_cast<uint32_t>(i));
    }
  }
  find_slices();
}

/// Of the grid with most dimensions; of several, of the first.
void GridSteps::find_slices() {
  const auto fits = [](const trace::Grid& grid) {
    return grid.comm.valid() && grid.dimensions.size() <= kMostDimensions && !grid.places.empty();
  };
  for (const trace::Grid& slice : definitions_.grids) {
    if (!fits(slice)) continue;
    const trace::Grid* whole = &slice;
    for (const trace::Grid& grid : definitions_.grids) {
      if (!fits(grid) || grid.dimensions.size() <= whole->dimensions.size()) continue;
      if (is_slice(slice, grid)) whole = &grid;
    }
    if (whole != &slice) {
      whole_.set(slice.comm.index(), static_cast<uint32_t>(whole->comm.index()));
    }
  }
}

/// Whether its processes stand in the grid as they do in the slice, in some dimensions, in their
/// order, and at one place in the others.
bool GridSteps::is_slice(const trace::Grid& slice, const trace::Grid& grid) const {
  const trace::GridPlace* const first = place(grid, slice.places.front().process);
  if (first == nullptr) return false;
  std::vector<bool> varies(grid.dimensions.size());
  for (const trace::GridPlace& each : slice.places) {
    const trace::GridPlace* const at = place(grid, each.process);
    if (at == nullptr) return false;
    for (size_t d = 0; d < varies.size(); ++d) {
      if (at->coordinates[d] != first->coordinates[d]) varies[d] = true;
    }
  }
  const auto varying = [](const trace::Grid& of, const trace::GridPlace& at, const auto& which) {
    std::vector<uint32_t> coordinates;
    for (size_t d = 0; d < of.dimensions.size(); ++d) {
      if (which(d)) coordinates.push_back(at.coordinates[d]);
    }
    return coordinates;
  };
  return std::all_of(slice.places.begin(), slice.places.end(), [&](const trace::GridPlace& each) {
    const auto own = varying(slice, each, [&](size_t d) { return slice.dimensions[d].size > 1; });
    return own == varying(grid, *place(grid, each.process), [&](size_t d) { return varies[d]; });
  });
}

const trace::Grid* GridSteps::of(CommId comm) const {
  const uint32_t own = grid_of_comm_.find(comm.index());
  if (own != FlatMap::kNone) return &definitions_.grids[own];
  return definitions_.grids.size() == 1 ? &definitions_.grids.front() : nullptr;
}

const trace::GridPlace* GridSteps::place(const trace::Grid& grid, ProcessId process) const {
  const auto number = static_cast<uint64_t>(&grid - definitions_.grids.data());
  const uint32_t found = places_.find(number << 32 | process.index());
  return found == FlatMap::kNone ? nullptr : &grid.places[found];
}

GridDirection GridSteps::direction(CommId comm, ProcessId process, std::span<const ProcessId> up,
                                   std::span<const ProcessId> down) const {
  const trace::Grid* const grid = of(comm);
  const trace::GridPlace* const own = grid == nullptr ? nullptr : place(*grid, process);
  if (own == nullptr) return kNoDirection;
  const size_t dimensions = grid->dimensions.size();
  std::array<int, kMostDimensions> ways{};
  const auto go = [&](ProcessId from, ProcessId to) {
    const trace::GridPlace *const a = place(*grid, from), *const b = place(*grid, to);
    const std::optional<Step> step =
        a == nullptr || b == nullptr ? std::nullopt : step_between(*a, *b);
    if (!step || ways[step->dimension] == -step->way) return false;
    ways[step->dimension] = step->way;
    return true;
  };
  for (ProcessId peer : up) {
    if (!go(peer, process)) return kNoDirection;
  }
  for (ProcessId peer : down) {
    if (!go(process, peer)) return kNoDirection;
  }
  size_t before = 0, behind = 0;  // neighbors that there are
  GridDirection direction = 0;
  for (size_t d = dimensions; d-- > 0;) {
    direction = 3 * direction + static_cast<GridDirection>(ways[d] + 1);
    const bool at_low = own->coordinates[d] == 0;
    const bool at_high = own->coordinates[d] + 1 >= grid->dimensions[d].size;
    if (ways[d] == 0) continue;
    before += ways[d] > 0 ? !at_low : !at_high;
    behind += ways[d] > 0 ? !at_high : !at_low;
  }
  return before == up.size() && behind == down.size() ? direction : kNoDirection;
}

}  // namespace culprit::replay
