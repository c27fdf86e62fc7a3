// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/match/teams.h"

namespace culprit::replay {

Teams::Teams(const Run& run, std::span<const LocationId> locations)
    : run_(run), locations_(locations) {
  size_t forks = 0;
  for (LocationId id : locations) {
    first_fork_.push_back(forks);
    forks += run.at(id).forks.size();
  }
  first_.assign(forks + 1, 0);
  count_.assign(forks, 0);
  for (LocationId id : locations) {
    for (const TeamSpan& span : run.at(id).teams) {
      if (const TeamNumber team = of(span); team.valid()) ++first_[team.index() + 1];
    }
  }
  for (size_t team = 0; team < forks; ++team) first_[team + 1] += first_[team];
  members_.resize(first_.back());
  for (LocationId id : locations) {
    const auto& spans = run.at(id).teams;
    for (uint32_t s = 0; s < spans.size(); ++s) {
      const TeamNumber team = of(spans[s]);
      if (!team.valid()) continue;
      uint32_t& count = count_[team.index()];
      Member* const members = members_.data() + first_[team.index()];
      if (count > 0 && members[count - 1].location == id) continue;
      members[count++] = {id, s};
    }
  }
}

size_t Teams::position_of_master(TeamNumber team) const {
  const auto after = std::upper_bound(first_fork_.begin(), first_fork_.end(), team.index());
  return static_cast<size_t>(after - first_fork_.begin()) - 1;
}

LocationId Teams::master(TeamNumber team) const {
  return locations_[position_of_master(team)];
}

const Fork& Teams::fork(TeamNumber team) const {
  const size_t master = position_of_master(team);
  return run_.at(locations_[master]).forks[team.index() - first_fork_[master]];
}

}  // namespace culprit::replay
