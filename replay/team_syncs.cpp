// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/team_syncs.h"

#include <algorithm>

namespace culprit::replay {

/// Mostly it is the team that met last.
GroupId TeamSyncs::group_of(std::span<const Point> points) {
  const auto is = [](LocationId a, const Point& b) { return a == b.location; };
  if (std::equal(team_.begin(), team_.end(), points.begin(), points.end(), is)) return group_;
  team_.clear();
  for (const Point& point : points) team_.push_back(point.location);
  const auto [known, fresh] = groups_.try_emplace(team_);
  if (fresh) known->second = out_.group_of(team_);
  return group_ = known->second;
}

void TeamSyncs::add(std::span<const Point> points) {
  if (points.size() == 2) {
    return out_.meet(points[0].location, points[0].exit, points[1].location, points[1].exit);
  }
  const GroupId group = group_of(points);
  const Instance instance = Detection::instance_of_team(instances_++);
  for (const Point& point : points) {
    out_.at(point.location).sync(Sync::of(group, instance, point.exit));
  }
}

}  // namespace culprit::replay
