// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The record of a new communicator: who its members are, and what both sides of it know, so that it
// is recognised on all of them later (assemble/run/comms/comms.h) without a message of ours.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "collector/mpi/groups/comm.h"
#include "collector/process/recorder.h"

namespace culprit::collector::mpi {

inline constexpr uint32_t kNoLinkRoot = ~0u;

/// How a communicator came to be.
struct Birth {
  trace::RawCommOrigin origin = trace::RawCommOrigin::collective;
  uint32_t parent = trace::kRawCommWorld;
  MPI_Comm parent_handle = MPI_COMM_NULL;  ///< if it still exists: who of its members are here
  bool same_members = false;               ///< as the parent's, in its order
  trace::RawCommLink link = trace::RawCommLink::none;
  uint64_t key = 0;      ///< link_key() of what the others passed too; 0: nothing
  uint64_t entered = 0;  ///< when the call began
  uint32_t root = kNoLinkRoot;
};

/// A number for a tag or name, never 0.
uint64_t link_key(int tag);
uint64_t link_key(std::string_view name);

void write_definition(ThreadLog& log, uint64_t time, MPI_Comm handle, const Comm& comm,
                      const Birth& birth);

}  // namespace culprit::collector::mpi
