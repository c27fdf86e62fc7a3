// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The system's data on the threads of a run at one moment: whether each has used a core, in which
// system call it is blocked, from where in the program it was called, and a few words of the memory
// that it waits for. All of it is read from outside: no thread is stopped, signalled or traced, and
// nothing is written into the program. The threads are those of the processes that left records and
// run on this host; data that the system withholds is unknown.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace culprit::assemble::look {

/// Words around the address that a futex call waits at, from kWordsBefore in front of it.
inline constexpr size_t kWords = 8;
inline constexpr size_t kWordsBefore = 3;

inline constexpr int64_t kNotInACall = -1;
/// The object name of a futex in memory that other processes may see.
inline constexpr const char* kSharedMemory = "shared memory";

struct ThreadLook {
  uint32_t tid = 0;
  char state = '?';                   ///< as /proc has it: R, S, D, T, Z, ...
  uint64_t cpu_ns = 0;                ///< on a core since it began
  uint64_t turns = 0;                 ///< how often it was on a core: unchanged if it has slept
                                      ///< since
  double core = -1;                   ///< share of a core since the look before; < 0: unknown
  uint64_t since_ns = 0;              ///< CLOCK_MONOTONIC: it has been blocked at least since then
  int64_t call = kNotInACall;         ///< number of the system call in which it is blocked
  std::array<uint64_t, 6> args = {};  ///< of that
  std::array<uint64_t, kWords> words = {};
  std::vector<uint64_t> stack;    ///< return addresses, innermost first; empty: unknown
  std::string object;             ///< "pipe:[123]", a path, the name of a child; empty: none
  std::vector<uint32_t> holders;  ///< processes that could let it go on, as far as they are known
};

struct ProcessLook {
  std::string folder;            ///< of its records, below raw/
  uint64_t at_ns = 0;            ///< CLOCK_MONOTONIC
  bool handles_signals = false;  ///< by which something unseen may come
  std::vector<ThreadLook> threads;
};

struct Look {
  std::vector<ProcessLook> processes;
  const ProcessLook* of(const std::string& folder) const;
};

}  // namespace culprit::assemble::look
