// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which visits belong to one barrier of a team: each member passes the same barriers in the same
// order, so the n-th visits of all members belong together. A member may leave out the last.
#pragma once

#include <span>
#include <vector>

#include "replay/match/teams.h"

namespace culprit::replay {

/// How one member passes a barrier.
struct Arrival {
  LocationId location;
  uint32_t barrier;  ///< index into its barriers; BarrierVisit::kNone: it left without a visit
  Time enter, leave;
  CallPathId path;
};

/// The barriers of one process's teams.
class Barriers {
 public:
  explicit Barriers(const Teams& teams) : teams_(teams) {}

  /// Calls visit(team, n, arrivals) for the n-th barrier of each team of several; arrivals by
  /// location, valid during the call. Returns how many teams have members that visited fewer than
  /// others by more than one.
  template <class Visit>
  uint64_t for_each(const Visit& visit) {
    uint64_t uneven = 0;
    for (size_t t = 0; t < teams_.size(); ++t) {
      const TeamNumber team(t);
      if (teams_.members(team).size() < 2) continue;
      const auto [fewest, most] = begin(team);
      uneven += most > fewest + 1;
      for (size_t n = 0; n < std::min(most, fewest + 1); ++n) visit(team, n, next(team));
    }
    return uneven;
  }

 private:
  struct Visits {
    size_t fewest, most;
  };
  Visits begin(TeamNumber team);
  std::span<const Arrival> next(TeamNumber team);
  const TeamSpan& span(const Teams::Member& member) const {
    return teams_.run().at(member.location).teams[member.span];
  }
  Arrival arrive(const Teams::Member& member, uint32_t& next) const;

  const Teams& teams_;
  // Kept for their memory.
  std::vector<uint32_t> next_;
  std::vector<Arrival> arrivals_;
};

}  // namespace culprit::replay
