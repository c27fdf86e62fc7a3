// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Collective operations (handlers.h): who takes part, who is root, how many bytes this process
// gives and gets.
//
// Bytes are counted as Score-P counts them, as the sum over all pairs of processes, oneself
// included: the root of a broadcast sends size * count, each process receives count. With
// MPI_IN_PLACE the pair with oneself exchanges nothing. Arguments that mean something only at the
// root are read only there. In an inter-communicator the partners are the remote group.

#include "collector/mpi/facts.h"
#include "collector/mpi/groups/comms.h"
#include "collector/mpi/groups/neighbors.h"
#include "collector/mpi/groups/partners.h"
#include "collector/mpi/handlers.h"
#include "collector/mpi/requests.h"

namespace culprit::collector::mpi {
namespace {

using trace::CollectiveOp;

uint64_t root_of(const Collective& call, const Comm& comm, Part part) {
  if (!call.rooted || part == Part::bystander) return kNoRoot;
  if (comm.inter() && part == Part::root) {
    return static_cast<uint32_t>(comm.rank) | uint64_t{1} << 32;
  }
  return static_cast<uint32_t>(call.root);
}

/// Bytes of the same amount exchanged with `n` processes.
uint64_t uniform(const Side& side, int n) {
  return bytes_of(side.count * n, side.type);
}

/// Bytes of an amount per process, all but `skip` (-1: none).
uint64_t varying(const Side& side, int n, int skip) {
  if (!side.counts) return 0;
  uint64_t total = 0;
  int64_t elements = 0;
  for (int i = 0; i < n; ++i) {
    if (i == skip) continue;
    if (side.types) {
      total += bytes_of(side.counts[i], side.types[i]);
    } else {
      elements += side.counts[i];
    }
  }
  return side.types ? total : bytes_of(elements, side.type);
}

uint64_t own_share(const Side& side, const Comm& comm, int n) {
  return side.counts ? bytes_of(side.counts[comm.rank] * n, side.type) : 0;
}

struct Bytes {
  uint64_t sent = 0;
  uint64_t received = 0;
};

/// Data flows between the root and all others.
Bytes rooted_bytes(const Collective& call, const Comm& comm, Part part) {
  const int n = comm.partners();
  const bool root = part == Part::root;
  // At an inter-communicator's root there is no "oneself" among the partners.
  const bool in_place = root && (call.send.in_place || call.recv.in_place);
  const int others = in_place ? n - 1 : n;
  const int self = in_place ? comm.rank : -1;
  const bool leaf = part == Part::other || (root && !comm.inter() && !in_place);
  switch (call.op) {
    case CollectiveOp::bcast:
      return {root ? uniform(call.send, n) : 0,
              part == Part::other || !comm.inter() ? uniform(call.send, 1) : 0};
    case CollectiveOp::reduce:
      return {leaf ? uniform(call.send, 1) : 0, root ? uniform(call.send, others) : 0};
    case CollectiveOp::gather:
      return {leaf ? uniform(call.send, 1) : 0, root ? uniform(call.recv, others) : 0};
    case CollectiveOp::gatherv:
      return {leaf ? uniform(call.send, 1) : 0, root ? varying(call.recv, n, self) : 0};
    case CollectiveOp::scatter:
      return {root ? uniform(call.send, others) : 0, leaf ? uniform(call.recv, 1) : 0};
    case CollectiveOp::scatterv:
      return {root ? varying(call.send, n, self) : 0, leaf ? uniform(call.recv, 1) : 0};
    default:
      return {};
  }
}

Bytes reduction_bytes(const Collective& call, const Comm& comm) {
  const int n = comm.partners();
  const bool in_place = call.send.in_place;
  const int others = in_place ? n - 1 : n;
  const Side& side = call.send;
  switch (call.op) {
    case CollectiveOp::allreduce:
      return {uniform(side, others), uniform(side, others)};
    case CollectiveOp::reduce_scatter_block:
      return {uniform(call.recv, others), uniform(call.recv, others)};
    case CollectiveOp::reduce_scatter:
      // The counts describe the local group.
      return {varying(call.recv, comm.size, in_place ? comm.rank : -1),
              own_share(call.recv, comm, others)};
    case CollectiveOp::scan: {
      const int self = in_place ? 0 : 1;
      return {uniform(side, n - comm.rank - 1 + self), uniform(side, comm.rank + self)};
    }
    case CollectiveOp::exscan:
      return {uniform(side, n - comm.rank - 1), uniform(side, comm.rank)};
    default:
      return {};
  }
}

Bytes all_to_all_bytes(const Collective& call, const Comm& comm) {
  const int n = comm.partners();
  const bool in_place = call.send.in_place;
  const int self = in_place ? comm.rank : -1;
  switch (call.op) {
    case CollectiveOp::allgather:
    case CollectiveOp::alltoall: {
      if (in_place) return {uniform(call.recv, n - 1), uniform(call.recv, n - 1)};
      return {uniform(call.send, n), uniform(call.recv, n)};
    }
    case CollectiveOp::allgatherv: {
      const uint64_t received = varying(call.recv, n, self);
      return {in_place ? own_share(call.recv, comm, n - 1) : uniform(call.send, n), received};
    }
    case CollectiveOp::alltoallv:
    case CollectiveOp::alltoallw: {
      const uint64_t received = varying(call.recv, n, self);
      return {in_place ? received : varying(call.send, n, -1), received};
    }
    default:
      return {};
  }
}

/// Bytes exchanged with each neighbour that is a process; nothing is exchanged beyond the border of
/// a grid.
uint64_t neighbor_bytes(const Side& side, const Neighbors& neighbors) {
  if (!side.counts) return uniform(side, neighbors.processes());
  uint64_t total = 0;
  for (const int place : neighbors.ascending) {
    total += bytes_of(side.counts[place], side.types ? side.types[place] : side.type);
  }
  return total;
}

Bytes bytes_in(const Collective& call, const Comm& comm, Part part,
               const Neighborhood* neighborhood) {
  if (call.op == CollectiveOp::neighbor) {
    if (!neighborhood) return {};
    return {neighbor_bytes(call.send, neighborhood->out),
            neighbor_bytes(call.recv, neighborhood->in)};
  }
  if (call.rooted) return rooted_bytes(call, comm, part);
  const bool reduction = call.op == CollectiveOp::allreduce || call.op == CollectiveOp::scan ||
                         call.op == CollectiveOp::exscan ||
                         call.op == CollectiveOp::reduce_scatter ||
                         call.op == CollectiveOp::reduce_scatter_block;
  return reduction ? reduction_bytes(call, comm) : all_to_all_bytes(call, comm);
}

CollectiveFacts facts_of(const CallRegion& region, const Collective& call) {
  ThreadLog& log = region.log();
  const Comm comm = comm_of(log, region.begin(), call.comm);
  const Neighborhood* const neighborhood =
      call.op == CollectiveOp::neighbor ? neighborhood_of(log, region.begin(), call.comm, comm)
                                        : nullptr;
  const Part part = part_in(call, comm);
  const Bytes bytes = bytes_in(call, comm, part, neighborhood);
  const Partners partners = partners_in(log, region.begin(), call, comm, neighborhood);
  return {call.op,        comm.id,           root_of(call, comm, part), bytes.sent,
          bytes.received, partners.sends_to, partners.receives_from};
}

Request request_of(const CallRegion& region, const Collective& call) {
  Request request;
  if (!region) return request;
  request.kind = RequestKind::collective;
  request.collective = facts_of(region, call);
  return request;
}

int run_and_add(CallRegion& region, const Requests& place, const Request& request, RealCall call) {
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  put_handle(region.log(), request, place[0]);
  add_request(place[0], place.place(0), request);
  return rc;
}

}  // namespace

int on_collective(const Function& function, const Collective& collective, RealCall call) {
  CallRegion region(function);
  CollectiveFacts facts;
  if (region) {
    facts = facts_of(region, collective);
    await(region, facts);
  }
  const int rc = region.run(call);
  if (region && rc == MPI_SUCCESS) put_collective(region.log(), region.end(), facts);
  return rc;
}

int on_icollective(const Function& function, const Collective& collective, const Requests& place,
                   RealCall call) {
  CallRegion region(function);
  Request request = request_of(region, collective);
  if (region) {
    request.id = new_request_id();
    put_icoll_post(region.log(), region.begin(), request.collective, request.id, 0);
  }
  return run_and_add(region, place, request, call);
}

int on_collective_init(const Function& function, const Collective& collective,
                       const Requests& place, RealCall call) {
  CallRegion region(function);
  Request request = request_of(region, collective);
  request.persistent = true;
  request.active = false;
  return run_and_add(region, place, request, call);
}

}  // namespace culprit::collector::mpi
