// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A group can be queried only while MPI runs, by whichever way it was started. Current users of the
// group are counted, so that it is given back only after the last of them.
#include "collector/mpi/world.h"

#include <sched.h>

#include <atomic>

namespace culprit::collector::mpi {
namespace {

std::atomic<bool> has_world{false};

/// A slot for a session's group. `state`: the number of current users, or one of the two values
/// below.
struct GroupHandle {
  static constexpr int kEmpty = -1, kChanging = -2;
  std::atomic<int> state{kEmpty};
  uint64_t session = 0;
  MPI_Group group = MPI_GROUP_NULL;

  bool enter() {
    int users = state.load(std::memory_order_acquire);
    while (users >= 0) {
      if (state.compare_exchange_weak(users, users + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  void leave() { state.fetch_sub(1, std::memory_order_release); }
  bool change_from(int expected) {
    return state.compare_exchange_strong(expected, kChanging, std::memory_order_acq_rel);
  }
};

constexpr int kLenders = 16;
GroupHandle lenders[kLenders];

}  // namespace

void world_begins() {
  has_world.store(true, std::memory_order_release);
}

void world_ends() {
  has_world.store(false, std::memory_order_release);
}

bool lend_world_group(uint64_t session, MPI_Group group) {
  for (GroupHandle& lender : lenders) {
    if (!lender.change_from(GroupHandle::kEmpty)) continue;
    lender.session = session;
    lender.group = group;
    lender.state.store(0, std::memory_order_release);
    return true;
  }
  return false;
}

MPI_Group take_back_world_group(uint64_t session) {
  for (GroupHandle& lender : lenders) {
    if (!lender.enter()) continue;
    const bool found = lender.session == session;
    lender.leave();
    if (!found) continue;
    while (!lender.change_from(0)) sched_yield();
    const MPI_Group group = lender.group;
    lender.state.store(GroupHandle::kEmpty, std::memory_order_release);
    return group;
  }
  return MPI_GROUP_NULL;
}

WorldGroup::WorldGroup() {
  if (has_world.load(std::memory_order_acquire)) {
    if (PMPI_Comm_group(MPI_COMM_WORLD, &group_) != MPI_SUCCESS) group_ = MPI_GROUP_NULL;
    return;
  }
  for (int i = 0; i < kLenders; ++i) {
    if (!lenders[i].enter()) continue;
    group_ = lenders[i].group;
    lender_ = i;
    return;
  }
}

WorldGroup::~WorldGroup() {
  if (lender_ >= 0) {
    lenders[lender_].leave();
  } else if (group_ != MPI_GROUP_NULL) {
    PMPI_Group_free(&group_);
  }
}

}  // namespace culprit::collector::mpi
