// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A loop whose turns run on several threads, in no order. Assumes that turns are independent.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace culprit::assemble {

/// `threads` as the user says it: 0 means all cores.
inline unsigned thread_count(unsigned threads) {
  return threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

/// Calls body(0) ... body(count - 1) on up to `threads` threads, the caller's among them.
inline void parallel_for(size_t count, unsigned threads, const std::function<void(size_t)>& body) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::jthread> helpers;
  for (size_t i = 1; i < std::min<size_t>(thread_count(threads), count); ++i) {
    helpers.emplace_back(work);
  }
  work();
}

}  // namespace culprit::assemble
