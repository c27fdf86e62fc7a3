// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The time of the schedule of bursts (trace/raw/bursts.h), in ticks of the process's clock. The
// time goes on as CLOCK_MONOTONIC does, from what CLOCK_REALTIME was when the node's page was made:
// so it follows the corrections that the system makes to its clock's rate, and does not jump when
// somebody sets the clock. Async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "trace/raw/bursts.h"

namespace culprit::collector {

/// A word of the page that other threads and processes change.
inline uint64_t load(const uint64_t& word) {
  return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(word)).load(std::memory_order_acquire);
}

/// How ticks and the schedule's time belong together, as measured from the making of the page until
/// now.
class Moments {
 public:
  /// Reads the clocks.
  explicit Moments(const trace::RawNodePage& page);

  /// False as long as too little time has gone on to know the clock's rate.
  bool are_known() const { return ticks_per_ns_ > 0; }
  uint64_t ns(uint64_t ticks) const;
  uint64_t ticks(uint64_t ns) const;

 private:
  uint64_t here_ticks_ = 0;
  uint64_t here_ns_ = 0;
  double ticks_per_ns_ = 0;
};

/// A burst as the schedule has it, in ticks.
struct Burst {
  uint64_t slot;
  uint64_t begin;
  uint64_t end;
};

/// The burst of a slot, with its margins.
Burst burst_in(const trace::RawNodePage& page, const Moments& moments, uint64_t slot);

/// Whether records of this time belong to a burst.
bool is_in_burst(const trace::RawNodePage& page, const Moments& moments, uint64_t ticks);

/// Calls `see(burst)` for each burst that begins after the whole part and has a moment between two
/// times, in their order.
template <class See>
void for_each_burst(const trace::RawNodePage& page, const Moments& moments, uint64_t begin,
                    uint64_t end, See&& see) {
  const uint64_t level = load(page.level), whole_end = load(page.whole_end);
  const uint64_t last = moments.ns(end) / page.schedule.slot_ns >> level;
  for (uint64_t block = moments.ns(begin) / page.schedule.slot_ns >> level; block <= last;
       ++block) {
    const uint64_t slot = trace::raw_burst_slot(page.schedule, level, block);
    const Burst burst = burst_in(page, moments, slot);
    if (burst.begin > whole_end && burst.end > begin && burst.begin <= end) see(burst);
  }
}

}  // namespace culprit::collector
