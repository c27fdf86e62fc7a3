// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Both walks pass a location's steps in the same order, so the k-th visit of the first walk is the
// k-th visit that the second changes.
#include "predict/rerun/alterations.h"

#include <algorithm>
#include <utility>

#include "base/result.h"

namespace culprit::predict {

Alterations::Alterations(std::vector<Alteration> list, size_t callpaths, size_t locations)
    : list_(std::move(list)), of_path_(callpaths), memberships_(locations) {
  CULPRIT_CHECK(list_.size() <= kMostAlterations);
  for (uint32_t a = 0; a < list_.size(); ++a) {
    for (CallPathId path : list_[a].paths) of_path_[path.index()] |= AlterationSet{1} << a;
    if (list_[a].way != Way::balanced) continue;
    for (uint32_t m = 0; m < list_[a].sharers.members.size(); ++m) {
      memberships_[list_[a].sharers.members[m].index()].push_back({a, m});
    }
  }
}

StepDifferences::StepDifferences(const Alterations& all, LocationId id) : all_(&all) {
  for (uint32_t a = 0; a < all.size(); ++a) {
    if (all[a].way != Way::balanced) concerned_ |= AlterationSet{1} << a;
  }
  for (const Alterations::Membership& own : all.of_location(id)) {
    const Spread& spread = all[own.alteration].spread;
    if (spread.shares.empty()) continue;
    concerned_ |= AlterationSet{1} << own.alteration;
    levels_.push_back({own.alteration, Leveller(spread.shares[own.member])});
  }
  find_next_given();
}

void StepDifferences::find_next_given() {
  next_given_ = Passage::kNone;
  for (const Level& level : levels_) {
    next_given_ = std::min(next_given_, level.leveller.next_given());
  }
}

OtherTimes times_with(const Alterations& all, AlterationSet set, const EventGraph& graph) {
  OtherTimes times(graph.steps.size());
  for (LocationId id : graph.locations) {
    const Column<Step>& steps = graph.steps[id.index()];
    StepDifferences differences(all, id);
    for (size_t i = 0; i < steps.size(); ++i) {
      differences.pass(steps[i], [&](uint32_t alteration, double nanos) {
        if ((set >> alteration & 1) == 0 || nanos == 0) return;
        double& time = other_times(graph, id, times[id.index()])[i];
        const bool is_idle = steps[i].kind() == StepKind::idle;
        if (time == kAsItWas) time = is_idle ? 0 : static_cast<double>(steps[i].amount);
        time += nanos;
      });
    }
  }
  return times;
}

}  // namespace culprit::predict
