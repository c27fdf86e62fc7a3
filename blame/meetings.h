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

/// The last meeting of a location with another, as the one sees it.
struct Meeting {
  Time own_exit;
  Time partner_exit;            ///< if `group` is none
  replay::GroupId group;        ///< they met in a synchronisation of this group: ...
  replay::Instance instance{};  ///< ... the partner knows when it left that
};

class Meetings {
 public:
  explicit Meetings(const std::vector<replay::Group>& groups) : groups_(groups) {}

  /// Begins anew, for another location. Whoever never met met when the run began.
  void start(Time begin) {
    begin_ = begin;
    pair_of_.clear();
    pairs_.clear();
    seen_of_.clear();
    seen_.clear();
    latest_ = kNone;
  }

  void add(const replay::Sync& sync) {
    if (sync.of_group()) return add_group(sync);
    const uint32_t fresh = static_cast<uint32_t>(pairs_.size());
    const uint32_t at = pair_of_.at(sync.partner().index(), fresh);
    if (at == fresh) pairs_.emplace_back();
    pairs_[at] = {sync.exit(), sync.partner_exit()};
  }

  Meeting last(LocationId partner) const {
    Meeting found{begin_, begin_, replay::GroupId::none()};
    if (const uint32_t pair = pair_of_.find(partner.index()); pair != kNone) {
      found.own_exit = pairs_[pair].own_exit;
      found.partner_exit = pairs_[pair].partner_exit;
    }
    for (uint32_t at = latest_; at != kNone; at = seen_[at].earlier) {
      const Seen& seen = seen_[at];
      if (seen.own_exit < found.own_exit) break;
      const std::vector<LocationId>& members = groups_[seen.group.index()].members;
      if (!std::binary_search(members.begin(), members.end(), partner)) continue;
      return {seen.own_exit, {}, seen.group, seen.instance};
    }
    return found;
  }

 private:
  static constexpr uint32_t kNone = FlatMap::kNone;
  struct Pair {
    Time own_exit, partner_exit;
  };
  struct Seen {
    replay::GroupId group;
    replay::Instance instance;
    Time own_exit;
    uint32_t earlier = kNone, later = kNone;
  };

  void add_group(const replay::Sync& sync) {
    const uint32_t fresh = static_cast<uint32_t>(seen_.size());
    const uint32_t at = seen_of_.at(sync.group().index(), fresh);
    if (at == fresh) {
      seen_.push_back({sync.group(), sync.instance(), sync.exit()});
    } else {
      seen_[at].instance = sync.instance();
      seen_[at].own_exit = sync.exit();
      if (at == latest_) return;
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
  Time begin_;
  FlatMap pair_of_, seen_of_;
  std::vector<Pair> pairs_;
  std::vector<Seen> seen_;  // a list from the latest to the earliest
  uint32_t latest_ = kNone;
};

}  // namespace culprit::blame
