// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When a location and its partners last synchronised, during a walk over its synchronisation points
// in the order of time. Partners are looked up directly; the groups of a location are tried from
// the latest synchronisation back, until they are older than the result so far.
#pragma once

#include <algorithm>
#include <vector>

#include "base/flat_map.h"
#include "replay/model/waits.h"

namespace culprit::blame {

class LastSyncs {
 public:
  static constexpr Time kNever = Time::min();

  explicit LastSyncs(const std::vector<replay::SyncGroup>& groups) : groups_(groups) {}

  /// Begins anew, for another location.
  void start() {
    pair_of_.clear();
    pairs_.clear();
    seen_of_.clear();
    seen_.clear();
    latest_ = kNone;
  }

  /// The location's next synchronisation point.
  void add(const replay::Sync& sync) {
    if (sync.of_group()) return add_group(sync.group(), sync.moment());
    const uint32_t fresh = static_cast<uint32_t>(pairs_.size());
    const uint32_t at = pair_of_.at(sync.partner().index(), fresh);
    if (at == fresh) {
      pairs_.push_back(sync.moment());
    } else {
      pairs_[at] = sync.moment();
    }
  }

  /// Returns the moment at which the location and `partner` last synchronised.
  Time last(LocationId partner) const {
    Time found = kNever;
    if (const uint32_t pair = pair_of_.find(partner.index()); pair != kNone) found = pairs_[pair];
    for (uint32_t at = latest_; at != kNone; at = seen_[at].earlier) {
      const SeenSync& seen = seen_[at];
      if (seen.last <= found) break;
      const std::vector<LocationId>& members = groups_[seen.group.index()].members;
      if (std::binary_search(members.begin(), members.end(), partner)) return seen.last;
    }
    return found;
  }

 private:
  static constexpr uint32_t kNone = FlatMap::kNone;
  struct SeenSync {
    Time last;
    replay::SyncGroupId group;
    uint32_t earlier = kNone, later = kNone;
  };

  void add_group(replay::SyncGroupId group, Time moment) {
    if (latest_ != kNone && seen_[latest_].group == group) {
      seen_[latest_].last = moment;
      return;
    }
    const uint32_t fresh = static_cast<uint32_t>(seen_.size());
    const uint32_t at = seen_of_.at(group.index(), fresh);
    if (at == fresh) {
      seen_.push_back({moment, group});
    } else {
      seen_[at].last = moment;
      unlink(at);
    }
    seen_[at].earlier = latest_;
    seen_[at].later = kNone;
    if (latest_ != kNone) seen_[latest_].later = at;
    latest_ = at;
  }

  /// Unlinks an entry that is not the latest.
  void unlink(uint32_t at) {
    const SeenSync& seen = seen_[at];
    seen_[seen.later].earlier = seen.earlier;
    if (seen.earlier != kNone) seen_[seen.earlier].later = seen.later;
  }

  const std::vector<replay::SyncGroup>& groups_;
  FlatMap pair_of_, seen_of_;
  std::vector<Time> pairs_;
  std::vector<SeenSync> seen_;  // a list from the latest to the earliest
  uint32_t latest_ = kNone;
};

}  // namespace culprit::blame
