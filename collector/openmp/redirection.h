// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs built with gcc call libgomp, which has no tools interface. Our stand-ins for its
// functions lead to a probe of ours (gomp/probe.h), which calls libgomp; or, if the user asks for
// it, to LLVM's libomp, which offers the same functions and has OMPT. This is decided once, at the
// program's first OpenMP call.
#pragma once

#include <cstdint>

namespace culprit::collector::openmp {

/// As RawProcess::gomp_redirected.
enum class Redirection : uint32_t {
  none = 0,     ///< not asked for, not needed, or not possible
  active = 1,   ///< the program runs on libomp
  refused = 2,  ///< the program needs what libomp lacks, and so stays on libgomp
  probed = 3,   ///< the program runs on libgomp, and is observed there
};

Redirection redirection();

}  // namespace culprit::collector::openmp
