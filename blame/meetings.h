// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where a location and its partners met last, while walking over its synchronisation points in the
// order of their exits. Partners are looked up at once; of the groups that a location belongs to,
// those it met in last are tried first, and none that lies further back than what was found.
#pragma once

#include <algorithm>
#include <vector>

#include "base/flat_map.h"
#include "replay/waits.h"

namespace culprit::blame {

class Meetings {
 public:
  static constexpr uint32_t kNever = UINT32_MAX;

  explicit Meetings(const std::vector<replay::Group>& groups) : groups_(groups) {}

  /// Begins anew, for another location.
  void start() {
    pair_of_.clear();
    pairs_.clear();
    seen_of_.clear();
    seen_.clear();
    latest_ = kNone;
  }

  /// The location's synchronisation point of that number.
  void add(const replay::Sync& sync, uint32_t number) {
    const Point point{sync.exit(), number};
    if (sync.of_group()) return add_group(sync.group(), point);
    const uint32_t fresh = static_cast<uint32_t>(pairs_.size());
    const uint32_t at = pair_of_.at(sync.partner().index(), fresh);
    if (at == fresh) {
      pairs_.push_back(point);
    } else {
      pairs_[at] = point;
    }
  }

  /// The number of the synchronisation point in which the location and `partner` met last.
  uint32_t last(LocationId partner) const {
    Point found;
    if (const uint32_t pair = pair_of_.find(partner.index()); pair != kNone) found = pairs_[pair];
    for (uint32_t at = latest_; at != kNone; at = seen_[at].earlier) {
      const Seen& seen = seen_[at];
      if (seen.last.exit < found.exit) break;
      const std::vector<LocationId>& members = groups_[seen.group.index()].members;
      if (!std::binary_search(members.begin(), members.end(), partner)) continue;
      return seen.last.number;
    }
    return found.number;
  }

 private:
  static constexpr uint32_t kNone = FlatMap::kNone;
  struct Point {
    Time exit = Time::min();
    uint32_t number = kNever;
  };
  struct Seen {
    Point last;
    replay::GroupId group;
    uint32_t earlier = kNone, later = kNone;
  };

  void add_group(replay::GroupId group, const Point& point) {
    if (latest_ != kNone && seen_[latest_].group == group) {
      seen_[latest_].last = point;
      return;
    }
    const uint32_t fresh = static_cast<uint32_t>(seen_.size());
    const uint32_t at = seen_of_.at(group.index(), fresh);
    if (at == fresh) {
      seen_.push_back({point, group});
    } else {
      seen_[at].last = point;
      unlink(at);
    }
    seen_[at].earlier = latest_;
    seen_[at].later = kNone;
    if (latest_ != kNone) seen_[latest_].later = at;
    latest_ = at;
  }

  /// Of one that is not the latest.
  void unlink(uint32_t at) {
    const Seen& seen = seen_[at];
    seen_[seen.later].earlier = seen.earlier;
    if (seen.earlier != kNone) seen_[seen.earlier].later = seen.later;
  }

  const std::vector<replay::Group>& groups_;
  FlatMap pair_of_, seen_of_;
  std::vector<Point> pairs_;
  std::vector<Seen> seen_;  // a list from the latest to the earliest
  uint32_t latest_ = kNone;
};

}  // namespace culprit::blame
