// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Copies /proc/self/maps and keeps its executable ranges, sorted as the kernel lists them. A set of
// ranges is never changed nor freed once published, so readers need no lock; there are few, since
// programs load code in few bursts. Only one thread refreshes; the others go on with the old set.
#include "collector/process/code_map.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "base/fnv.h"
#include "collector/process/maps_lines.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"

namespace culprit::collector::code_map {

namespace {

constexpr unsigned kMaxCopies = 64;
constexpr unsigned kMaxRanges = 4096;

struct Range {
  uintptr_t begin;
  uintptr_t end;
  Owner owner;
};

struct Ranges {
  unsigned count;
  Range at[kMaxRanges];
};

const char* g_folder = nullptr;
std::atomic<const Ranges*> g_ranges{nullptr};
std::atomic<unsigned> g_copies{0};
std::atomic<unsigned> g_vain{0};     ///< consecutive refreshes that found nothing new
std::atomic<unsigned> g_unknown{0};  ///< unknown addresses since the last refresh
std::atomic<unsigned long long> g_loaded{0};
std::atomic_flag g_refreshing = ATOMIC_FLAG_INIT;

Owner owner_by_path(const char* path) {
  const char* name = strrchr(path, '/');
  if (name == nullptr) return Owner::program;
  ++name;
  if (strncmp(name, "libculprit", 10) == 0) return Owner::collector;
  if (strncmp(name, "libgcc_s", 8) == 0) return Owner::unwinder;
  for (const char* runtime : {"ld-linux", "ld-musl"}) {
    if (strncmp(name, runtime, strlen(runtime)) == 0) return Owner::runtime;
  }
  return Owner::program;
}

void add_line(Ranges& ranges, const char* text) {
  MapsLine line;
  if (!parse_maps_line(text, line) || !line.executable || ranges.count == kMaxRanges) return;
  ranges.at[ranges.count++] = {line.begin, line.end, owner_by_path(line.path)};
}

/// Memory for copying, outside of the stack: threads may have next to no stack.
struct Workspace {
  char path[PATH_MAX + 16];
  char piece[4096];
  MapsLines lines;
};

/// Marks the end, so that a reader knows whether the copy is complete.
void finish_copy(int file, size_t bytes, uint64_t sum, Workspace& work) {
  const int length =
      snprintf(work.piece, sizeof work.piece, "# %llx\n", static_cast<unsigned long long>(sum));
  if (write_at(file, bytes, work.piece, static_cast<size_t>(length))) {
    tally(&trace::RawProcess::maps);
  }
}

bool copy_maps(unsigned number, Ranges& ranges, Workspace& work) {
  const int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (from < 0) return false;
  int to = -1;
  if (g_folder != nullptr) {
    snprintf(work.path, sizeof work.path, "%s/maps.%u", g_folder, number);
    to = open(work.path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0644);
  }
  bool writing = to >= 0;
  uint64_t sum = kFnvSeed;
  size_t length = 0;
  for (;;) {
    const ssize_t got = read(from, work.piece, sizeof work.piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    work.lines.feed(work.piece, static_cast<size_t>(got),
                    [&](const char* line) { add_line(ranges, line); });
    writing = writing && write_at(to, length, work.piece, static_cast<size_t>(got));
    sum = fnv1a({work.piece, static_cast<size_t>(got)}, sum);
    length += static_cast<size_t>(got);
  }
  if (writing) finish_copy(to, length, sum, work);
  if (to >= 0) close(to);
  close(from);
  return ranges.count > 0;
}

bool same(const Ranges* a, const Ranges& b) {
  if (a == nullptr || a->count != b.count) return false;
  for (unsigned i = 0; i < b.count; ++i) {
    if (a->at[i].begin != b.at[i].begin || a->at[i].end != b.at[i].end) return false;
  }
  return true;
}

int count_loads(dl_phdr_info* info, size_t, void* result) {
  *static_cast<unsigned long long*>(result) = info->dlpi_adds;
  return 1;  // every entry has the same count
}

}  // namespace

void begin(const char* folder) {
  g_folder = folder;
  g_copies.store(0, std::memory_order_relaxed);
  refresh();
}

void refresh() {
  if (g_copies.load(std::memory_order_relaxed) >= kMaxCopies) return;
  if (g_refreshing.test_and_set(std::memory_order_acquire)) return;
  const KeepErrno keep;
  auto* fresh = static_cast<Ranges*>(map_memory(sizeof(Ranges)));
  auto* work = static_cast<Workspace*>(map_memory(sizeof(Workspace)));
  if (fresh != nullptr && work != nullptr) {
    if (copy_maps(g_copies.fetch_add(1, std::memory_order_relaxed), *fresh, *work)) {
      const bool vain = same(g_ranges.load(std::memory_order_relaxed), *fresh);
      g_vain.store(vain ? g_vain.load(std::memory_order_relaxed) + 1 : 0,
                   std::memory_order_relaxed);
      g_unknown.store(0, std::memory_order_relaxed);
      g_ranges.store(fresh, std::memory_order_release);
      fresh = nullptr;
    }
  }
  unmap_memory(fresh, sizeof(Ranges));
  unmap_memory(work, sizeof(Workspace));
  g_refreshing.clear(std::memory_order_release);
}

Owner owner_of(uintptr_t address) {
  const Ranges* ranges = g_ranges.load(std::memory_order_acquire);
  if (ranges == nullptr) return Owner::unknown;
  unsigned low = 0, high = ranges->count;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (ranges->at[middle].end <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == ranges->count || address < ranges->at[low].begin) return Owner::unknown;
  return ranges->at[low].owner;
}

bool is_there() {
  return g_ranges.load(std::memory_order_relaxed) != nullptr;
}

bool learn() {
  const unsigned vain = g_vain.load(std::memory_order_relaxed);
  const unsigned patience = vain < 20 ? 1u << vain : 1u << 20;
  if (g_unknown.fetch_add(1, std::memory_order_relaxed) + 1 < patience) return false;
  const Ranges* before = g_ranges.load(std::memory_order_relaxed);
  refresh();
  return g_ranges.load(std::memory_order_relaxed) != before;
}

bool loaded_more() {
  unsigned long long loads = 0;
  dl_iterate_phdr(count_loads, &loads);
  return g_loaded.exchange(loads, std::memory_order_relaxed) != loads;
}

}  // namespace culprit::collector::code_map
