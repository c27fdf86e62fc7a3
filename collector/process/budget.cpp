// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Atomic counters from which amounts are taken and to which they are returned: no thread waits, and
// the sum never exceeds the limit.
#include "collector/process/budget.h"

#include <atomic>

#include "collector/process/environment.h"
#include "trace/raw/raw.h"

namespace culprit::collector::budget {

namespace {

constexpr size_t kSmallestWindow = size_t{64} << 10;
/// A thread takes at most this share of the memory left for windows, so that many threads get some.
constexpr size_t kShare = 32;

std::atomic<size_t> g_windows{0};
std::atomic<size_t> g_paths{0};

bool take(std::atomic<size_t>& taken, size_t bytes, size_t limit) {
  if (taken.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit) return true;
  taken.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

size_t half_of_memory() {
  return (size_t{environment().memory} << 20) / 2;
}

}  // namespace

size_t take_window(size_t most) {
  const size_t limit = half_of_memory();
  const size_t taken = g_windows.load(std::memory_order_relaxed);
  const size_t left = taken < limit ? limit - taken : 0;
  size_t bytes = trace::kRawWindow;
  while (bytes > kSmallestWindow && (bytes > left / kShare || bytes > most)) bytes /= 2;
  g_windows.fetch_add(bytes, std::memory_order_relaxed);
  return bytes;
}

void take_whole_window() {
  g_windows.fetch_add(trace::kRawWindow, std::memory_order_relaxed);
}

void give_back_window(size_t bytes) {
  g_windows.fetch_sub(bytes, std::memory_order_relaxed);
}

bool take_for_paths(size_t bytes) {
  return take(g_paths, bytes, half_of_memory());
}

void take_first_for_paths(size_t bytes) {
  g_paths.fetch_add(bytes, std::memory_order_relaxed);
}

void give_back_for_paths(size_t bytes) {
  g_paths.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace culprit::collector::budget
