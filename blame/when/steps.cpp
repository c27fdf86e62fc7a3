// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Iterations are joined over all ranks; visits are known on the rank of their thread, and sent to
// all.
#include "blame/when/steps.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/ranks/exchange.h"
#include "blame/profile/start_up.h"
#include "blame/when/timing.h"

namespace culprit::blame {

namespace {

constexpr size_t kMostSteps = 1 << 16;

/// When iterations of a loop begin first.
struct Loop {
  std::map<int64_t, Time> begins;
  bool is_repeated = false;  ///< some location was in one of them twice
};

using Loops = std::map<std::string, Loop>;

void add_visits(const replay::Run& run, LocationId id, Loops& loops) {
  std::map<RegionId, std::map<int64_t, Time>> seen;  // its end so far, by region and iteration
  for (const replay::StageVisit& visit : run.at(id).stages) {
    const trace::Region& region = run.regions[visit.region.index()];
    if (region.role != trace::RegionRole::iteration) continue;
    Loop& loop = loops[region.name];
    const auto [known, fresh] = seen[visit.region].try_emplace(visit.number, visit.end);
    // Where a function ended in between, a visit comes in pieces.
    loop.is_repeated |= !fresh && known->second != visit.begin;
    known->second = visit.end;
    const auto [at, first] = loop.begins.try_emplace(visit.number, visit.begin);
    if (!first) at->second = std::min(at->second, visit.begin);
  }
}

/// Joins the loops of all ranks, on every rank.
Loops join(Transport& ranks, Loops own) {
  if (ranks.alone()) return own;
  Packer packer;
  for (const auto& [name, loop] : own) {
    packer.put(name), packer.put(loop.is_repeated), packer.put(uint64_t{loop.begins.size()});
    for (const auto& [number, begin] : loop.begins) packer.put(number), packer.put(begin);
  }
  Loops all;
  for (const Parcel& parcel : gather_everywhere(ranks, packer.take())) {
    for (Unpacker from(parcel); !from.done();) {
      Loop& loop = all[from.get_string()];
      loop.is_repeated |= from.get<bool>();
      for (auto left = from.get<uint64_t>(); left > 0; --left) {
        const auto number = from.get<int64_t>();
        const auto begin = from.get<Time>();
        const auto [at, fresh] = loop.begins.try_emplace(number, begin);
        if (!fresh) at->second = std::min(at->second, begin);
      }
    }
  }
  return all;
}

/// When the program itself is there: behind MPI_Init of all, before MPI_Finalize of any.
struct Stretch {
  Time begin, end;
};

Stretch without_start_up(const replay::Run& run) {
  const std::vector<bool> start_up = start_up_paths(run);
  const Time middle = run.begin + Duration::from_nanos(run.wall().nanos() / 2);
  Stretch own{run.begin, run.end};
  for (const LocationId id : run.locations) {
    const replay::Activities& life = run.at(id).activities;
    for (size_t i = 0; i < life.size(); ++i) {
      if (!start_up[life.path(i).index()]) continue;
      if (life.end(i) <= middle) own.begin = std::max(own.begin, life.end(i));
      if (life.begin(i) >= middle) own.end = std::min(own.end, life.begin(i));
    }
  }
  Stretch all = own;
  for (const Stretch& each : concatenate(*run.ranks, std::vector<Stretch>{own})) {
    all.begin = std::max(all.begin, each.begin);
    all.end = std::min(all.end, each.end);
  }
  return all;
}

bool can_be_judged(size_t steps) {
  return steps >= kLeastSteps && steps <= kMostSteps;
}

}  // namespace

Steps::Steps(Time begin, Time end) : kind_(StepKind::slice), end_(end) {
  for (size_t i = 0; i < kSlices; ++i) {
    const double part = static_cast<double>(i) / kSlices;
    begins_.push_back(begin + Duration::from_nanos(static_cast<int64_t>(
                                  part * static_cast<double>((end - begin).nanos()))));
  }
}

Steps::Steps(const replay::Run& run, StepKind kind, std::vector<Time> begins,
             std::vector<int64_t> numbers)
    : kind_(kind), begins_(std::move(begins)), numbers_(std::move(numbers)), end_(run.end) {}

size_t Steps::at(Time time) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), time);
  return next == begins_.begin() ? 0 : static_cast<size_t>(next - begins_.begin()) - 1;
}

Steps equal_parts(const replay::Run& run) {
  const Stretch stretch = without_start_up(run);
  return {stretch.begin, stretch.end};
}

std::optional<Steps> marked_steps(const replay::Run& run) {
  Loops own;
  for (LocationId id : run.locations) add_visits(run, id, own);
  const Loops loops = join(*run.ranks, std::move(own));
  const Loop* most = nullptr;
  for (const auto& [name, loop] : loops) {
    if (loop.is_repeated || !can_be_judged(loop.begins.size())) continue;
    if (most == nullptr || loop.begins.size() > most->begins.size()) most = &loop;
  }
  if (most == nullptr) return {};
  std::vector<std::pair<Time, int64_t>> order;
  for (const auto& [number, begin] : most->begins) order.emplace_back(begin, number);
  std::sort(order.begin(), order.end());
  std::vector<Time> begins;
  std::vector<int64_t> numbers;
  for (const auto& [begin, number] : order) begins.push_back(begin), numbers.push_back(number);
  return Steps(run, StepKind::iteration, std::move(begins), std::move(numbers));
}

std::optional<Steps> steps_of_visits(const replay::Run& run, LocationId location, CallPathId path) {
  std::vector<Time> begins;
  if (run.owns(location)) {
    const replay::Activities& life = run.at(location).activities;
    for (size_t i = 0; i < life.size() && begins.size() <= kMostSteps; ++i) {
      if (life.path(i) == path && life.begin(i) < life.end(i)) begins.push_back(life.begin(i));
    }
  }
  begins = concatenate(*run.ranks, begins);
  if (!can_be_judged(begins.size())) return {};
  return Steps(run, StepKind::call, std::move(begins), {});
}

}  // namespace culprit::blame
