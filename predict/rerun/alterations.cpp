// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Both walks pass a location's steps in the same order, so what the first finds in its k-th visit
// is what the second levels.
#include "predict/rerun/alterations.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "base/result.h"

namespace culprit::predict {

double Alteration::Group::moved_s() const {
  double nanos = 0;
  for (const Visits& visits : own) nanos += moved(visits, mean.front());
  return 1e-9 * nanos;
}

Alterations::Alterations(std::vector<Alteration> list, size_t callpaths, size_t locations)
    : list_(std::move(list)), of_path_(callpaths), shares_(locations) {
  CULPRIT_CHECK(list_.size() <= kMostAlterations);
  for (uint32_t a = 0; a < list_.size(); ++a) {
    for (CallPathId path : list_[a].paths) of_path_[path.index()] |= AlterationSet{1} << a;
    for (uint32_t g = 0; g < list_[a].groups.size(); ++g) {
      Alteration::Group& group = list_[a].groups[g];
      group.own.resize(group.sharers.members.size());
      for (uint32_t m = 0; m < group.sharers.members.size(); ++m) {
        shares_[group.sharers.members[m].index()].push_back({a, g, m});
      }
    }
  }
}

void Alterations::measure(const Outline& outline, unsigned threads, Budget& budget) {
  const std::vector<LocationId>& locations = outline.run.locations;
  parallel_for(locations.size(), threads,
               [&](size_t i) { measure_one(outline, locations[i], budget); });
  for (Alteration& alteration : list_) {
    for (Alteration::Group& group : alteration.groups) group.mean.emplace_back(group.own);
  }
}

void Alterations::measure_one(const Outline& outline, LocationId id, Budget& budget) {
  const std::vector<Share>& shares = of_location(id);
  if (shares.empty()) return;
  const auto own = [&](const Share& share) -> Visits& {
    return list_[share.alteration].groups[share.group].own[share.member];
  };
  StepReader reader(outline, id);
  Passage at;
  Spender spender(budget);
  for (Step step{}; reader.next(step); at.pass(step)) {
    spender.step();
    if (step.kind() == StepKind::work && of_path_[step.what] != 0) {
      for (const Share& share : shares) {
        const bool is_shared = (of_path_[step.what] >> share.alteration & 1) != 0;
        if (is_shared) own(share).add(static_cast<double>(step.amount), at);
      }
    } else if (step.kind() == StepKind::signal) {
      for (const Share& share : shares) {
        const bool of_one_process = group(share).sharers.of_one_process;
        if (ends_part(step, outline.found.hubs, of_one_process)) own(share).end_part(at);
      }
    }
  }
  for (const Share& share : shares) own(share).finish(at);
}

StepDifferences::StepDifferences(const Alterations& all, const Column<Hub>& hubs, LocationId id)
    : all_(&all), hubs_(&hubs) {
  for (uint32_t a = 0; a < all.size(); ++a) {
    if (!all[a].balanced) concerned_ |= AlterationSet{1} << a;
  }
  for (const Alterations::Share& share : all.of_location(id)) {
    if (!all[share.alteration].balanced) continue;
    const Alteration::Group& group = all.group(share);
    concerned_ |= AlterationSet{1} << share.alteration;
    levels_.push_back({share.alteration, group.sharers.of_one_process,
                       Leveller(group.own[share.member], group.mean.front())});
  }
  find_next_given();
}

void StepDifferences::end_parts(const Hub& hub) {
  if (!hub.of_team && !hub.of_world) return;
  for (Level& level : levels_) {
    if (level.of_one_process ? hub.of_team : hub.of_world) level.leveller.end_part();
  }
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
    StepDifferences differences(all, graph.hubs, id);
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
