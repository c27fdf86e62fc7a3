// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/detect/team_syncs.h"

#include <algorithm>

namespace culprit::replay {

/// Mostly this is the team that synchronised last.
SyncGroupId TeamSyncs::group_of(std::span<const LocationId> members) {
  if (std::equal(team_.begin(), team_.end(), members.begin(), members.end())) return group_;
  team_.assign(members.begin(), members.end());
  const auto [known, fresh] = groups_.try_emplace(team_);
  if (fresh) known->second = out_.group_of(team_);
  return group_ = known->second;
}

void TeamSyncs::add(std::span<const LocationId> members, Time moment) {
  if (members.size() == 2) return out_.meet(members[0], members[1], moment);
  const Sync sync = Sync::of(group_of(members), moment);
  for (LocationId member : members) out_.at(member).sync(sync);
}

}  // namespace culprit::replay
