// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Counts who comes last to collective operations in which all wait for all, and separates what
// members wait for each other from what the operation itself takes.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "replay/match/collective_part.h"
#include "replay/model/waits.h"

namespace culprit::replay {

/// When a member came to an operation, and left it.
struct Arrival {
  LocationId location;
  Time enter, leave;
};

class Arrivals {
 public:
  /// Of an operation of a communicator; `last` is the position of the last to enter.
  void add(const Run& run, std::span<const Part> parts, size_t last);

  std::vector<ArrivalTally> take();

 private:
  using Key = std::pair<CommId, RegionId>;
  /// By the member's position: members come in the order of their ranks.
  std::map<Key, std::vector<ArrivalTally>> tallies_;
  Key last_key_;
  std::vector<ArrivalTally>* last_rows_ = nullptr;
};

/// Adds one member's part in an operation to its row. `last`: when the last one entered; `before`:
/// the one before that, if this member was the last.
void add_arrival(ArrivalTally& row, const Arrival& member, Time last, bool is_last, Time before);

}  // namespace culprit::replay
