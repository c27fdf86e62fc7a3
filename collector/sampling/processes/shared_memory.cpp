// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is mapped at an address stands in /proc/self/maps, which takes microseconds to read; so it
// is remembered for each page, and for a moment only, since the program may map other memory there.
#include "collector/sampling/processes/shared_memory.h"

#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <unistd.h>

#include <atomic>

#include "collector/process/lifecycle.h"
#include "collector/process/maps_lines.h"
#include "collector/process/next.h"
#include "collector/process/recorder.h"
#include "collector/process/system_file.h"
#include "collector/sampling/started.h"
#include "trace/objects.h"

namespace culprit::collector::sampling {

namespace {

constexpr unsigned kPageBits = 12;
constexpr uint64_t kRememberedTicks = uint64_t{1} << 31;  // a second or two

struct Page {
  std::atomic<uint64_t> number;  ///< 0 while it changes
  std::atomic<uint64_t> name;    ///< of what is mapped there; 0: this process's own
  std::atomic<uint64_t> until;   ///< ticks
};
constexpr unsigned kPages = 64;
constinit Page g_pages[kPages];

/// Held while /proc/self/maps is read and a page is remembered.
constinit std::atomic_flag g_reading = ATOMIC_FLAG_INIT;
/// Outside of the stack: threads may have next to no stack.
constinit char g_piece[4096];
constinit MapsLines g_lines;

/// Of the page in its file.
uint64_t name_of_page(uintptr_t address, const MapsLine& line) {
  const uint64_t file = trace::file_number(line.device, line.inode);
  const uint64_t at = line.offset + (address - line.begin);
  return trace::file_number(file, at >> kPageBits) | 1;
}

uint64_t read_name(uintptr_t address) {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return 0;
  g_lines = {};
  uint64_t name = 0;
  bool found = false;
  while (!found) {
    const ssize_t got = ::read(maps, g_piece, sizeof g_piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    g_lines.feed(g_piece, static_cast<size_t>(got), [&](const char* text) {
      MapsLine line;
      if (!parse_maps_line(text, line) || address < line.begin || address >= line.end) return;
      found = true;
      if (line.shared) name = name_of_page(address, line);
    });
  }
  close(maps);
  return name;
}

/// A signal handler may have interrupted the very thread that reads: it does not wait for ever.
bool begin_reading() {
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries; ++i) {
    if (!g_reading.test_and_set(std::memory_order_acquire)) return true;
    sched_yield();
  }
  return false;
}

/// 0: this process's own.
uint64_t name_of_mapping(uintptr_t address) {
  const uint64_t number = address >> kPageBits, time = now();
  Page& page = g_pages[number % kPages];
  if (page.number.load(std::memory_order_acquire) == number) {
    const uint64_t name = page.name.load(std::memory_order_relaxed);
    const uint64_t until = page.until.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (page.number.load(std::memory_order_relaxed) == number && time < until) return name;
  }
  if (!begin_reading()) return 0;
  const uint64_t name = read_name(address);
  page.number.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  page.name.store(name, std::memory_order_relaxed);
  page.until.store(time + kRememberedTicks, std::memory_order_relaxed);
  page.number.store(number, std::memory_order_release);
  g_reading.clear(std::memory_order_release);
  return name;
}

constinit Next<sem_t*(const char*, int, mode_t, unsigned)> g_sem_open("sem_open");

}  // namespace

void find_sharing_calls() {
  const KeepErrno keep;
  g_sem_open.find();
}

uint64_t shared_object(const void* object) {
  const auto address = reinterpret_cast<uintptr_t>(object);
  if (!is_watched()) return address;
  const KeepErrno keep;
  const uint64_t name = name_of_mapping(address);
  if (name == 0) return address;
  const uint64_t in_page = address & ((uint64_t{1} << kPageBits) - 1);
  return object_of(trace::ObjectKind::shared, trace::file_number(name, in_page));
}

}  // namespace culprit::collector::sampling

extern "C" {

using namespace culprit::collector::sampling;

/// By a semaphore with a name a program waits for others that were not forked from it: without
/// threads of its own, it would not be worth recording otherwise.
CULPRIT_EXPORT sem_t* sem_open(const char* name, int flags, ...) noexcept {
  auto* const next = g_sem_open.get();
  if (next == nullptr) return errno = ENOSYS, SEM_FAILED;
  mode_t mode = 0;
  unsigned value = 0;
  if ((flags & O_CREAT) != 0) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    value = va_arg(more, unsigned);
    va_end(more);
  }
  sem_t* const semaphore = next(name, flags, mode, value);
  if (semaphore != SEM_FAILED && has_started()) {
    const culprit::collector::KeepErrno keep;
    culprit::collector::lifecycle::activate_for_sharing();
  }
  return semaphore;
}

}  // extern "C"
