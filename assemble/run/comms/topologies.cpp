// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Places are in the order of processes, so that equal arrangements are equal lists.

#include "assemble/run/comms/topologies.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace culprit::assemble {
namespace {

/// Adds each process's entry in its list `told` to the arrangement of that communicator:
/// add(arrangement, process, members of the communicator, definition).
template <class Topology, class Definition, class Add>
std::map<CommId, Topology> by_comm(const CommTable& comms, const std::vector<CommUser>& users,
                                   std::vector<Definition> Survey::* told, const Add& add) {
  std::map<CommId, Topology> found;
  for (size_t i = 0; i < users.size(); ++i) {
    if (users[i].survey == nullptr) continue;
    for (const Definition& own : users[i].survey->*told) {
      const auto comm = comms.local[i].find(own.comm);
      if (comm == comms.local[i].end() || !comm->second.valid()) continue;
      Topology& topology = found[comm->second];
      topology.comm = comm->second;
      add(topology, users[i].process, comms.comms[comm->second.index()].members, own);
    }
  }
  return found;
}

template <class Topology, class Same>
std::vector<Topology> distinct(std::map<CommId, Topology> all, std::string_view word,
                               const Same& same) {
  std::vector<Topology> kept;
  for (auto& [comm, topology] : all) {
    const bool known = std::any_of(kept.begin(), kept.end(),
                                   [&](const Topology& other) { return same(other, topology); });
    if (known || topology.places.empty() || kept.size() == kMostTopologies) continue;
    topology.name = fmt::format("{} {}", word, kept.size());
    kept.push_back(std::move(topology));
  }
  return kept;
}

}  // namespace

std::vector<trace::Grid> unify_grids(const CommTable& comms, const std::vector<CommUser>& users) {
  const auto add = [](trace::Grid& grid, ProcessId process, const std::vector<ProcessId>&,
                      const GridDefinition& told) {
    if (grid.dimensions.empty()) grid.dimensions = told.dimensions;
    trace::GridPlace place{process, told.coordinates};
    if (grid.dimensions == told.dimensions && contains(grid, place)) {
      grid.places.push_back(std::move(place));
    }
  };
  return distinct(by_comm<trace::Grid>(comms, users, &Survey::grids, add), "grid",
                  [](const trace::Grid& a, const trace::Grid& b) {
                    return a.dimensions == b.dimensions && a.places == b.places;
                  });
}

std::vector<trace::Graph> unify_graphs(const CommTable& comms, const std::vector<CommUser>& users) {
  const auto add = [](trace::Graph& graph, ProcessId process, const std::vector<ProcessId>& members,
                      const GraphDefinition& told) {
    trace::GraphPlace place{process, {}, told.all};
    for (const uint32_t rank : told.neighbors) {
      if (rank < members.size()) place.neighbors.push_back(members[rank]);
    }
    graph.places.push_back(std::move(place));
  };
  return distinct(
      by_comm<trace::Graph>(comms, users, &Survey::graphs, add), "graph",
      [](const trace::Graph& a, const trace::Graph& b) { return a.places == b.places; });
}

}  // namespace culprit::assemble
