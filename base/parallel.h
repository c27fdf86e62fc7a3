// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs independent pieces of work on a few threads. Pieces are handed out one by one, so their
// sizes may differ widely (locations do). Results must not depend on who ran what: a piece writes
// only to its own slot.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace culprit {

/// Number of threads for `-j requested`; 0 means all cores.
inline unsigned thread_count(unsigned requested) {
  return requested != 0 ? requested : std::max(1u, std::thread::hardware_concurrency());
}

/// Calls work(i) for i in [0, count), on up to `threads` threads. Returns when all are done.
template <class Work>
void parallel_for(size_t count, unsigned threads, const Work& work) {
  const size_t crew = std::min<size_t>(thread_count(threads), count);
  if (crew <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<size_t> next{0};
  auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < crew; ++t) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
}

}  // namespace culprit
