// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Seconds are ended by the thread that reports first after one is over. The cost of putting records
// is an estimate: their number, times what one cost when the process began.
#include "collector/bursts/governor.h"

#include <time.h>

#include <algorithm>
#include <atomic>

#include "collector/bursts/node_page.h"
#include "collector/process/environment.h"
#include "collector/process/process_record.h"
#include "collector/process/selection.h"

namespace culprit::collector {

namespace {

constexpr uint64_t kParts = 1'000'000;
constexpr uint64_t kBytesOfRecord = 32;  ///< as most have
constexpr uint32_t kPatience = 3;        ///< seconds
constexpr uint32_t kCalm = 8;            ///< seconds after a step in which there is no other one

std::atomic<uint32_t> g_steps{0};
std::atomic<uint64_t> g_second{0};   ///< ticks: begin of the second at hand
std::atomic<uint64_t> g_largest{0};  ///< part of a thread's time in it, in millionths
std::atomic<uint32_t> g_over{0};     ///< seconds in a row that exceeded the limit
std::atomic<uint32_t> g_calm{0};     ///< seconds that are to pass before the next step

std::atomic<uint64_t> g_first_ticks{0}, g_first_ns{0};  ///< a moment on two clocks

uint64_t nanoseconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// As measured since the first call, at `ticks`; 0: that was not long ago.
uint64_t ticks_per_second(uint64_t ticks) {
  constexpr uint64_t kShortest_ns = 500'000'000;
  const uint64_t ns = nanoseconds(CLOCK_MONOTONIC_COARSE);
  uint64_t first_ns = 0;
  if (g_first_ns.compare_exchange_strong(first_ns, ns)) g_first_ticks.store(ticks);
  const uint64_t first_ticks = g_first_ticks.load();
  if (first_ns == 0 || first_ticks == 0 || ns < first_ns + kShortest_ns || ticks <= first_ticks) {
    return 0;
  }
  return static_cast<uint64_t>(static_cast<double>(ticks - first_ticks) * 1e9 /
                               static_cast<double>(ns - first_ns));
}

void note(trace::RawProcess& process, uint64_t left_out) {
  std::atomic_ref<uint64_t>(process.thinned).fetch_or(left_out, std::memory_order_relaxed);
}

void take_step(trace::RawProcess& process) {
  if (g_steps.fetch_add(1, std::memory_order_relaxed) == 0) {
    selection::leave_out_tests();
    note(process, trace::kRawThinnedTests);
  } else if (node::shorten_bursts()) {
    note(process, trace::kRawThinnedBursts);
  }
  g_calm.store(kCalm, std::memory_order_relaxed);
}

void end_second(trace::RawProcess& process) {
  const uint64_t largest = g_largest.exchange(0, std::memory_order_relaxed);
  const uint64_t limit = uint64_t{environment().overhead} * (kParts / 100);
  const std::atomic_ref<uint64_t> most(process.largest_overhead);
  most.store(std::max(most.load(std::memory_order_relaxed), largest), std::memory_order_relaxed);
  if (const uint32_t calm = g_calm.load(std::memory_order_relaxed); calm > 0) {
    return g_calm.store(calm - 1, std::memory_order_relaxed);
  }
  const uint32_t over = largest > limit ? g_over.load(std::memory_order_relaxed) + 1 : 0;
  g_over.store(over % kPatience, std::memory_order_relaxed);
  if (over == kPatience) take_step(process);
}

void report(trace::RawProcess& process, uint64_t part, uint64_t time, uint64_t second) {
  for (uint64_t largest = g_largest.load(std::memory_order_relaxed);
       part > largest && !g_largest.compare_exchange_weak(largest, part);) {
  }
  uint64_t begin = g_second.load(std::memory_order_relaxed);
  if (time < begin + second || !g_second.compare_exchange_strong(begin, time)) return;
  if (begin != 0) end_second(process);
}

}  // namespace

uint64_t own_cpu_ns() {
  return nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

void Account::add_records(uint64_t now, uint64_t cpu_ns, uint64_t bytes) {
  if (since_ == 0) since_ = now;
  cpu_ns_ += cpu_ns;
  bytes_ += bytes;
  trace::RawProcess* const record = process();
  if (record == nullptr) return;
  // A thread that records little says nothing for long, and costs nothing.
  const uint64_t second = ticks_per_second(now);
  if (second == 0 || now - since_ < second / 2) return;
  const uint64_t ns = cpu_ns_ + bytes_ / kBytesOfRecord * record->event_cost_ps / 1000;
  const auto ticks =
      static_cast<uint64_t>(static_cast<double>(ns) * 1e-9 * static_cast<double>(second));
  report(*record, (path_ticks_ + ticks) * kParts / (now - since_), now, second);
  since_ = now;
  path_ticks_ = cpu_ns_ = bytes_ = 0;
}

namespace governor {

void forget() {
  g_steps.store(0, std::memory_order_relaxed);
  g_first_ns.store(0, std::memory_order_relaxed);
  g_second.store(0, std::memory_order_relaxed);
  g_over.store(0, std::memory_order_relaxed);
  g_calm.store(0, std::memory_order_relaxed);
}

}  // namespace governor

}  // namespace culprit::collector
