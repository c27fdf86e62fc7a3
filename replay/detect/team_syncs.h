// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Synchronisation points of whole teams of one process.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "replay/detect/detection.h"

namespace culprit::replay {

class TeamSyncs {
 public:
  explicit TeamSyncs(Detection& out) : out_(out) {}

  /// Records that two or more locations, sorted, synchronised.
  void add(std::span<const LocationId> members, Time moment);

 private:
  SyncGroupId group_of(std::span<const LocationId> members);

  Detection& out_;
  std::vector<LocationId> team_;  // the team that synchronised last
  SyncGroupId group_;             // of that
  std::map<std::vector<LocationId>, SyncGroupId> groups_;
};

}  // namespace culprit::replay
