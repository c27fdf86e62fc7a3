// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Synchronisation points of whole teams of one process. The process numbers them itself, so that
// numbers do not depend on who else is looking for some at the same time.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "replay/detection.h"

namespace culprit::replay {

class TeamSyncs {
 public:
  struct Point {
    LocationId location;
    Time exit;  ///< of its own operation
  };

  explicit TeamSyncs(Detection& out) : out_(out) {}

  /// Two or more locations met; sorted by location.
  void add(std::span<const Point> points);

 private:
  GroupId group_of(std::span<const Point> points);

  Detection& out_;
  uint64_t instances_ = 0;
  std::vector<LocationId> team_;  // that met last
  GroupId group_;                 // of that
  std::map<std::vector<LocationId>, GroupId> groups_;
};

}  // namespace culprit::replay
