// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Asks MPI for a topology (neighbors.h). The order of neighbours is the standard's: in a grid the
// lower one before the upper one, dimension by dimension.

#include "collector/mpi/groups/neighbors.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "collector/mpi/arguments.h"

namespace culprit::collector::mpi {
namespace {

void ask_grid(MPI_Comm handle, Neighborhood& found) {
  int dimensions = 0;
  if (PMPI_Cartdim_get(handle, &dimensions) != MPI_SUCCESS) return;
  for (int d = 0; d < dimensions; ++d) {
    int lower = MPI_PROC_NULL, upper = MPI_PROC_NULL;
    PMPI_Cart_shift(handle, d, 1, &lower, &upper);
    found.in.ranks.push_back(lower);
    found.in.ranks.push_back(upper);
  }
  found.out.ranks = found.in.ranks;
}

void ask_graph(MPI_Comm handle, const Comm& comm, Neighborhood& found) {
  int count = 0;
  if (PMPI_Graph_neighbors_count(handle, comm.rank, &count) != MPI_SUCCESS) return;
  found.in.ranks.assign(static_cast<size_t>(count), MPI_PROC_NULL);
  PMPI_Graph_neighbors(handle, comm.rank, count, found.in.ranks.data());
  found.out.ranks = found.in.ranks;
}

void ask_distributed_graph(MPI_Comm handle, Neighborhood& found) {
  int in = 0, out = 0, weighted = 0;
  if (PMPI_Dist_graph_neighbors_count(handle, &in, &out, &weighted) != MPI_SUCCESS) return;
  // Never of no size: some libraries take a null pointer for their "unweighted".
  std::vector<int> in_weights(static_cast<size_t>(in) + 1),
      out_weights(static_cast<size_t>(out) + 1);
  std::vector<int> sources(in_weights.size(), MPI_PROC_NULL);
  std::vector<int> targets(out_weights.size(), MPI_PROC_NULL);
  PMPI_Dist_graph_neighbors(handle, in, sources.data(), in_weights.data(), out, targets.data(),
                            out_weights.data());
  sources.pop_back();
  targets.pop_back();
  found.in.ranks = std::move(sources);
  found.out.ranks = std::move(targets);
}

void sort(ThreadLog& log, uint64_t time, Neighbors& side) {
  for (size_t i = 0; i < side.ranks.size(); ++i) {
    if (side.ranks[i] >= 0) side.ascending.push_back(static_cast<int>(i));
  }
  std::stable_sort(side.ascending.begin(), side.ascending.end(), [&](int a, int b) {
    return side.ranks[static_cast<size_t>(a)] < side.ranks[static_cast<size_t>(b)];
  });
  side.all = set_of(log, time, [&](const auto& visit) {
    for (const int place : side.ascending) visit(side.ranks[static_cast<size_t>(place)]);
  });
}

std::unique_ptr<Neighborhood> ask(ThreadLog& log, uint64_t time, MPI_Comm handle,
                                  const Comm& comm) try {
  auto found = std::make_unique<Neighborhood>();
  int topology = MPI_UNDEFINED;
  if (PMPI_Topo_test(handle, &topology) != MPI_SUCCESS) return found;
  if (topology == MPI_CART) ask_grid(handle, *found);
  if (topology == MPI_GRAPH) ask_graph(handle, comm, *found);
  if (topology == MPI_DIST_GRAPH) ask_distributed_graph(handle, *found);
  sort(log, time, found->in);
  sort(log, time, found->out);
  return found;
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

const Neighborhood* neighborhood_of(ThreadLog& log, uint64_t time, MPI_Comm handle,
                                    const Comm& comm) {
  std::atomic<const Neighborhood*>* const place = neighborhood_place(handle);
  if (!place) return nullptr;
  if (const Neighborhood* known = place->load(std::memory_order_acquire)) return known;
  std::unique_ptr<Neighborhood> found = ask(log, time, handle, comm);
  const Neighborhood* known = nullptr;
  if (place->compare_exchange_strong(known, found.get(), std::memory_order_acq_rel)) {
    known = found.release();
  }
  return known;
}

}  // namespace culprit::collector::mpi
