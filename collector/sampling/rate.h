// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How often a thread can afford a sample: the cost depends on the depth of the stack and on the
// machine, so it is measured as samples are taken. Above a share of the thread's CPU time, half of
// what the user allows the collector (--overhead), the period is doubled; well below, it goes back
// towards the one that was asked for. Between the two bounds nothing changes, so that it does not
// oscillate. Plain data: it lives in a thread's initial TLS block. MT: one thread's signal handler.
#pragma once

#include <cstdint>

namespace culprit::collector::sampling {

class Rate {
 public:
  /// One part in `share` of the CPU time may go into samples.
  void begin(uint64_t period_ns, uint64_t share = 100) {
    asked_ns_ = period_ns_ = period_ns;
    share_ = share;
    cost_ns_ = cpu_ns_ = seen_ = 0;
  }
  uint64_t period_ns() const { return period_ns_; }

  /// A signal took `cost` and stands for `expirations` periods. Returns true if the period has
  /// changed.
  bool account(uint64_t cost, uint64_t expirations) {
    cost_ns_ += cost;
    cpu_ns_ += expirations * period_ns_;
    if (++seen_ < kDecideAfter) return false;
    const uint64_t before = period_ns_;
    if (cost_ns_ * share_ > cpu_ns_ && period_ns_ < kLongest) {
      period_ns_ *= 2;
    } else if (cost_ns_ * share_ * kComfort < cpu_ns_ && period_ns_ > asked_ns_) {
      period_ns_ /= 2;
    }
    cost_ns_ = cpu_ns_ = seen_ = 0;
    return period_ns_ != before;
  }

 private:
  static constexpr uint32_t kDecideAfter = 16;
  static constexpr uint64_t kComfort = 4;  ///< half the period costs twice as much
  static constexpr uint64_t kLongest = 1'000'000'000;

  uint64_t share_;
  uint64_t asked_ns_;   ///< the period that was asked for
  uint64_t period_ns_;  ///< the one in force
  uint64_t cost_ns_;    ///< cost of the samples since the last decision
  uint64_t cpu_ns_;     ///< the thread's time since then
  uint32_t seen_;       ///< signals since the last decision
};

}  // namespace culprit::collector::sampling
