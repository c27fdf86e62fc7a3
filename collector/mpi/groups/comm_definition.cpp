// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Members are written as ranks of the process's world if all of them are in it, else by facts that
// both sides can know of each other: jobs and ports.
#include "collector/mpi/groups/comm_definition.h"

#include "base/fnv.h"
#include "collector/mpi/groups/rank_list.h"
#include "collector/mpi/world.h"

namespace culprit::collector::mpi {
namespace {

/// A group of the communicator, or MPI_GROUP_NULL if it has none; freed by the destructor.
class GroupOf {
 public:
  using Question = int (*)(MPI_Comm, MPI_Group*);
  GroupOf(MPI_Comm comm, Question question) {
    if (comm == MPI_COMM_NULL) return;
    if (question(comm, &group_) != MPI_SUCCESS) group_ = MPI_GROUP_NULL;
  }
  ~GroupOf() {
    if (group_ != MPI_GROUP_NULL) PMPI_Group_free(&group_);
  }
  GroupOf(const GroupOf&) = delete;
  GroupOf& operator=(const GroupOf&) = delete;
  MPI_Group get() const { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

MPI_Comm if_inter(MPI_Comm comm) {
  int inter = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || !inter) {
    return MPI_COMM_NULL;
  }
  return comm;
}

/// Translates the members of groups into their ranks in the world, or in the parent.
class Members {
 public:
  Members(const CommOrigin& birth)
      : parent_(birth.parent_handle, PMPI_Comm_group),
        parent_remote_(if_inter(birth.parent_handle), PMPI_Comm_remote_group),
        same_members_(birth.same_members) {
    if (parent_.get() != MPI_GROUP_NULL) PMPI_Group_size(parent_.get(), &parent_size_);
  }

  /// `first`: the place of the group's first member in the communicator's list.
  void add(RankList& list, MPI_Group group, int size, int first) const {
    constexpr int kChunk = 64;
    int ranks[kChunk], in_world[kChunk];
    for (int start = 0; start < size; start += kChunk) {
      const int n = size - start < kChunk ? size - start : kChunk;
      for (int i = 0; i < n; ++i) ranks[i] = start + i;
      const bool known = translate(group, n, ranks, world_.get(), in_world);
      for (int i = 0; i < n; ++i) {
        const bool member = known && in_world[i] != MPI_UNDEFINED;
        list.add(member ? static_cast<uint32_t>(in_world[i])
                        : outside(group, start + i, first + start + i));
      }
    }
  }

 private:
  static bool translate(MPI_Group from, int n, const int* ranks, MPI_Group to, int* translated) {
    return to != MPI_GROUP_NULL &&
           PMPI_Group_translate_ranks(from, n, ranks, to, translated) == MPI_SUCCESS;
  }

  /// The number for a process of another world.
  uint32_t outside(MPI_Group group, int rank, int place) const {
    if (same_members_) return trace::kRawParentRank | static_cast<uint32_t>(place);
    int there = MPI_UNDEFINED;
    if (translate(group, 1, &rank, parent_.get(), &there) && there != MPI_UNDEFINED) {
      return trace::kRawParentRank | static_cast<uint32_t>(there);
    }
    if (translate(group, 1, &rank, parent_remote_.get(), &there) && there != MPI_UNDEFINED) {
      return trace::kRawParentRank | static_cast<uint32_t>(parent_size_ + there);
    }
    return ~0u;
  }

  WorldGroup world_;
  GroupOf parent_;
  GroupOf parent_remote_;
  int parent_size_ = 0;
  bool same_members_;
};

}  // namespace

uint64_t link_key(int tag) {
  return uint64_t{1} << 32 | static_cast<uint32_t>(tag);
}

uint64_t link_key(std::string_view name) {
  return fnv1a(name) | uint64_t{1} << 63;
}

void write_definition(ThreadLog& log, uint64_t time, MPI_Comm handle, const Comm& comm,
                      const CommOrigin& birth) {
  RankList list(log, time, comm.id);
  list.define(birth.origin, birth.parent, static_cast<uint32_t>(comm.size),
              static_cast<uint32_t>(comm.remote_size));
  const Members members(birth);
  members.add(list, GroupOf(handle, PMPI_Comm_group).get(), comm.size, 0);
  if (comm.inter()) {
    members.add(list, GroupOf(handle, PMPI_Comm_remote_group).get(), comm.remote_size, comm.size);
  }
  list.flush();
  if (birth.link == trace::RawCommLink::none) return;
  log.put(time, raw::mpi_comm_link{.comm = comm.id,
                                   .how = birth.link,
                                   .mark = birth.key,
                                   .entered = birth.entered,
                                   .root = birth.root == kNoLinkRoot ? ~uint64_t{0} : birth.root});
}

}  // namespace culprit::collector::mpi
