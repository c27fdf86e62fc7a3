// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each process writes what it knows without asking others: its coordinates, or the ranks it sends
// to. The order of neighbours is the standard's: in a grid the lower one before the upper one,
// dimension by dimension.

#include "collector/mpi/groups/topology.h"

#include <algorithm>
#include <new>
#include <utility>

namespace culprit::collector::mpi {
namespace {

void ask_grid(MPI_Comm handle, NeighborRanks& found) {
  int dimensions = 0;
  if (PMPI_Cartdim_get(handle, &dimensions) != MPI_SUCCESS) return;
  for (int d = 0; d < dimensions; ++d) {
    int lower = MPI_PROC_NULL, upper = MPI_PROC_NULL;
    PMPI_Cart_shift(handle, d, 1, &lower, &upper);
    found.in.push_back(lower);
    found.in.push_back(upper);
  }
  found.out = found.in;
}

void ask_graph(MPI_Comm handle, const Comm& comm, NeighborRanks& found) {
  int count = 0;
  if (PMPI_Graph_neighbors_count(handle, comm.rank, &count) != MPI_SUCCESS) return;
  found.in.assign(static_cast<size_t>(count), MPI_PROC_NULL);
  PMPI_Graph_neighbors(handle, comm.rank, count, found.in.data());
  found.out = found.in;
}

void ask_distributed_graph(MPI_Comm handle, NeighborRanks& found) {
  int in = 0, out = 0, weighted = 0;
  if (PMPI_Dist_graph_neighbors_count(handle, &in, &out, &weighted) != MPI_SUCCESS) return;
  // These are never empty: some libraries use a null pointer for their "unweighted".
  std::vector<int> in_weights(static_cast<size_t>(in) + 1),
      out_weights(static_cast<size_t>(out) + 1);
  std::vector<int> sources(in_weights.size(), MPI_PROC_NULL);
  std::vector<int> targets(out_weights.size(), MPI_PROC_NULL);
  PMPI_Dist_graph_neighbors(handle, in, sources.data(), in_weights.data(), out, targets.data(),
                            out_weights.data());
  sources.pop_back();
  targets.pop_back();
  found.in = std::move(sources);
  found.out = std::move(targets);
}

void write_grid(ThreadLog& log, uint64_t time, MPI_Comm handle, const Comm& comm) {
  constexpr int kMost = trace::kMostDimensions;
  int dimensions = 0, sizes[kMost], periodic[kMost], coordinates[kMost];
  if (PMPI_Cartdim_get(handle, &dimensions) != MPI_SUCCESS || dimensions < 1 ||
      dimensions > kMost ||
      PMPI_Cart_get(handle, dimensions, sizes, periodic, coordinates) != MPI_SUCCESS) {
    return;
  }
  uint64_t words[kMost];
  for (int d = 0; d < dimensions; ++d) {
    words[d] = uint64_t{static_cast<uint32_t>(sizes[d])} |
               uint64_t{static_cast<uint32_t>(coordinates[d])} << 32 |
               uint64_t{periodic[d] != 0} << 63;
  }
  const auto count = static_cast<unsigned>(dimensions);
  log.put(time, raw::mpi_grid{.comm = comm.id, .dimensions = count}, words, count);
}

void write_graph(ThreadLog& log, uint64_t time, MPI_Comm handle, const Comm& comm) {
  const std::vector<int> targets = neighbor_ranks(handle, comm).out;
  const size_t told = std::min<size_t>(targets.size(), trace::kMostNeighbors);
  uint64_t words[trace::kMostNeighbors / 2] = {};
  for (size_t i = 0; i < told; ++i) {
    words[i / 2] |= uint64_t{static_cast<uint32_t>(targets[i])} << (i % 2 * 32);
  }
  log.put(time, raw::mpi_graph{.comm = comm.id, .neighbors = targets.size()}, words,
          static_cast<unsigned>(told + 1) / 2);
}

}  // namespace

NeighborRanks neighbor_ranks(MPI_Comm handle, const Comm& comm) {
  NeighborRanks found;
  int topology = MPI_UNDEFINED;
  if (PMPI_Topo_test(handle, &topology) != MPI_SUCCESS) return found;
  if (topology == MPI_CART) ask_grid(handle, found);
  if (topology == MPI_GRAPH) ask_graph(handle, comm, found);
  if (topology == MPI_DIST_GRAPH) ask_distributed_graph(handle, found);
  return found;
}

void write_topology(ThreadLog& log, uint64_t time, MPI_Comm handle, const Comm& comm) try {
  int topology = MPI_UNDEFINED;
  if (comm.inter() || PMPI_Topo_test(handle, &topology) != MPI_SUCCESS) return;
  if (topology == MPI_CART) write_grid(log, time, handle, comm);
  if (topology == MPI_GRAPH || topology == MPI_DIST_GRAPH) write_graph(log, time, handle, comm);
} catch (const std::bad_alloc&) {
}

}  // namespace culprit::collector::mpi
