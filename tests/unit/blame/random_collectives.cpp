// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tests/unit/blame/random_program.h"

namespace culprit::testing_support {

using trace::CollectiveOp;
using trace::EventSink;
using trace::MpiCollective;
using trace::RequestId;

namespace {

struct Kind {
  CollectiveOp op;
  const char* name;
  const char* started;  ///< of the non-blocking form
};
constexpr Kind kKinds[] = {
    {CollectiveOp::barrier, "MPI_Barrier", "MPI_Ibarrier"},
    {CollectiveOp::allreduce, "MPI_Allreduce", "MPI_Iallreduce"},
    {CollectiveOp::alltoall, "MPI_Alltoall", "MPI_Ialltoall"},
    {CollectiveOp::alltoallv, "MPI_Alltoallv", "MPI_Ialltoallv"},
    {CollectiveOp::neighbor, "MPI_Neighbor_alltoall", "MPI_Ineighbor_alltoall"},
    {CollectiveOp::bcast, "MPI_Bcast", "MPI_Ibcast"},
    {CollectiveOp::scatter, "MPI_Scatter", "MPI_Iscatter"},
    {CollectiveOp::reduce, "MPI_Reduce", "MPI_Ireduce"},
    {CollectiveOp::gather, "MPI_Gather", "MPI_Igather"},
    {CollectiveOp::scan, "MPI_Scan", "MPI_Iscan"},
    {CollectiveOp::exscan, "MPI_Exscan", "MPI_Iexscan"},
};

bool is_rooted(CollectiveOp op) {
  return op == CollectiveOp::bcast || op == CollectiveOp::scatter || op == CollectiveOp::reduce ||
         op == CollectiveOp::gather;
}

}  // namespace

/// On any communicator but the world, whose order is not the program's.
void RandomProgram::collective() {
  if (!shape_.plain && toss(6)) return between_groups();
  const CommId comm(pick(1, static_cast<uint32_t>(comms_.size()) - 1));
  const Kind& kind = kKinds[pick(0, std::size(kKinds) - 1)];
  const uint32_t root = pick(0, static_cast<uint32_t>(comms_[comm.index()].size()) - 1);
  std::vector<Member> members;
  for (uint32_t rank : comms_[comm.index()]) {
    MpiCollective what{kind.op, comm, std::nullopt, 8, 8};
    if (is_rooted(kind.op)) what.root = root;
    members.push_back({rank, now(master(rank)), 0, what});
  }
  ends_of(kind.op, root, members);
  play(members, kind.name, kind.started);
}

/// On the inter-communicator: everybody waits for the other group.
void RandomProgram::between_groups() {
  const CommId comm(comms_.size());
  const bool barrier = toss();
  int64_t last[2] = {0, 0};
  std::vector<Member> members;
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const CollectiveOp op = barrier ? CollectiveOp::barrier : CollectiveOp::alltoall;
    members.push_back({rank, now(master(rank)), 0, {op, comm, std::nullopt, 8, 8}});
    last[rank % 2] = std::max(last[rank % 2], now(master(rank)));
  }
  for (Member& m : members) m.ends = std::max(m.entered, last[1 - m.rank % 2]);
  play(members, barrier ? "MPI_Barrier" : "MPI_Alltoall",
       barrier ? "MPI_Ibarrier" : "MPI_Ialltoall");
}

void RandomProgram::play(const std::vector<Member>& members, std::string_view name,
                         std::string_view started) {
  const bool blocking = !toss(3);
  for (const Member& member : members) {
    const LocationId at = master(member.rank);
    enter(at, blocking ? name : started);
    if (blocking) {
      const int64_t end = member.ends + last_for(2);
      put(at, end, [what = member.what](EventSink& sink, Time t) { sink.mpi_collective(t, what); });
      leave(at, end, name);
      continue;
    }
    const RequestId request{++requests_};
    put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_icollective_request(t, request); });
    leave(at, now(at), started);
    pending_[member.rank].push_back(
        {member.ends, request, [request, what = member.what](EventSink& sink, Time t) {
           sink.mpi_icollective_complete(t, what, request);
         }});
  }
}

/// When each member can be through, given when all enter. `root`: an index into members.
void RandomProgram::ends_of(CollectiveOp op, uint32_t root, std::vector<Member>& members) {
  int64_t last = 0, so_far = 0;
  for (const Member& member : members) last = std::max(last, member.entered);
  if (op == CollectiveOp::alltoallv || op == CollectiveOp::neighbor) return sparse_ends_of(members);
  for (size_t m = 0; m < members.size(); ++m) {
    Member& member = members[m];
    so_far = std::max(so_far, member.entered);
    switch (op) {
      case CollectiveOp::bcast:
      case CollectiveOp::scatter:
        member.ends = std::max(member.entered, members[root].entered);
        break;
      case CollectiveOp::reduce:
      case CollectiveOp::gather:
        member.ends = m == root ? last : member.entered;
        break;
      case CollectiveOp::scan:
      case CollectiveOp::exscan:
        member.ends = so_far;
        break;
      default:
        member.ends = last;
    }
  }
}

/// Who sends to whom is drawn; nobody waits for the others.
void RandomProgram::sparse_ends_of(std::vector<Member>& members) {
  const size_t count = members.size();
  std::vector<std::vector<bool>> sends(count, std::vector<bool>(count)), receives = sends;
  for (size_t from = 0; from < count; ++from) {
    members[from].ends = members[from].entered;
    for (size_t to = 0; to < count; ++to) sends[from][to] = receives[to][from] = toss();
  }
  for (size_t to = 0; to < count; ++to) {
    for (size_t from = 0; from < count; ++from) {
      if (sends[from][to]) members[to].ends = std::max(members[to].ends, members[from].entered);
    }
  }
  for (size_t m = 0; m < count; ++m) {
    members[m].what.sends_to = group_of(sends[m], members);
    members[m].what.receives_from = group_of(receives[m], members);
  }
}

GroupId RandomProgram::group_of(const std::vector<bool>& taken,
                                const std::vector<Member>& members) {
  trace::Group group;
  for (size_t m = 0; m < members.size(); ++m) {
    if (taken[m]) group.members.push_back(process_of_[members[m].rank]);
  }
  trace_.definitions_.groups.push_back(std::move(group));
  return GroupId(trace_.definitions_.groups.size() - 1);
}

}  // namespace culprit::testing_support
