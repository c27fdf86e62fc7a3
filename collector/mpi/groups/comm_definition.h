// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The record of a new communicator: its members, and facts that both sides of it know, so that it
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
struct CommOrigin {
  trace::RawCommOrigin origin = trace::RawCommOrigin::collective;
  uint32_t parent = trace::kRawCommWorld;
  MPI_Comm parent_handle = MPI_COMM_NULL;  ///< if it still exists; it shows which members belong to
                                           ///< this side
  bool same_members = false;               ///< the new communicator has the parent's members, in
                                           ///< its order
  trace::RawCommLink link = trace::RawCommLink::none;
  uint64_t key = 0;      ///< link_key() of a value that the other processes passed too; 0: there is
                         ///< none
  uint64_t entered = 0;  ///< time at which the call began
  uint32_t root = kNoLinkRoot;
};

/// A number for a tag or name, never 0.
uint64_t link_key(int tag);
uint64_t link_key(std::string_view name);

void write_definition(ThreadLog& log, uint64_t time, MPI_Comm handle, const Comm& comm,
                      const CommOrigin& birth);

}  // namespace culprit::collector::mpi
