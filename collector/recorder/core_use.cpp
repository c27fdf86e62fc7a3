// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Folders are read by the system call: opendir allocates. A thread that is about to end while
// another reads the folder may be counted twice; it is one of many, or its time is short.
#include "collector/recorder/core_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "collector/lifecycle.h"
#include "collector/recorder/process_record.h"
#include "collector/recorder/recorder.h"
#include "collector/recorder/system_file.h"
#include "collector/recorder/thread_registry.h"

namespace culprit::collector {

using trace::RawProcess;

namespace {

struct Use {
  uint64_t on_core_ns = 0;
  uint64_t waited_ns = 0;
};

std::atomic<uint64_t> g_ended_on_core{0};
std::atomic<uint64_t> g_ended_waited{0};
std::atomic_flag g_refreshing = ATOMIC_FLAG_INIT;

/// "<on a core> <waited for one> <how often>", in nanoseconds.
bool read_use(const char* path, Use& use) {
  char text[96];
  if (!read_text(path, text, sizeof text)) return false;
  char* rest = nullptr;
  const uint64_t on_core = strtoull(text, &rest, 10);
  if (rest == text || *rest != ' ') return false;
  use.on_core_ns += on_core;
  use.waited_ns += strtoull(rest, nullptr, 10);
  return true;
}

/// Threads may be bound one by one: the process's cores are those of all of them.
void add_cores(pid_t thread, RawProcess& record) {
  uint64_t cores[trace::kRawCoreWords] = {};
  const long bytes = syscall(SYS_sched_getaffinity, thread, sizeof cores, cores);
  if (bytes <= 0) return;
  for (unsigned i = 0; i < trace::kRawCoreWords; ++i) record.cores[i] |= cores[i];
}

/// Calls visit(number) for each living thread. False if they cannot be listed.
template <class Visit>
bool for_each_thread(const Visit& visit) {
  const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(dirent64) char entries[2048];
  for (;;) {
    const long bytes = syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      if (const long thread = strtol(entry->d_name, nullptr, 10); thread > 0) {
        visit(static_cast<pid_t>(thread));
      }
    }
  }
  close(folder);
  return true;
}

void on_thread_begun() {}

void on_thread_ended() {
  if (!lifecycle::is_active()) return;
  const KeepErrno keep;
  Use use;
  if (!read_use("/proc/thread-self/schedstat", use)) return;
  g_ended_on_core.fetch_add(use.on_core_ns, std::memory_order_relaxed);
  g_ended_waited.fetch_add(use.waited_ns, std::memory_order_relaxed);
}

}  // namespace

void begin_core_use() {
  registry::add_hook({on_thread_begun, on_thread_ended, true});
  refresh_core_use();
}

void refresh_core_use() {
  RawProcess* record = process();
  if (record == nullptr || g_refreshing.test_and_set(std::memory_order_acquire)) return;
  const KeepErrno keep;
  Use use;
  bool known = false;
  for_each_thread([&](pid_t thread) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", static_cast<long>(thread));
    known |= read_use(path, use);
    add_cores(thread, *record);
  });
  if (known) {
    record->on_core_ns = use.on_core_ns + g_ended_on_core.load(std::memory_order_relaxed);
    record->core_wait_ns = use.waited_ns + g_ended_waited.load(std::memory_order_relaxed);
  }
  g_refreshing.clear(std::memory_order_release);
}

}  // namespace culprit::collector
