// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The group of all processes of this process's world, against which the members of communicators
// are told. MPI_COMM_WORLD gives it between MPI_Init and MPI_Finalize. A program of sessions alone
// has no MPI_COMM_WORLD, and to use it is an error; there each session gives the group as a process
// set, for as long as it lives.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace culprit::collector::mpi {

/// MPI_COMM_WORLD has come, or is about to go.
void world_begins();
void world_ends();

/// A session's group of all processes. False if there is no room for more, then it is not taken.
bool lend_world_group(uint64_t session, MPI_Group group);
/// Before the session ends: gives the group back, MPI_GROUP_NULL if it was not taken. Waits for
/// those who are using it, each for the length of a local question to MPI.
MPI_Group take_back_world_group(uint64_t session);

/// The group for the life of this object; MPI_GROUP_NULL if nobody gives one.
class WorldGroup {
 public:
  WorldGroup();
  ~WorldGroup();
  WorldGroup(const WorldGroup&) = delete;
  WorldGroup& operator=(const WorldGroup&) = delete;
  MPI_Group get() const { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
  int lender_ = -1;
};

}  // namespace culprit::collector::mpi
