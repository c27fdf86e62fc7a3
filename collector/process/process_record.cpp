// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Fills the record from /proc. Texts that do not fit are cut; what cannot be read stays empty.
#include "collector/process/process_record.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "base/fnv.h"
#include "collector/process/clock.h"
#include "collector/process/environment.h"
#include "collector/process/recorder.h"
#include "collector/process/system_file.h"
#include "trace/raw/seal.h"

namespace culprit::collector {

using trace::RawProcess;

namespace {

/// The file of which the record is the first part.
trace::RawProcessFile* g_file = nullptr;
char g_path[4200];         ///< its name
bool g_in_memory = false;  ///< the record is in memory only: its file is not mapped, but written

void set_last(RawProcess& record, const trace::RawClockPair& pair) {
  record.last = pair;
  record.last_sum = trace::raw_sum_of_all(pair);
}

/// /proc/self/cmdline separates arguments by zero bytes.
void read_command(char* text, size_t capacity) {
  // read_text cannot return how much it read if there are zeros inside, but the rest is zero too.
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

void tell_refused(const char* folder, int refusal) {
  char path[sizeof g_path];
  snprintf(path, sizeof path, "%s/refused.%d", folder, refusal);
  touch_file(path);
}

bool write_record() {
  return write_at(g_path, 0, reinterpret_cast<const char*>(g_file), sizeof *g_file);
}

/// Makes the memory of the record: its mapped file, or memory that is written to it. Returns errno
/// on failure.
int make_record() {
  const MappedFile mapped = map_file(g_path, sizeof(trace::RawProcessFile));
  g_file = static_cast<trace::RawProcessFile*>(mapped.memory);
  if (g_file != nullptr || !mapped.is_made) return mapped.refusal;
  g_file = static_cast<trace::RawProcessFile*>(map_memory(sizeof(trace::RawProcessFile)));
  if (g_file == nullptr || !write_record()) {
    const int refusal = errno;
    unlink(g_path);
    unmap_memory(g_file, sizeof(trace::RawProcessFile));
    g_file = nullptr;
    return refusal != 0 ? refusal : mapped.refusal;
  }
  g_in_memory = true;
  g_file->now.written_behind = static_cast<uint64_t>(mapped.refusal);
  return 0;
}

}  // namespace

RawProcess* create_process_record(const char* folder, const trace::RawClockPair& first) {
  snprintf(g_path, sizeof g_path, "%s/process", folder);
  errno = 0;
  if (const int refusal = make_record(); refusal != 0) {
    tell_refused(folder, refusal);
    return nullptr;
  }
  RawProcess* const record = &g_file->now;
  record->version = trace::kRawVersion;
  record->pid = static_cast<uint32_t>(getpid());
  record->clock = clock::chosen();
  record->world_rank = -1;
  record->world_size = -1;
  record->start_ticks = first.ticks;
  record->first = first;
  set_last(*record, clock::read_pair());
  gethostname(record->host, sizeof record->host - 1);
  read_text("/proc/sys/kernel/random/boot_id", record->boot_id, sizeof record->boot_id);
  struct stat time_namespace;
  if (stat("/proc/self/ns/time", &time_namespace) == 0) {
    record->time_namespace = time_namespace.st_ino;
  }
  read_executable(record->executable, sizeof record->executable);
  read_command(record->command, sizeof record->command);
  static_assert(sizeof record->job == sizeof environment().job);
  if (environment().omp_tools_disabled) record->declined = trace::RawDeclined::disabled;
  memcpy(record->job, environment().job, sizeof record->job);
  static_assert(sizeof record->parent == sizeof environment().parent);
  memcpy(record->parent, environment().parent, sizeof record->parent);
  std::atomic_ref<uint32_t>(record->magic).store(trace::kRawMagic, std::memory_order_release);
  return record;
}

void tell_written_behind(int refusal) {
  RawProcess* record = process();
  if (record == nullptr) return;
  std::atomic_ref<uint64_t>(record->written_behind)
      .store(static_cast<uint64_t>(refusal), std::memory_order_relaxed);
}

void tally(uint64_t RawProcess::* counter, uint64_t count) {
  RawProcess* record = process();
  if (record == nullptr) return;
  std::atomic_ref<uint64_t>(record->*counter).fetch_add(count, std::memory_order_relaxed);
}

namespace {

/// Other threads go on counting meanwhile: each word is its value at some moment.
void copy_record(const RawProcess& from, RawProcess& to) {
  constexpr size_t kWords = sizeof(RawProcess) / sizeof(uint64_t);
  auto* source = reinterpret_cast<uint64_t*>(const_cast<RawProcess*>(&from));
  auto* target = reinterpret_cast<uint64_t*>(&to);
  for (size_t i = 0; i < kWords; ++i) {
    target[i] = std::atomic_ref<uint64_t>(source[i]).load(std::memory_order_relaxed);
  }
}

/// Writes into the older of the two snapshots, so that one is whole if the process is killed here.
void write_snapshot(trace::RawSnapshot& slot, uint64_t number, Moment moment, uint64_t end) {
  std::atomic_ref<uint64_t>(slot.sum).store(0, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  copy_record(g_file->now, slot.process);
  if (moment != Moment::going_on) slot.process.end_ticks = end;
  if (moment == Moment::exit) slot.process.ended = 1;
  slot.number = number;
  std::atomic_ref<uint64_t>(slot.sum).store(trace::sum_of_snapshot(slot),
                                            std::memory_order_release);
}

}  // namespace

void take_snapshot(Moment moment, uint64_t end) {
  static std::atomic_flag writing = ATOMIC_FLAG_INIT;
  // Another snapshot follows soon, except after the last; in a signal handler this very thread may
  // hold the lock.
  const unsigned patience = moment == Moment::going_on ? 0 : 1000;
  if (g_file == nullptr || process() != &g_file->now) return;
  for (unsigned i = 0; writing.test_and_set(std::memory_order_acquire); ++i) {
    if (i == patience) return;
    sched_yield();
  }
  static uint64_t number = 0;
  ++number;
  write_snapshot(g_file->snapshots[number % 2], number, moment, end);
  RawProcess& record = g_file->now;
  if (moment != Moment::going_on) record.end_ticks = end;
  if (moment == Moment::exit) {
    std::atomic_ref<uint32_t>(record.ended).store(1, std::memory_order_release);
  }
  if (g_in_memory) write_record();
  writing.clear(std::memory_order_release);
}

uint64_t clock_identity(const RawProcess& process) {
  const bool own_namespace = process.clock == trace::RawClock::monotonic_ns;
  char clock[48];
  snprintf(clock, sizeof clock, "/%u/%llx", static_cast<unsigned>(process.clock),
           own_namespace ? static_cast<unsigned long long>(process.time_namespace) : 0);
  return fnv1a(clock, fnv1a(process.boot_id, fnv1a(process.host)));
}

void refresh_clock_pair() {
  static std::atomic_flag refreshing = ATOMIC_FLAG_INIT;
  RawProcess* record = process();
  if (record == nullptr || refreshing.test_and_set(std::memory_order_acquire)) return;
  set_last(*record, clock::read_pair());
  refreshing.clear(std::memory_order_release);
  take_snapshot();
}

}  // namespace culprit::collector
