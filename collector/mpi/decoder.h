// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The interface between the preload library, which knows no MPI, and a decoder, which knows one
// (libculprit-mpi-<which>.so, built against that MPI's mpi.h). The resolver opens the decoder that
// fits the MPI that the process has loaded and asks it, symbol by symbol, for a wrapper.
#pragma once

#include <cstddef>

#include "collector/mpi/region.h"

namespace culprit::collector::mpi {

/// One intercepted symbol of a recorded function; generated, sorted by symbol.
struct Wrapper {
  const char* symbol;
  void* code;
  Function* function;
  Form form;
};
extern const Wrapper wrappers[];
extern const size_t wrapper_count;

}  // namespace culprit::collector::mpi

/// A decoder's export under kDecoderEntry: returns the wrapper to put in `symbol`'s place, or
/// nullptr if calls to it are not recorded. `next` is the definition that the wrapper calls.
using CulpritMpiDecoder = void* (*)(const char* symbol, void* next);
inline constexpr const char* kDecoderEntry = "culprit_mpi_decode";
