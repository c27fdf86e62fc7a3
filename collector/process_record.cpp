// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Fills the record from /proc. Texts that do not fit are cut; what cannot be read stays empty.
#include "collector/process_record.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collector/clock.h"
#include "collector/environment.h"
#include "collector/recorder.h"
#include "collector/system_file.h"

namespace culprit::collector {

using trace::RawProcess;

namespace {

/// /proc/self/cmdline separates arguments by zero bytes.
void read_command(char* text, size_t capacity) {
  // read_text cannot tell how much it read once there are zeros inside, but the rest is zero too.
  if (!read_text("/proc/self/cmdline", text, capacity)) return;
  size_t end = capacity;
  while (end > 0 && text[end - 1] == '\0') --end;
  for (size_t i = 0; i < end; ++i) {
    if (text[i] == '\0') text[i] = ' ';
  }
}

void read_executable(char* text, size_t capacity) {
  const ssize_t length = readlink("/proc/self/exe", text, capacity - 1);
  text[length > 0 ? length : 0] = '\0';
}

}  // namespace

RawProcess* create_process_record(const char* folder, const trace::RawClockPair& first) {
  char path[4200];
  snprintf(path, sizeof path, "%s/process", folder);
  auto* record = static_cast<RawProcess*>(map_file(path, sizeof(RawProcess)));
  if (record == nullptr) return nullptr;
  record->version = trace::kRawVersion;
  record->pid = static_cast<uint32_t>(getpid());
  record->clock = clock::chosen();
  record->world_rank = -1;
  record->world_size = -1;
  record->start_ticks = first.ticks;
  record->first = first;
  record->last = clock::read_pair();
  gethostname(record->host, sizeof record->host - 1);
  read_text("/proc/sys/kernel/random/boot_id", record->boot_id, sizeof record->boot_id);
  struct stat time_namespace;
  if (stat("/proc/self/ns/time", &time_namespace) == 0) {
    record->time_namespace = time_namespace.st_ino;
  }
  read_executable(record->executable, sizeof record->executable);
  read_command(record->command, sizeof record->command);
  static_assert(sizeof record->job == sizeof environment().job);
  const char* tools = getenv("OMP_TOOL");
  if (tools != nullptr && strcmp(tools, "disabled") == 0) {
    record->declined = trace::RawDeclined::disabled;
  }
  memcpy(record->job, environment().job, sizeof record->job);
  static_assert(sizeof record->parent == sizeof environment().parent);
  memcpy(record->parent, environment().parent, sizeof record->parent);
  std::atomic_ref<uint32_t>(record->magic).store(trace::kRawMagic, std::memory_order_release);
  return record;
}

void tally(uint64_t RawProcess::* counter, uint64_t count) {
  RawProcess* record = process();
  if (record == nullptr) return;
  std::atomic_ref<uint64_t>(record->*counter).fetch_add(count, std::memory_order_relaxed);
}

void refresh_clock_pair() {
  static std::atomic_flag refreshing = ATOMIC_FLAG_INIT;
  RawProcess* record = process();
  if (record == nullptr || refreshing.test_and_set(std::memory_order_acquire)) return;
  record->last = clock::read_pair();
  refreshing.clear(std::memory_order_release);
}

}  // namespace culprit::collector
