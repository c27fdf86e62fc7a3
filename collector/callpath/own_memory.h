// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads memory of this process that may be gone, by a system call that fails where a load would end
// the program. MT: safe.
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace culprit::collector {

/// False if not all of the memory exists.
inline bool copy_own_memory(uintptr_t address, void* to, size_t bytes) {
  const iovec here = {to, bytes};
  const iovec there = {reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace culprit::collector
