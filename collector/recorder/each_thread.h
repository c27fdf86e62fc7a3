// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The threads of the process, as the system lists them. Async-signal-safe; makes no call that
// others could stand in for, or at which a thread is cancelled.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace culprit::collector {

/// Calls visit(number) for each living thread. False if they cannot be listed.
template <class Visit>
bool for_each_thread(const Visit& visit) {
  const long folder =
      syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0) return false;
  alignas(dirent64) char entries[2048];
  for (;;) {
    const long bytes = syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      if (const long thread = strtol(entry->d_name, nullptr, 10); thread > 0) {
        visit(static_cast<uint32_t>(thread));
      }
    }
  }
  syscall(SYS_close, folder);
  return true;
}

}  // namespace culprit::collector
