// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The call stacks of threads of another process that are blocked in a system call. No thread is
// stopped for it: the system provides a blocked thread's stack pointer and program counter, its
// stack is copied and unwound by the tables that exception handling needs. The caller must make
// sure that the thread has not moved meanwhile.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace culprit::assemble::look {

class LiveStacks {
 public:
  explicit LiveStacks(pid_t process);
  ~LiveStacks();
  LiveStacks(const LiveStacks&) = delete;
  LiveStacks& operator=(const LiveStacks&) = delete;

  /// One past an instruction of each frame, innermost first, as far as the stack can be unwound.
  std::vector<uint64_t> of(uint64_t sp, uint64_t pc);

 private:
  struct Unwinder;
  std::unique_ptr<Unwinder> unwinder_;
};

/// Copies memory of another process; how many bytes could be had.
size_t copy_memory(pid_t process, uint64_t address, void* to, size_t bytes);

}  // namespace culprit::assemble::look
