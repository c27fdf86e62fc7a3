// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/path_times.h"

#include <algorithm>

namespace culprit::blame {

namespace {

constexpr size_t kSmallestBlock = 64;
constexpr size_t kFanOut = 8;

}  // namespace

PathTimes::PathTimes(std::span<const replay::Activity> activities, Time end, PathSums& scratch)
    : activities_(activities), end_(end) {
  for (size_t block = kSmallestBlock; block <= activities.size(); block *= kFanOut) {
    build_level(block, scratch);
  }
}

/// Whole blocks only; the rest of the activities is summed one by one.
void PathTimes::build_level(size_t block, PathSums& scratch) {
  Level level{block, {0}, {}};
  for (size_t b = 0; b + block <= activities_.size(); b += block) {
    scratch.clear();
    if (levels_.empty()) {
      for (size_t i = b; i < b + block; ++i) add_one(i, Time::min(), Time::max(), scratch);
    } else {
      const Level& below = levels_.back();
      for (size_t s = b / below.block; s < (b + block) / below.block; ++s) {
        for (size_t e = below.first[s]; e < below.first[s + 1]; ++e) {
          scratch.add(below.entries[e].path, below.entries[e].time);
        }
      }
    }
    for (CallPathId path : scratch.paths()) level.entries.push_back({path, scratch[path]});
    level.first.push_back(level.entries.size());
  }
  scratch.clear();
  levels_.push_back(std::move(level));
}

void PathTimes::add_one(size_t i, Time begin, Time end, PathSums& into) const {
  const replay::Activity& activity = activities_[i];
  if (activity.wait.valid()) return;
  const Duration time = std::min(end, end_of(i)) - std::max(begin, activity.begin);
  if (time > Duration::zero()) into.add(activity.path, time);
}

void PathTimes::sum(Time begin, Time end, PathSums& into) const {
  if (begin >= end || activities_.empty()) return;
  const auto after = [this](Time t) {
    return static_cast<size_t>(
        std::upper_bound(activities_.begin(), activities_.end(), t,
                         [](Time x, const replay::Activity& a) { return x < a.begin; }) -
        activities_.begin());
  };
  const size_t first = std::max<size_t>(after(begin), 1) - 1;
  const size_t last = after(end);  // one past the activity that holds `end`
  // The first and the last may be cut; those in between are whole.
  add_one(first, begin, end, into);
  if (last <= first + 1) return;
  size_t i = first + 1;
  while (i + 1 < last) {
    const Level* level = nullptr;
    for (const Level& l : levels_) {
      if (i % l.block == 0 && i + l.block < last) level = &l;
    }
    if (level == nullptr) {
      add_one(i, begin, end, into);
      ++i;
      continue;
    }
    const size_t b = i / level->block;
    for (size_t e = level->first[b]; e < level->first[b + 1]; ++e) {
      into.add(level->entries[e].path, level->entries[e].time);
    }
    i += level->block;
  }
  add_one(i, begin, end, into);
}

}  // namespace culprit::blame
