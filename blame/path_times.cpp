// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/path_times.h"

#include <algorithm>

namespace culprit::blame {

namespace {

constexpr size_t kSmallestBlock = 64;
constexpr size_t kFanOut = 8;

}  // namespace

PathTimes::PathTimes(const replay::Activities& activities, std::span<const replay::Wait> waits,
                     PathSums& scratch)
    : activities_(&activities), waits_(waits) {
  mark_waits();
  for (size_t block = kSmallestBlock; block <= activities.size(); block *= kFanOut) {
    build_level(block, scratch);
  }
}

void PathTimes::mark_waits() {
  holds_wait_.resize(activities_->size());
  for (const replay::Wait& wait : waits_) {
    for (size_t i = activities_->after(wait.begin);
         i < activities_->size() && activities_->begin(i) < wait.end; ++i) {
      if (activities_->path(i) == wait.path) holds_wait_[i] = true;
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
      for (size_t i = b; i < b + block; ++i) add_whole(i, scratch);
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

/// What of activity `i` lies within [begin, end) and in no wait.
void PathTimes::add_cut(size_t i, Time begin, Time end, PathSums& into) const {
  begin = std::max(begin, activities_->begin(i));
  end = std::min(end, activities_->end(i));
  if (begin >= end) return;
  const CallPathId path = activities_->path(i);
  Duration time = end - begin;
  if (holds_wait_[i]) {
    auto wait = std::upper_bound(waits_.begin(), waits_.end(), begin,
                                 [](Time t, const replay::Wait& w) { return t < w.end; });
    for (; wait != waits_.end() && wait->begin < end; ++wait) {
      if (wait->path == path) time -= std::min(wait->end, end) - std::max(wait->begin, begin);
    }
  }
  into.add(path, time);
}

/// Activities [i, end), all of them whole.
void PathTimes::add_run(size_t i, size_t end, PathSums& into) const {
  while (i < end) {
    const Level* level = nullptr;
    for (const Level& l : levels_) {
      if (i % l.block != 0 || i + l.block > end) break;
      level = &l;
    }
    if (level == nullptr) {
      add_whole(i++, into);
      continue;
    }
    const size_t b = i / level->block;
    for (size_t e = level->first[b]; e < level->first[b + 1]; ++e) {
      into.add(level->entries[e].path, level->entries[e].time);
    }
    i += level->block;
  }
}

void PathTimes::sum(Time begin, Time end, PathSums& into) const {
  if (begin >= end || activities_->empty()) return;
  const size_t first = activities_->after(begin);
  // Most intervals are short: look near their begin.
  size_t last = first;
  for (size_t n = 0; n < 16 && activities_->end(last) < end && last + 1 < activities_->size();
       ++n) {
    ++last;
  }
  if (activities_->end(last) < end) last = activities_->before(end);
  // The first and the last may be cut; those in between are whole.
  add_cut(first, begin, end, into);
  if (last == first) return;
  add_run(first + 1, last, into);
  add_cut(last, begin, end, into);
}

}  // namespace culprit::blame
