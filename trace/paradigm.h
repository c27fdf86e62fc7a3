// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The programming models to which regions belong.
#pragma once

#include <cstdint>

namespace culprit::trace {

enum class Paradigm : uint8_t {
  unknown,
  user,
  compiler,
  sampling,
  mpi,
  openmp,
  pthread,
  cuda,
  opencl,
  openacc,
  measurement_system
};

}  // namespace culprit::trace
