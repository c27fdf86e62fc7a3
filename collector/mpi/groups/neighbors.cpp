// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Neighbours are kept with the handle of their communicator; the first caller asks MPI for them.

#include "collector/mpi/groups/neighbors.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "collector/mpi/arguments.h"
#include "collector/mpi/groups/topology.h"

namespace culprit::collector::mpi {
namespace {

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

std::unique_ptr<Neighborhood> make(ThreadLog& log, uint64_t time, MPI_Comm handle,
                                   const Comm& comm) try {
  auto found = std::make_unique<Neighborhood>();
  NeighborRanks ranks = neighbor_ranks(handle, comm);
  found->in.ranks = std::move(ranks.in);
  found->out.ranks = std::move(ranks.out);
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
  std::unique_ptr<Neighborhood> found = make(log, time, handle, comm);
  const Neighborhood* known = nullptr;
  if (place->compare_exchange_strong(known, found.get(), std::memory_order_acq_rel)) {
    known = found.release();
  }
  return known;
}

}  // namespace culprit::collector::mpi
