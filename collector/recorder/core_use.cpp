// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One thread looks at a time; a thread that finds another one looking does not look itself. Threads
// that have logs record their use at their end, so that none of it is lost between two looks.
#include "collector/recorder/core_use.h"

#include <time.h>

#include <algorithm>
#include <atomic>

#include "collector/process/lifecycle.h"
#include "collector/process/process_record.h"
#include "collector/process/recorder.h"
#include "collector/process/system_file.h"
#include "collector/recorder/tasks.h"
#include "collector/recorder/thread_registry.h"

namespace culprit::collector {

namespace {

constexpr uint64_t kBetweenLooks_ns = 1'000'000'000;
/// With many threads a look takes long: the time until the next one is at least this multiple of
/// its cost.
constexpr uint64_t kRarerThanItsCost = 2000;

std::atomic<uint64_t> g_ended_on_core{0};
std::atomic<uint64_t> g_ended_waited{0};
std::atomic<uint64_t> g_next_look{0};  ///< monotonic, in nanoseconds
std::atomic_flag g_looking = ATOMIC_FLAG_INIT;

uint64_t nanoseconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void on_thread_ended() {
  if (!lifecycle::is_active()) return;
  const KeepErrno keep;
  tasks::Use use;
  if (!tasks::own_use(use)) return;
  tasks::note_end();
  if (ThreadLog* const log = registry::existing_log()) {
    log->put(now(), raw::cpu_time{.on_core = use.on_core_ns, .without = use.without_ns});
  }
  g_ended_on_core.fetch_add(use.on_core_ns, std::memory_order_relaxed);
  g_ended_waited.fetch_add(use.without_ns, std::memory_order_relaxed);
}

/// Ended threads are read first: a thread that ends meanwhile is then missing once, and counted at
/// the next look; in the other order it would be counted twice.
void look(trace::RawProcess& record, ThreadLog* log) {
  const uint64_t ended_on_core = g_ended_on_core.load(std::memory_order_relaxed);
  const uint64_t ended_waited = g_ended_waited.load(std::memory_order_relaxed);
  const tasks::Look found = tasks::look(log, record.cores);
  if (!found.known) return;
  record.on_core_ns = std::max(record.on_core_ns, found.use.on_core_ns + ended_on_core);
  record.core_wait_ns = std::max(record.core_wait_ns, found.use.without_ns + ended_waited);
  if (log == nullptr) return;
  log->put(now(), raw::cores_had{.threads = found.threads,
                                 .on_core = record.on_core_ns,
                                 .without = record.core_wait_ns});
}

}  // namespace

void begin_core_use() {
  static bool is_hooked = false;  // static, since children that begin anew have the hook already
  if (!is_hooked) registry::add_hook({nullptr, on_thread_ended, true});
  is_hooked = true;
  refresh_core_use(nullptr);
}

bool core_use_is_old() {
  return nanoseconds(CLOCK_MONOTONIC_COARSE) >= g_next_look.load(std::memory_order_relaxed);
}

void refresh_core_use(ThreadLog* log) {
  trace::RawProcess* record = process();
  if (record == nullptr || g_looking.test_and_set(std::memory_order_acquire)) return;
  const KeepErrno keep;
  const uint64_t begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  look(*record, log);
  const uint64_t cost = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin;
  g_next_look.store(
      nanoseconds(CLOCK_MONOTONIC_COARSE) + std::max(kBetweenLooks_ns, cost * kRarerThanItsCost),
      std::memory_order_relaxed);
  g_looking.clear(std::memory_order_release);
}

void put_cpu_time(ThreadLog& log) {
  const KeepErrno keep;
  tasks::Use use;
  if (!tasks::own_use(use)) return;
  log.put(now(), raw::cpu_time{.on_core = use.on_core_ns, .without = use.without_ns});
}

void forget_core_use() {
  tasks::forget();
  g_ended_on_core.store(0, std::memory_order_relaxed);
  g_ended_waited.store(0, std::memory_order_relaxed);
  g_next_look.store(0, std::memory_order_relaxed);
  g_looking.clear(std::memory_order_release);
}

}  // namespace culprit::collector
