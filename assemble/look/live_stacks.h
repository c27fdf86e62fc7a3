// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The call stacks of threads of another process, unwound by the tables that exception handling
// needs. A thread that is blocked in a system call need not be stopped: the system provides its
// stack pointer and program counter, and its stack is copied; the caller must make sure that it has
// not moved meanwhile. Of one that runs there are the copies of a short stop.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assemble/look/short_stop.h"

namespace culprit::assemble::look {

class LiveStacks {
 public:
  /// Files that the process has mapped are found at `root` + their path: it may have another view
  /// of the file system.
  explicit LiveStacks(pid_t process, const std::string& root = {});
  ~LiveStacks();
  LiveStacks(const LiveStacks&) = delete;
  LiveStacks& operator=(const LiveStacks&) = delete;

  /// One past an instruction of each frame, innermost first, as far as the stack can be unwound.
  std::vector<uint64_t> of(uint64_t sp, uint64_t pc);
  std::vector<uint64_t> of(StoppedThread&& thread);

 private:
  struct Unwinder;
  std::unique_ptr<Unwinder> unwinder_;
};

}  // namespace culprit::assemble::look
