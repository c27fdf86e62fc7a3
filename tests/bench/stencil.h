// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A synthetic trace of any size: a hybrid stencil code. Each iteration every rank runs a parallel
// region, exchanges halos with its two neighbours on a ring (Irecv, Isend, Waitall), and every
// tenth iteration all meet in an Allreduce. Work varies by rank, thread and iteration, so that
// waits, and chains of waits, occur everywhere.
#pragma once

#include <cstdint>
#include <filesystem>

namespace culprit::bench {

struct StencilSize {
  uint32_t ranks = 8;
  uint32_t threads = 2;
  uint32_t iterations = 2000;
};

/// Writes `folder`/traces.otf2; returns the number of events. Stops the program if it cannot.
uint64_t write_stencil(const std::filesystem::path& folder, const StencilSize& size);

}  // namespace culprit::bench
