// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions that the program has given MPI to call: operations, functions of attributes, error
// handlers. Any of its libraries may give them, and another one may call MPI.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/process/recorder.h"

namespace culprit::collector {

/// Programs give a handful. MT: safe.
CULPRIT_EXPORT void note_callback(uintptr_t function);

namespace callbacks {

inline constexpr size_t kMost = 64;
/// Those that are known come first; 0: there are no more. May be read in signal handlers.
extern std::array<std::atomic<uintptr_t>, kMost> g_functions;

}  // namespace callbacks

}  // namespace culprit::collector
