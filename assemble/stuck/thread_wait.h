// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread's wait for other threads of its process, outside of MPI and OpenMP.
#pragma once

#include <cstdint>

namespace culprit::assemble::stuck {

/// What a thread waits for that other threads of its process do.
struct ThreadWait {
  enum class Kind : uint8_t {
    mutex,
    rwlock,
    condition,
    semaphore,
    join,
    barrier,
    word,  ///< any other futex: atomics, futures, latches of C++
  } kind = Kind::word;
  uint32_t owner = 0;    ///< the thread that must act, as the system numbers it; 0: not known
  bool timed = false;    ///< it goes on by itself
  bool shared = false;   ///< another process may let it go on
  bool signals = false;  ///< so may a handler of a signal
};

}  // namespace culprit::assemble::stuck
