// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A pyramid of sums over blocks of activities: a query adds whole blocks where it can, and single
// activities at both ends.
#include "blame/profile/path_times.h"

#include <algorithm>

namespace culprit::blame {

namespace {

constexpr size_t kSmallestBlock = 64;
constexpr size_t kFanOut = 8;

}  // namespace

PathTimes::PathTimes(const replay::Run& run, LocationId id, std::span<const replay::Wait> waits,
                     PathSums& scratch)
    : run_(&run), activities_(&run.at(id).activities), waits_(waits) {
  mark_waits();
  for (size_t block = kSmallestBlock; block <= activities_->size(); block *= kFanOut) {
    build_level(block, scratch);
  }
}

void PathTimes::mark_waits() {
  holds_wait_.resize(activities_->size());
  for (const replay::Wait& wait : waits_) {
    for (size_t i = wait.activity; i < activities_->size() && activities_->begin(i) < wait.end;
         ++i) {
      if (waits_at(*run_, wait, activities_->path(i))) holds_wait_[i] = true;
    }
  }
}

/// Whole blocks only; the rest of the activities is summed one by one.
void PathTimes::build_level(size_t block, PathSums& scratch) {
  Level level{block, {}, {}};
  level.first.push_back(0);
  for (size_t b = 0; b + block <= activities_->size(); b += block) {
    scratch.clear();
    if (levels_.empty()) {
      size_t wait = first_wait_from(activities_->end(b + block - 1), waits_.size());
      for (size_t i = b + block; i > b; --i) add_whole(i - 1, wait, scratch);
    } else {
      const Level& below = levels_.back();
      const size_t last = below.first[(b + block) / below.block];
      for (size_t e = below.first[b / below.block]; e < last; ++e) {
        scratch.add(below.entries[e].path, below.entries[e].time);
      }
    }
    for (CallPathId path : scratch.paths()) level.entries.push_back({scratch[path], path});
    level.first.push_back(static_cast<uint32_t>(level.entries.size()));
  }
  scratch.clear();
  levels_.push_back(std::move(level));
}

/// The first wait that begins at `time` or later; `wait` is one of those, and mostly not far.
size_t PathTimes::first_wait_from(Time time, size_t wait) const {
  constexpr size_t kNear = 16;
  for (size_t n = 0; n < kNear; ++n, --wait) {
    if (wait == 0 || waits_[wait - 1].begin < time) return wait;
  }
  const auto found =
      std::lower_bound(waits_.begin(), waits_.begin() + static_cast<long>(wait), time,
                       [](const replay::Wait& w, Time t) { return w.begin < t; });
  return static_cast<size_t>(found - waits_.begin());
}

/// Adds the part of activity `i` that lies within [begin, end) and in no wait. `wait` begins at
/// `end` or later; it moves back with the activities.
void PathTimes::add_cut(size_t i, Time begin, Time end, size_t& wait, PathSums& into) const {
  begin = std::max(begin, activities_->begin(i));
  end = std::min(end, activities_->end(i));
  if (begin >= end) return;
  const CallPathId path = activities_->path(i);
  Duration time = end - begin;
  if (holds_wait_[i]) {
    wait = first_wait_from(end, wait);
    for (size_t w = wait; w > 0 && waits_[w - 1].end > begin; --w) {
      const replay::Wait& inside = waits_[w - 1];
      if (!waits_at(*run_, inside, path)) continue;
      time -= std::min(inside.end, end) - std::max(inside.begin, begin);
    }
  }
  into.add(path, time);
}

/// Activities [begin, i), all of them whole.
void PathTimes::add_run_back(size_t begin, size_t i, size_t& wait, PathSums& into) const {
  while (i > begin) {
    const Level* level = nullptr;
    for (const Level& l : levels_) {
      if (i % l.block != 0 || i - begin < l.block) break;
      level = &l;
    }
    if (level == nullptr) {
      const size_t until = std::max(begin, (i - 1) / kSmallestBlock * kSmallestBlock);
      while (i > until) add_whole(--i, wait, into);
      continue;
    }
    i -= level->block;
    const size_t b = i / level->block;
    for (size_t e = level->first[b]; e < level->first[b + 1]; ++e) {
      into.add(level->entries[e].path, level->entries[e].time);
    }
  }
}

void PathTimes::sum(Time begin, Time end, PathSums& into) const {
  if (begin >= end || activities_->empty()) return;
  sum_back(begin, end, activities_->before(end), first_wait_from(end, waits_.size()), into);
}

void PathTimes::sum_back(Time begin, Time end, size_t last, size_t wait, PathSums& into) const {
  if (begin >= end || activities_->empty()) return;
  // The first and the last may be cut; those in between are whole.
  add_cut(last, begin, end, wait, into);
  const size_t first = activities_->after_back(begin, last);
  if (first >= last) return;
  add_run_back(first + 1, last, wait, into);
  add_cut(first, begin, end, wait, into);
}

}  // namespace culprit::blame
