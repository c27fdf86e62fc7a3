// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/run/grids.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace culprit::assemble {

std::vector<trace::Grid> unify_grids(const CommTable& comms, const std::vector<CommUser>& users) {
  std::map<CommId, trace::Grid> by_comm;
  for (size_t i = 0; i < users.size(); ++i) {
    if (users[i].survey == nullptr) continue;
    for (const GridDefinition& told : users[i].survey->grids) {
      const auto comm = comms.local[i].find(told.comm);
      if (comm == comms.local[i].end() || !comm->second.valid()) continue;
      trace::Grid& grid = by_comm[comm->second];
      grid.comm = comm->second;
      if (grid.dimensions.empty()) grid.dimensions = told.dimensions;
      if (grid.dimensions == told.dimensions) {
        grid.places.push_back({users[i].process, told.coordinates});
      }
    }
  }
  std::vector<trace::Grid> grids;
  for (auto& [comm, grid] : by_comm) {
    const bool known = std::any_of(grids.begin(), grids.end(), [&](const trace::Grid& other) {
      return other.dimensions == grid.dimensions && other.places == grid.places;
    });
    if (known || grids.size() == kMostGrids) continue;
    grid.name = fmt::format("grid {}", grids.size());
    grids.push_back(std::move(grid));
  }
  return grids;
}

}  // namespace culprit::assemble
