// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The group of all processes of this process's world, in which the members of communicators are
// expressed as ranks. Between MPI_Init and MPI_Finalize it is MPI_COMM_WORLD's. A program with
// sessions only has no MPI_COMM_WORLD, and to use it is an error; there each session gives the
// group as a process set, for as long as it lives.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace culprit::collector::mpi {

/// MPI_COMM_WORLD exists from now on, or is about to go.
void world_begins();
void world_ends();

/// Offers a session's group of all processes. False if there is no room for more: then it is not
/// taken.
bool lend_world_group(uint64_t session, MPI_Group group);
/// To be called before the session ends: gives the group back, MPI_GROUP_NULL if it was not taken.
/// Waits for its current users, each for the length of a local query of MPI.
MPI_Group take_back_world_group(uint64_t session);

/// Holds the group for the life of this object; MPI_GROUP_NULL if there is none.
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
