// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/timeline.h"

#include <algorithm>
#include <utility>

#include "base/result.h"

namespace culprit::assemble {
namespace {

Time middle(Time a, Time b) {
  return Time::from_nanos(a.nanos() + (b.nanos() - a.nanos()) / 2);
}

/// Where the thread is not in the user's own code, whatever a sample may show.
bool hides_samples(Level level) {
  return level == Level::call || level == Level::sync || level == Level::tool ||
         level == Level::off;
}

bool is_function(Level level) {
  return level == Level::frame || level == Level::root || level == Level::function;
}

}  // namespace

Time Timeline::advance(Time time) {
  last_ = std::max(last_, time);
  return last_;
}

// Enters and leaves that are made up for moments before the reading come before it, those for its
// own moment after it.
void Timeline::read_counters(Time time, MetricSetId set, std::vector<double> values) {
  if (reading_) write_reading();
  reading_ = {time, set, std::move(values)};
}

void Timeline::write_reading() {
  sink().metrics(advance(reading_->time), reading_->set, reading_->values);
  reading_.reset();
}

void Timeline::push(Time time, Entry entry) {
  if (reading_ && time >= reading_->time) write_reading();
  sink().enter(advance(time), entry.region);
  stack_.push_back(entry);
}

void Timeline::pop(Time time) {
  if (reading_ && time >= reading_->time) write_reading();
  sink().leave(advance(time), stack_.back().region);
  stack_.pop_back();
}

size_t Timeline::innermost() const {
  for (size_t i = stack_.size(); i-- > 0;) {
    if (stack_[i].level != Level::frame) return i;
  }
  return npos;
}

size_t Timeline::base() const {
  for (size_t i = stack_.size(); i-- > 0;) {
    const Level level = stack_[i].level;
    if (level == Level::parallel || level == Level::task || level == Level::root) return i;
  }
  return npos;
}

std::span<const Timeline::Entry> Timeline::frames() const {
  const size_t construct = innermost();
  return std::span(stack_).subspan(construct == npos ? 0 : construct + 1);
}

void Timeline::enter(Time time, Level level, RegionId region, uint64_t id) {
  push(time, {region, level, id});
  known_ = last_;
}

void Timeline::leave(Time time, size_t depth) {
  CULPRIT_CHECK(depth < stack_.size());
  observe_bare(time);
  while (stack_.size() > depth) pop(time);
  known_ = last_;
}

std::vector<RegionId> Timeline::relative(const UserPath& path) const {
  const size_t construct = innermost();
  const auto& all = path.frames;
  size_t taken = 0;
  size_t begin = 0;
  if (path.in_construct) {
    const size_t from = base();
    begin = from == npos ? 0 : from + (stack_[from].level == Level::root ? 0 : 1);
  }
  for (size_t i = begin; construct != npos && i <= construct; ++i) {
    if (!is_function(stack_[i].level)) continue;
    const auto found =
        std::find(all.begin() + static_cast<ptrdiff_t>(taken), all.end(), stack_[i].region);
    if (found != all.end()) taken = static_cast<size_t>(found - all.begin()) + 1;
  }
  return {all.begin() + static_cast<ptrdiff_t>(taken), all.end()};
}

void Timeline::set_frames(Time leave_time, Time enter_time, std::span<const RegionId> wanted) {
  const auto now = frames();
  size_t common = 0;
  while (common < now.size() && common < wanted.size() && now[common].region == wanted[common]) {
    ++common;
  }
  for (size_t surplus = now.size() - common; surplus > 0; --surplus) pop(leave_time);
  for (const RegionId region : wanted.subspan(common)) {
    push(enter_time, {region, Level::frame, 0});
  }
}

void Timeline::play_samples(Time until, bool to_the_end) {
  Time before = known_;
  for (const Sample& sample : samples_) {
    const Time change = middle(before, sample.time);
    set_frames(change, change, relative(*sample.path));
    before = sample.time;
  }
  samples_.clear();
  known_ = to_the_end ? until : middle(before, until);
}

void Timeline::settle(Time time, const std::vector<RegionId>& exact) {
  const bool sampled = !samples_.empty();
  if (sampled) play_samples(time, false);
  // With a sample the change lies halfway between it and now; without, what was certain is kept.
  set_frames(known_, sampled ? known_ : time, exact);
  known_ = time;
}

void Timeline::observe(Time time, const UserPath& path) {
  settle(time, relative(path));
}

void Timeline::observe_bare(Time time) {
  settle(time, {});
}

void Timeline::observe_nothing(Time time) {
  if (!samples_.empty()) play_samples(time, true);
  known_ = time;
}

void Timeline::observe_innermost(Time time, std::span<const RegionId> known, bool certain) {
  if (known.empty()) return observe_bare(time);
  std::vector<RegionId> path =
      samples_.empty() ? std::vector<RegionId>() : relative(*samples_.back().path);
  if (samples_.empty()) {
    for (const Entry& entry : frames()) path.push_back(entry.region);
  }
  const auto found = std::find(path.rbegin(), path.rend(), known.front());
  if (found != path.rend()) {
    path.erase(found.base() - 1, path.end());
    path.insert(path.end(), known.begin(), known.end());
  } else {
    path.clear();
    if (certain) path = relative({{known.begin(), known.end()}, true});
  }
  settle(time, path);
}

void Timeline::sample(Time time, const UserPath& path) {
  const size_t construct = innermost();
  const bool hidden = construct != npos && hides_samples(stack_[construct].level);
  if (hidden || !path.says_something() || time < known_) return;
  samples_.push_back({time, &path});
}

void Timeline::drop_samples(Time time) {
  std::erase_if(samples_, [time](const Sample& sample) { return sample.time >= time; });
}

}  // namespace culprit::assemble
