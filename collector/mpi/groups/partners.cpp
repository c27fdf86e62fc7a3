// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sets of partners (partners.h). Counts that mean something only at the root are read only there.

#include "collector/mpi/groups/partners.h"

#include "collector/mpi/facts.h"

namespace culprit::collector::mpi {
namespace {

using trace::CollectiveOp;

class PartnerFinder {
 public:
  PartnerFinder(ThreadLog& log, uint64_t time, const Collective& call, const Comm& comm)
      : log_(log), time_(time), call_(call), comm_(comm) {}

  Partners gatherv(Part part) const {
    if (part == Part::root) return {RankSet::implied, counted(call_.recv, comm_.partners())};
    return {part == Part::other ? if_any(call_.send) : RankSet::implied, RankSet::implied};
  }
  Partners scatterv(Part part) const {
    if (part == Part::root) return {counted(call_.send, comm_.partners()), RankSet::implied};
    return {RankSet::implied, part == Part::other ? if_any(call_.recv) : RankSet::implied};
  }
  Partners allgatherv() const {
    const RankSet sends_to = call_.send.in_place ? if_own(call_.recv) : if_any(call_.send);
    return {sends_to, counted(call_.recv, comm_.partners())};
  }
  Partners alltoallv() const {
    const Side& sent = call_.send.in_place ? call_.recv : call_.send;
    return {counted(sent, comm_.partners()), counted(call_.recv, comm_.partners())};
  }
  /// The counts describe the local group; only the remote processes know their own counts.
  Partners reduce_scatter() const {
    const RankSet sends_to = comm_.inter() ? RankSet::implied : counted(call_.recv, comm_.size);
    return {sends_to, if_own(call_.recv)};
  }
  Partners neighbors(const Neighborhood& neighborhood) const {
    return {listed(call_.send, neighborhood.out), listed(call_.recv, neighborhood.in)};
  }

 private:
  static bool exchanges(const Side& side, int place) {
    if (side.counts[place] <= 0) return false;
    return !side.types || bytes_of(1, side.types[place]) > 0;
  }
  RankSet nobody() const {
    return set_of(log_, time_, [](const auto&) {});
  }
  RankSet if_any(const Side& side) const { return side.count > 0 ? RankSet::implied : nobody(); }
  RankSet if_own(const Side& side) const {
    return !side.counts || side.counts[comm_.rank] > 0 ? RankSet::implied : nobody();
  }
  /// The ranks among `n` processes whose count is not zero.
  RankSet counted(const Side& side, int n) const {
    if (!side.counts) return RankSet::implied;
    const int self = comm_.inter() ? -1 : comm_.rank;
    bool all = true;
    for (int i = 0; i < n && all; ++i) all = i == self || exchanges(side, i);
    if (all) return RankSet::implied;
    return set_of(log_, time_, [&](const auto& visit) {
      for (int i = 0; i < n; ++i) {
        if (exchanges(side, i)) visit(i);
      }
    });
  }
  /// The neighbours whose count is not zero.
  RankSet listed(const Side& side, const Neighbors& neighbors) const {
    if (!side.counts) return side.count > 0 ? neighbors.all : nobody();
    bool all = true;
    for (const int place : neighbors.ascending) all = all && exchanges(side, place);
    if (all) return neighbors.all;
    return set_of(log_, time_, [&](const auto& visit) {
      for (const int place : neighbors.ascending) {
        if (exchanges(side, place)) visit(neighbors.ranks[static_cast<size_t>(place)]);
      }
    });
  }

  ThreadLog& log_;
  uint64_t time_;
  const Collective& call_;
  const Comm& comm_;
};

}  // namespace

Part part_in(const Collective& call, const Comm& comm) {
  if (!call.rooted) return Part::other;
  if (!comm.inter()) return call.root == comm.rank ? Part::root : Part::other;
  if (call.root == MPI_ROOT) return Part::root;
  return call.root == MPI_PROC_NULL ? Part::bystander : Part::other;
}

Partners partners_in(ThreadLog& log, uint64_t time, const Collective& call, const Comm& comm,
                     const Neighborhood* neighborhood) {
  const PartnerFinder find(log, time, call, comm);
  switch (call.op) {
    case CollectiveOp::gatherv:
      return find.gatherv(part_in(call, comm));
    case CollectiveOp::scatterv:
      return find.scatterv(part_in(call, comm));
    case CollectiveOp::allgatherv:
      return find.allgatherv();
    case CollectiveOp::alltoallv:
    case CollectiveOp::alltoallw:
      return find.alltoallv();
    case CollectiveOp::reduce_scatter:
      return find.reduce_scatter();
    case CollectiveOp::neighbor:
      return neighborhood ? find.neighbors(*neighborhood) : Partners{};
    default:
      return {};
  }
}

}  // namespace culprit::collector::mpi
