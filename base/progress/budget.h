// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much an optional part of the work may take before it is given up. The code that does the work
// counts its steps, so the same input gives the same result on a busy machine as on a quiet one;
// CPU time is the last guard, for unexpectedly slow work. MT: any thread may spend.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace culprit {

/// Thrown by Budget::spend(): the owner of the budget goes on without that part.
struct BudgetSpent {};

class Budget {
 public:
  /// Without an end.
  Budget() = default;
  Budget(uint64_t steps, double cpu_s)
      : left_(steps < kMost ? steps : kMost), until_s_(now_s() + cpu_s) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Throws BudgetSpent if that was more than there is.
  void spend(uint64_t steps = 1) {
    const auto some = static_cast<int64_t>(steps < kMost ? steps : kMost);
    const int64_t left = left_.fetch_sub(some, std::memory_order_relaxed) - some;
    if (left < 0) throw BudgetSpent();
    if (left / kLook != (left + some) / kLook && now_s() > until_s_) throw BudgetSpent();
  }

  /// Steps that were made.
  uint64_t made() const { return static_cast<uint64_t>(given_ - left_.load()); }

  /// CPU time of the process, in seconds.
  static double now_s() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

 private:
  static constexpr uint64_t kMost = uint64_t{1} << 60;
  static constexpr int64_t kLook = 1 << 16;  ///< steps between two looks at the clock
  std::atomic<int64_t> left_{static_cast<int64_t>(kMost)};
  const int64_t given_ = left_.load();
  double until_s_ = 1e300;
};

/// One thread's steps, which it spends many at a time.
class Spender {
 public:
  explicit Spender(Budget& budget) : budget_(budget) {}
  Spender(const Spender&) = delete;
  Spender& operator=(const Spender&) = delete;
  void step() {
    if (++steps_ == kAtOnce) budget_.spend(kAtOnce), steps_ = 0;
  }

 private:
  static constexpr uint64_t kAtOnce = 1024;
  Budget& budget_;
  uint64_t steps_ = 0;
};

}  // namespace culprit
