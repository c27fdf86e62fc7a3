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

  /// Two or more locations, sorted, met.
  void add(std::span<const LocationId> members, Time moment);

 private:
  GroupId group_of(std::span<const LocationId> members);

  Detection& out_;
  std::vector<LocationId> team_;  // that met last
  GroupId group_;                 // of that
  std::map<std::vector<LocationId>, GroupId> groups_;
};

}  // namespace culprit::replay
