// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the threads of a team must know of the region's fork in order to record it: which thread
// forked, where and when, and when it left the region again. The forking thread notes it before the
// runtime gives the region to others; these look it up by the region's number. The newest kForks
// regions are kept, so what is asked for may be gone: then it is unknown. MT: any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace culprit::collector::openmp {

struct ForkNote {
  uint64_t fork = 0;    ///< number of the forking thread's log << 32 | its call path
  uint64_t forked = 0;  ///< ticks
  uint64_t joined = 0;  ///< ticks; 0: not yet
};

class ForkBoard {
 public:
  void note_fork(uint64_t region, uint64_t fork, uint64_t ticks) {
    Entry& entry = entry_of(region);
    entry.region.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    entry.fork.store(fork, std::memory_order_relaxed);
    entry.forked.store(ticks, std::memory_order_relaxed);
    entry.joined.store(0, std::memory_order_relaxed);
    entry.region.store(region, std::memory_order_release);
  }

  void note_join(uint64_t region, uint64_t ticks) {
    Entry& entry = entry_of(region);
    if (entry.region.load(std::memory_order_relaxed) == region) {
      entry.joined.store(ticks, std::memory_order_release);
    }
  }

  /// All 0 if the region is unknown.
  ForkNote find(uint64_t region) const {
    const Entry& entry = entries_[region % kForks];
    if (region == 0 || entry.region.load(std::memory_order_acquire) != region) return {};
    const ForkNote note = {entry.fork.load(std::memory_order_relaxed),
                           entry.forked.load(std::memory_order_relaxed),
                           entry.joined.load(std::memory_order_acquire)};
    std::atomic_thread_fence(std::memory_order_acquire);
    return entry.region.load(std::memory_order_relaxed) == region ? note : ForkNote{};
  }

 private:
  static constexpr uint64_t kForks = 4096;
  struct alignas(32) Entry {
    std::atomic<uint64_t> region{0};
    std::atomic<uint64_t> fork{0};
    std::atomic<uint64_t> forked{0};
    std::atomic<uint64_t> joined{0};
  };

  Entry& entry_of(uint64_t region) { return entries_[region % kForks]; }

  Entry entries_[kForks];
};

/// The process's.
extern ForkBoard g_fork_board;

}  // namespace culprit::collector::openmp
