// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first page is mapped by itself, and regions where the file's `used` says, so that threads
// take them without knowing of each other.
#include "collector/bursts/profile_file.h"

#include <sys/statvfs.h>

#include <atomic>

#include "collector/process/system_file.h"
#include "trace/raw/profile.h"

namespace culprit::collector::profile_file {

using trace::kProfilePage;
using trace::ProfileFile;

namespace {

std::atomic<ProfileFile*> g_head{nullptr};

/// Whether the file's disk has room. One that would be nearly full is left alone.
bool has_room(const char* path, size_t bytes) {
  constexpr uint64_t kShare = 2;
  struct statvfs disk;
  if (statvfs(path, &disk) != 0) return false;
  return bytes <= uint64_t{disk.f_bavail} * disk.f_frsize / kShare;
}

/// Threads that come at the same time all write the same into the same page, and one mapping stays.
ProfileFile* head(const char* path, uint64_t start_ticks) {
  ProfileFile* head = g_head.load(std::memory_order_acquire);
  if (head != nullptr) return head;
  auto* const made = static_cast<ProfileFile*>(map_file(path, kProfilePage).memory);
  if (made == nullptr) return nullptr;
  made->version = trace::kProfileVersion;
  made->start_ticks = start_ticks;
  uint64_t unused = 0;
  std::atomic_ref<uint64_t>(made->used).compare_exchange_strong(unused, kProfilePage);
  std::atomic_ref<uint32_t>(made->magic).store(trace::kProfileMagic, std::memory_order_release);
  if (g_head.compare_exchange_strong(head, made)) return made;
  unmap_memory(made, kProfilePage);
  return head;
}

}  // namespace

void* take(const char* path, uint64_t start_ticks, size_t bytes) {
  ProfileFile* const file = head(path, start_ticks);
  if (file == nullptr || !has_room(path, bytes)) return nullptr;
  const uint64_t at = std::atomic_ref<uint64_t>(file->used).fetch_add(bytes);
  return map_file(path, bytes, at).memory;
}

bool is_there() {
  return g_head.load(std::memory_order_relaxed) != nullptr;
}

void show(const trace::ProfileBlame& blame) {
  ProfileFile* const file = g_head.load(std::memory_order_acquire);
  if (file == nullptr) return;
  const std::atomic_ref<uint64_t> version(file->blame.version);
  const uint64_t before = version.load(std::memory_order_relaxed);
  version.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  trace::ProfileBlame next = blame;
  next.version = before + 1;
  file->blame = next;
  version.store(before + 2, std::memory_order_release);
}

void forget() {
  g_head.store(nullptr, std::memory_order_relaxed);
}

}  // namespace culprit::collector::profile_file
