// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Memory of another process, without its help.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace culprit::assemble::look {

/// Copies it; how many bytes could be had.
inline size_t copy_memory(pid_t process, uint64_t address, void* to, size_t bytes) {
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  const ssize_t got = process_vm_readv(process, &local, 1, &remote, 1, 0);
  return got > 0 ? static_cast<size_t>(got) : 0;
}

}  // namespace culprit::assemble::look
