// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/match/threads/barriers.h"

#include <algorithm>

namespace culprit::replay {

Barriers::Visits Barriers::begin(TeamNumber team) {
  Visits visits{SIZE_MAX, 0};
  next_.clear();
  for (const Teams::Member& member : teams_.members(team)) {
    visits.fewest = std::min<size_t>(visits.fewest, span(member).barriers);
    visits.most = std::max<size_t>(visits.most, span(member).barriers);
    next_.push_back(span(member).first_barrier);
  }
  return visits;
}

std::span<const Arrival> Barriers::next(TeamNumber team) {
  arrivals_.clear();
  const auto members = teams_.members(team);
  for (size_t m = 0; m < members.size(); ++m) arrivals_.push_back(arrive(members[m], next_[m]));
  return arrivals_;
}

/// A member at its barrier `next`, which goes on to the one after. One that leaves the team
/// without visiting the barrier at its end arrives there when it leaves.
Arrival Barriers::arrive(const Teams::Member& member, uint32_t& next) const {
  const uint32_t barrier = next;
  if (barrier == BarrierVisit::kNone) {
    const Time end = span(member).end;
    return {member.location, barrier, end, end, CallPathId::none()};
  }
  const BarrierVisit& visit = teams_.run().at(member.location).barriers[barrier];
  next = visit.next;
  const Call call = teams_.run().call(member.location, visit.call);
  return {member.location, barrier, call.enter, call.leave, call.path};
}

}  // namespace culprit::replay
