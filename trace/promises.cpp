// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a region promises follows from its name and is looked up once; a record that comes keeps it,
// and a leave without one breaks it.
#include "trace/promises.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace culprit::trace {

namespace {

constexpr std::string_view kCollectives[] = {"MPI_Barrier",
                                             "MPI_Bcast",
                                             "MPI_Gather",
                                             "MPI_Gatherv",
                                             "MPI_Scatter",
                                             "MPI_Scatterv",
                                             "MPI_Allgather",
                                             "MPI_Allgatherv",
                                             "MPI_Alltoall",
                                             "MPI_Alltoallv",
                                             "MPI_Alltoallw",
                                             "MPI_Allreduce",
                                             "MPI_Reduce",
                                             "MPI_Scan",
                                             "MPI_Exscan",
                                             "MPI_Reduce_scatter",
                                             "MPI_Reduce_scatter_block"};
constexpr std::string_view kMessages[] = {"MPI_Send", "MPI_Ssend", "MPI_Rsend",   "MPI_Bsend",
                                          "MPI_Recv", "MPI_Isend", "MPI_Sendrecv"};

bool is_one_of(std::string_view name, auto& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

Promise promise_of_mpi(std::string_view function) {
  if (is_one_of(function, kCollectives)) return Promise::collective;
  if (is_one_of(function, kMessages)) return Promise::message;
  return function == "MPI_Finalize" ? Promise::finalize : Promise::none;
}

Promise promise_of(const Region& region) {
  if (const Promise promise = promise_of_mpi(region.name); promise != Promise::none) return promise;
  const bool team = region.role == RegionRole::parallel && region.paradigm == Paradigm::openmp;
  return team ? Promise::team : Promise::none;
}

bool Promises::left(Promise promise) {
  switch (promise) {
    case Promise::collective:
      collectives_missing_ += !std::exchange(collective_, false);
      return false;
    case Promise::finalize:
      return !std::exchange(collective_, false);
    case Promise::message:
      ++message_calls_;
      return false;
    case Promise::team:
      ++parallel_;
      return false;
    case Promise::none:
      break;
  }
  return false;
}

void Promises::report(bool alone, Losses& losses) const {
  losses.add(LossKind::collectives_without_records, alone ? 0 : collectives_missing_);
  losses.add(LossKind::messages_without_records, alone || messages_ != 0 ? 0 : message_calls_);
  losses.add(LossKind::regions_without_teams, teams_ == 0 ? parallel_ : 0);
  losses.add(LossKind::samples_not_used, samples_);
}

}  // namespace culprit::trace
