// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The collective operations of MPI, of messages and of windows alike.
#pragma once

#include <cstdint>

namespace culprit::trace {

enum class CollectiveOp : uint8_t {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  allreduce,
  reduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  create_handle,   ///< communicator, window, file creation; MPI_Init
  destroy_handle,  ///< their freeing; MPI_Finalize
  neighbor,        ///< neighbourhood collective: only neighbours exchange data
  other,
};

}  // namespace culprit::trace
