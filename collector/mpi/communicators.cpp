// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Communicators that come and go (handlers.h). Creation and release are collective over the parent,
// or where only some processes call (create_group, the inter-communicator functions) over the new
// communicator.

#include <netinet/in.h>
#include <sys/socket.h>

#include <string_view>

#include "collector/mpi/facts.h"
#include "collector/mpi/groups/comm_definition.h"
#include "collector/mpi/groups/comms.h"
#include "collector/mpi/handlers.h"
#include "collector/mpi/requests.h"
#include "collector/process/system_file.h"

namespace culprit::collector::mpi {
namespace {

using trace::CollectiveOp;
using trace::RawCommLink;
using trace::RawCommOrigin;

CollectiveFacts collective_on(CollectiveOp op, const Comm& comm) {
  CollectiveFacts facts;
  facts.op = op;
  facts.comm = comm.id;
  return facts;
}

void put_collective_on(const CallRegion& region, CollectiveOp op, const Comm& comm) {
  put_collective(region.log(), region.end(), collective_on(op, comm));
}

RawCommOrigin origin_of(RawCommLink link) {
  if (link == RawCommLink::tag) return RawCommOrigin::group_only;
  return link == RawCommLink::intercomm ? RawCommOrigin::intercomm : RawCommOrigin::spawned;
}

CommOrigin birth_of(const Joining& joining) {
  CommOrigin birth;
  birth.origin = origin_of(joining.link);
  birth.link = joining.link;
  if (joining.rooted) birth.root = static_cast<uint32_t>(joining.root);
  return birth;
}

/// A key that both ends of a socket compute alike: from its two addresses, in either order.
uint64_t key_of_socket(int fd) {
  const KeepErrno keep;
  uint64_t key = 0;
  for (const auto question : {getsockname, getpeername}) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (question(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
    const bool has_address = address.ss_family == AF_INET || address.ss_family == AF_INET6;
    if (!has_address || length > sizeof address) return 0;
    key += link_key(std::string_view(reinterpret_cast<const char*>(&address), length));
  }
  return key | 1;
}

/// A key that the other side computes too. If there is a root, a name has a meaning only there.
uint64_t link_key_of(const Joining& joining, const Comm& parent) {
  if (joining.link == RawCommLink::join) return key_of_socket(joining.tag);
  if (joining.rooted && joining.root != parent.rank) return 0;
  return joining.name.given() ? link_key(joining.name.view())
         : joining.tagged     ? link_key(joining.tag)
                              : 0;
}

}  // namespace

int on_comm_create(const Function& function, MPI_Comm parent, const CommPlace& created,
                   RealCall call) {
  CallRegion region(function);
  Comm participants;
  if (region) {
    participants = comm_of(region.log(), region.begin(), parent);
    await(region, collective_on(CollectiveOp::create_handle, participants));
  }
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  const MPI_Comm handle = created.get();
  if (handle != MPI_COMM_NULL) {
    CommOrigin birth;

    birth.parent = participants.id;
    birth.parent_handle = parent;
    define_comm(region.log(), region.end(), handle, birth);
  }
  put_collective_on(region, CollectiveOp::create_handle, participants);
  return rc;
}

int on_comm_join(const Function& function, const Joining& joining, const CommPlace& created,
                 RealCall call) {
  CallRegion region(function);
  Comm parent;
  CommOrigin birth = birth_of(joining);
  if (region && joining.parent != MPI_COMM_NULL) {
    parent = comm_of(region.log(), region.begin(), joining.parent);
    birth.parent = parent.id;
    birth.parent_handle = joining.parent;
  }
  if (region) {
    birth.key = link_key_of(joining, parent);
    // Others come from outside of the run, perhaps hours later.
    const bool within = joining.link == RawCommLink::tag || joining.link == RawCommLink::intercomm;
    if (within) region.awaits(trace::RawAwaits::partner, parent.id);
  }
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  const bool by_parent = joining.link == RawCommLink::spawn;
  const MPI_Comm handle = created.get();
  if (handle == MPI_COMM_NULL) return rc;
  birth.entered = region.begin();
  const Comm comm = define_comm(region.log(), region.end(), handle, birth);
  put_collective_on(region, CollectiveOp::create_handle, by_parent ? parent : comm);
  return rc;
}

int on_comm_idup(const Function& function, MPI_Comm parent, const CommPlace& created,
                 const Requests& place, RealCall call) {
  CallRegion region(function);
  Request request;
  if (region) {
    request.kind = RequestKind::comm_dup;
    request.id = new_request_id();
    request.new_comm = created;
    request.collective.op = CollectiveOp::create_handle;
    request.collective.comm = comm_of(region.log(), region.begin(), parent).id;
    put_icoll_post(region.log(), region.begin(), request.collective, request.id, 0);
  }
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  put_handle(region.log(), request, place[0]);
  add_request(place[0], place.place(0), request);
  return rc;
}

int on_comm_free(const Function& function, const CommPlace& place, RealCall call) {
  CallRegion region(function);
  Comm comm;
  HandleEntry* entry = nullptr;
  const uint64_t key = key_of(place.get());
  if (region) {
    comm = comm_of(region.log(), region.begin(), place.get());
    entry = find_handle(HandleKind::comm, key, comm);
    if (entry) await(region, collective_on(CollectiveOp::destroy_handle, comm));
  }
  forget(entry);
  const int rc = region.run(call);
  if (!entry) return rc;
  if (rc != MPI_SUCCESS) {
    remember_handle(HandleKind::comm, key, comm);
    return rc;
  }
  put_collective_on(region, CollectiveOp::destroy_handle, comm);
  region.log().put(region.end(), raw::mpi_comm_free{.comm = comm.id});
  return rc;
}

}  // namespace culprit::collector::mpi
