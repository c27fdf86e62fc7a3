// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread's wait for other threads of its process, outside of MPI and OpenMP.
#pragma once

#include <cstdint>

namespace culprit::assemble::stuck {

/// The action of another thread of its process that a thread waits for.
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
  uint32_t owner = 0;    ///< the system's number of the thread that must act; 0: unknown
  bool timed = false;    ///< it goes on by itself
  bool shared = false;   ///< a thread of another process may let it go on
  bool signals = false;  ///< a signal handler may let it go on
};

}  // namespace culprit::assemble::stuck
