// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The stacks of threads of another process that are on a core, or wait for one. Only the thread
// itself knows where it is, so each is stopped (ptrace) for as long as it takes to copy its
// registers and the top of its stack: some microseconds. A thread that is blocked must not be
// stopped: some system calls would return early (signal(7)), so only threads that were just seen to
// run are asked, and one that went to sleep meanwhile is the exception. If this process is killed,
// the system lets all of them go on. MT: one thread, from the first stop to the last.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace culprit::assemble::look {

/// A thread's registers by their numbers in DWARF, with the program counter behind them.
#if defined(__x86_64__)
inline constexpr size_t kRegisters = 17, kPcRegister = 16, kSpRegister = 7;
#else
inline constexpr size_t kRegisters = 33, kPcRegister = 32, kSpRegister = 31;
#endif

/// A thread at one moment.
struct StoppedThread {
  uint32_t tid = 0;
  std::array<uint64_t, kRegisters> registers = {};
  std::vector<uint8_t> stack;  ///< from the stack pointer on
  int64_t call = -1;           ///< the system call that it was executing; -1: none, or unknown
  uint64_t pc() const { return registers[kPcRegister]; }
  uint64_t sp() const { return registers[kSpRegister]; }
};

class ShortStops {
 public:
  /// Those of these threads that could be stopped.
  std::vector<StoppedThread> of(pid_t process, std::span<const uint32_t> tids);

  uint64_t count() const { return count_; }
  /// How long a thread was stopped at most, and all together at most: by when each was last seen to
  /// run.
  uint64_t longest_ns() const { return longest_ns_; }
  uint64_t all_ns() const { return all_ns_; }
  /// Threads that another program, like a debugger, holds already, or that may not be stopped.
  uint64_t refused() const { return refused_; }

 private:
  bool ask(uint32_t tid);
  bool meet(uint32_t tid, pid_t process, uint64_t ran_ns, std::vector<StoppedThread>& found);

  std::vector<uint32_t> late_;  ///< asked at an earlier time, and not met since
  uint64_t count_ = 0, longest_ns_ = 0, all_ns_ = 0, refused_ = 0;
};

}  // namespace culprit::assemble::look
