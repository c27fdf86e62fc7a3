// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread's activity since its last act that others can see: sampled at some places, tested again
// and again, slept again and again. A thread makes progress by each record of another kind, by
// sleeping somewhere else, and by each sample, unless its registers show that it spins.
#pragma once

#include <cstdint>
#include <deque>

#include "assemble/raw/reader.h"

namespace culprit::assemble::stuck {

/// It does the same over and over.
struct Repeated {
  uint64_t since = 0;  ///< ticks; 0: it does not
  uint64_t until = 0;
  uint64_t count = 0;
  uint32_t path = 0;  ///< of the first
  uint16_t name = 0;  ///< of the call; 0: none
  explicit operator bool() const { return since != 0; }
};

struct Sampled {
  uint64_t ticks = 0;
  uint32_t path = 0;
};

struct Trail {
  uint64_t acted = 0;           ///< ticks of the last act; 0: none
  Repeated tests;               ///< of MPI, in vain
  Repeated sleeps;              ///< at one place
  Repeated spins;               ///< at one place, with nothing changing in its registers
  std::deque<Sampled> samples;  ///< the last of those since then
  uint32_t last_path = 0;       ///< of the last record that has one; 0: none has
  unsigned sampled = 0;         ///< times since the last test or sleep
  uint32_t tid = 0;             ///< the thread, as the system numbers it; 0: unknown
  uint64_t handle = 0;          ///< value of pthread_self() in it; 0: unknown

  void see(const RawRecord& record);
  /// Time of the last sign of progress.
  uint64_t progress() const;

 private:
  void act(uint64_t ticks);
};

}  // namespace culprit::assemble::stuck
