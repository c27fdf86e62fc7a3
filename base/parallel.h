// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs independent pieces of work on a few threads. Pieces are handed out one by one, so their
// sizes may differ widely (locations do). Results must not depend on who ran what: a piece writes
// only to its own slot. Where the system refuses threads (limits on processes or memory), those
// that run do all the work, and unstarted_threads() says how many there might have been.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace culprit {

/// Number of threads for `-j requested`; 0 means all cores.
inline unsigned thread_count(unsigned requested) {
  return requested != 0 ? requested : std::max(1u, std::thread::hardware_concurrency());
}

namespace parallel_detail {
inline std::atomic<size_t> most_unstarted{0};
}

/// How many threads the system has refused to start, in the call of parallel_for() that lacked
/// most.
inline size_t unstarted_threads() {
  return parallel_detail::most_unstarted.load();
}

/// Starts up to `wanted` threads that run `run`; fewer where the system refuses.
template <class Run>
std::vector<std::thread> start_threads(size_t wanted, const Run& run) {
  std::vector<std::thread> started;
  try {
    started.reserve(wanted);
    while (started.size() < wanted) started.emplace_back(run);
  } catch (const std::exception&) {  // std::system_error, or no memory to report it
    const size_t unstarted = wanted - started.size();
    size_t most = parallel_detail::most_unstarted.load();
    while (most < unstarted &&
           !parallel_detail::most_unstarted.compare_exchange_weak(most, unstarted)) {
    }
  }
  return started;
}

/// Calls work(i, state) for i in [0, count), on up to `threads` threads, each with a state of its
/// own made by `state()`: scratch memory that is used again. Returns when all are done; what a
/// piece throws ends the work, and is thrown here.
template <class MakeState, class Work>
void parallel_for(size_t count, unsigned threads, const MakeState& make_state, const Work& work) {
  const size_t crew = std::min<size_t>(thread_count(threads), count);
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // the first: mostly, memory has run out
  const auto run = [&] {
    try {
      auto state = make_state();
      for (size_t i = next++; i < count; i = next++) work(i, state);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others = start_threads(crew - std::min<size_t>(crew, 1), run);
  if (count > 0) run();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

/// Calls work(i) for i in [0, count), on up to `threads` threads. Returns when all are done.
template <class Work>
void parallel_for(size_t count, unsigned threads, const Work& work) {
  parallel_for(count, threads, [] { return 0; }, [&](size_t i, int) { work(i); });
}

}  // namespace culprit
