// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lists of numbers are texts in findings: "3,0".

#include "blame/findings/topologies.h"

#include <string>

namespace culprit::blame {
namespace {

template <class Values, class Number>
std::string joined(const Values& values, const Number& number) {
  std::string text;
  for (const auto& value : values) {
    text += (text.empty() ? "" : ",") + std::to_string(number(value));
  }
  return text;
}

}  // namespace

void add_topologies(const trace::Definitions& definitions, Findings& found) {
  const auto rank_of = [&](ProcessId process) {
    return definitions.processes[process.index()].rank;
  };
  for (const trace::Grid& grid : definitions.grids) {
    const auto& dims = grid.dimensions;
    found.topologies.push_back({grid.name, TopologyKind::grid,
                                joined(dims, [](const auto& d) { return d.size; }),
                                joined(dims, [](const auto& d) { return int{d.periodic}; })});
    for (const trace::GridPlace& place : grid.places) {
      found.topology_places.push_back({grid.name, rank_of(place.process),
                                       joined(place.coordinates, [](uint32_t c) { return c; }), "",
                                       0});
    }
  }
  for (const trace::Graph& graph : definitions.graphs) {
    found.topologies.push_back({graph.name, TopologyKind::graph, "", ""});
    for (const trace::GraphPlace& place : graph.places) {
      found.topology_places.push_back(
          {graph.name, rank_of(place.process), "", joined(place.neighbors, rank_of), place.all});
    }
  }
}

}  // namespace culprit::blame
