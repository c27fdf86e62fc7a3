// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A communicator as records name it.
#pragma once

#include <cstdint>

namespace culprit::collector::mpi {

struct Comm {
  uint32_t id = 0;
  int rank = 0;         ///< this process's rank in the local group
  int size = 1;         ///< of the local group
  int remote_size = 0;  ///< 0 unless an inter-communicator
  uint32_t object = 0;  ///< the number of the window or file that this entry stands for, else 0
  bool inter() const { return remote_size > 0; }
  /// The number of processes with which a collective exchanges data.
  int partners() const { return inter() ? remote_size : size; }
};

}  // namespace culprit::collector::mpi
