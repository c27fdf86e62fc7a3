// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The order of waits that end at one moment. Propagation goes from the latest wait to the earliest;
// of those that end together, a wait comes before the one that it hands its cost to. That one can
// only be the last wait in its interval, so each has at most one successor, and they form chains.
// Chains are followed from their heads in the order of the heads' locations; where several chains
// join, the last to arrive goes on. Clocks that disagree make circles: these come last, each from
// its lowest location on.
//
// Hardly any run has successors at one moment; all waits then stand where their locations are.
#pragma once

#include <compare>
#include <cstdint>
#include <unordered_map>

#include "blame/delay/delay.h"

namespace culprit::blame {

/// Where a wait stands among those that end at its moment.
struct Standing {
  uint32_t head;      ///< of its chain: its location, or one behind all if it is of a circle
  uint32_t step = 0;  ///< along the chain

  friend auto operator<=>(const Standing&, const Standing&) = default;
};

/// The standing of all waits of this rank's locations, and of all waits that they caused.
class Moments {
 public:
  bool empty() const { return own_.empty() && caused_.empty(); }
  Standing of(WaitRef own) const {
    const auto found = own_.find(key(own));
    return found != own_.end() ? found->second : alone(own.location);
  }
  /// Of the wait with this number (DelayAnalysis::number), or of that which the tie with it belongs
  /// to.
  Standing of_caused(uint32_t number, LocationId waiter) const {
    const auto found = caused_.find(number);
    return found != caused_.end() ? found->second : alone(waiter);
  }

  void set(WaitRef own, Standing standing) { own_[key(own)] = standing; }
  void set_caused(uint32_t number, Standing standing) { caused_[number] = standing; }

 private:
  static uint64_t key(WaitRef ref) { return uint64_t{ref.location.index()} << 32 | ref.wait; }
  /// Of a wait that is nobody's successor.
  static Standing alone(LocationId location) {
    return {static_cast<uint32_t>(location.index()), 0};
  }
  std::unordered_map<uint64_t, Standing> own_;  // of those that are successors
  std::unordered_map<uint32_t, Standing> caused_;
};

/// Everything but costs must be known of `delays`. Collective.
Moments find_moments(const replay::Run& run, const replay::WaitGraph& graph,
                     const DelayAnalysis& delays);

}  // namespace culprit::blame
