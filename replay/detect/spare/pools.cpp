// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All times of a pool's threads are visited in order. At each moment at which fewer threads are
// awake than the pool needs, those that will be woken next wait for their work, as many as are
// missing. A thread that waits for another one of its pool waits for what that one does, and so on
// back to when the work came from outside.
#include "replay/detect/spare/pools.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace culprit::replay {

namespace {

/// This part of a pool's work may lie before its first burst, and behind its last.
constexpr double kOutside = 0.01;

/// The number of threads that are awake, from a moment on.
struct Level {
  Time since;
  int awake;
};

std::vector<Level> levels_of(std::span<Sleeper* const> pool) {
  std::map<Time, int> changes;
  for (const Sleeper* sleeper : pool) {
    for (const Stretch& stretch : sleeper->awake) {
      ++changes[stretch.begin];
      --changes[stretch.end];
    }
  }
  std::vector<Level> levels;
  int awake = 0;
  for (const auto& [time, change] : changes) levels.push_back({time, awake += change});
  return levels;
}

/// When a pool has work, and how many threads it needs for that.
struct Work {
  Stretch when;
  size_t threads = 0;
};

/// From the first burst to the end of the last.
Stretch when_at_work(const std::vector<Level>& levels) {
  double all = 0, until = 0;
  const auto work = [&](size_t i) {
    return levels[i].awake * (levels[i + 1].since - levels[i].since).seconds();
  };
  for (size_t i = 0; i + 1 < levels.size(); ++i) all += work(i);
  Stretch when{Time::max(), Time::min()};
  for (size_t i = 0; i + 1 < levels.size(); ++i) {
    if (until >= (1 - kOutside) * all) break;
    until += work(i);
    if (until <= kOutside * all) continue;
    when.begin = std::min(when.begin, levels[i].since);
    when.end = levels[i + 1].since;
  }
  return when;
}

Work work_of(const std::vector<Level>& levels) {
  Work work{when_at_work(levels), 0};
  if (work.when.begin >= work.when.end) return work;
  std::vector<double> together;  // by how many: the time in which as many or more were awake
  for (size_t i = 0; i + 1 < levels.size(); ++i) {
    const Time begin = std::max(levels[i].since, work.when.begin);
    const Time end = std::min(levels[i + 1].since, work.when.end);
    if (begin >= end) continue;
    const auto awake = static_cast<size_t>(levels[i].awake);
    if (together.size() < awake) together.resize(awake);
    for (size_t k = 0; k < awake; ++k) together[k] += (end - begin).seconds();
  }
  const double enough = kConsiderable * (work.when.end - work.when.begin).seconds();
  while (work.threads < together.size() && together[work.threads] >= enough) ++work.threads;
  return work;
}

/// Makes those sleeps waits for work that the pool needs.
class Claims {
 public:
  Claims(std::span<Sleeper* const> pool, const Work& work, const std::vector<Level>& levels)
      : work_(work), levels_(levels) {
    for (Sleeper* sleeper : pool) {
      for (Sleep& sleep : sleeper->sleeps) {
        const bool brings_work = sleep.end > work.when.begin && sleep.end <= work.when.end;
        if (sleep.waker.valid() && brings_work) sleeps_.push_back(&sleep);
      }
    }
    std::sort(sleeps_.begin(), sleeps_.end(),
              [](const Sleep* a, const Sleep* b) { return a->begin < b->begin; });
  }

  void find() {
    std::set<Time> moments;
    for (const Level& level : levels_) moments.insert(level.since);
    for (const Sleep* sleep : sleeps_) moments.insert({sleep->begin, sleep->end});
    for (const Time now : moments) {
      if (now >= work_.when.end) break;
      advance(now);
      if (now >= work_.when.begin) claim(now);
    }
  }

 private:
  void advance(Time now) {
    while (level_ + 1 < levels_.size() && levels_[level_ + 1].since <= now) ++level_;
    for (; next_ < sleeps_.size() && sleeps_[next_]->begin <= now; ++next_) {
      idle_.insert({sleeps_[next_]->end, next_});
    }
    const auto until = [now](std::set<Key>& set) {
      while (!set.empty() && set.begin()->first <= now) set.erase(set.begin());
    };
    until(idle_);
    until(claimed_);
  }

  void claim(Time now) {
    const auto awake = levels_.empty() || levels_[level_].since > now
                           ? size_t{0}
                           : static_cast<size_t>(levels_[level_].awake);
    while (!idle_.empty() && awake + claimed_.size() < work_.threads) {
      const Key next = *idle_.begin();
      idle_.erase(idle_.begin());
      claimed_.insert(next);
      sleeps_[next.second]->needed = std::max(now, sleeps_[next.second]->begin);
    }
  }

  using Key = std::pair<Time, size_t>;  // the end of a sleep, and its place
  const Work& work_;
  const std::vector<Level>& levels_;
  std::vector<Sleep*> sleeps_;  // by begin
  size_t level_ = 0, next_ = 0;
  std::set<Key> idle_, claimed_;
};

/// Sleeps that other threads of the pool end: since when what they end with was on its way through
/// the pool.
class Chains {
 public:
  explicit Chains(std::span<Sleeper* const> pool) {
    for (Sleeper* sleeper : pool) {
      members_[sleeper->id] = sleeper;
      for (Sleep& sleep : sleeper->sleeps) order_.push_back(&sleep);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [](const Sleep* a, const Sleep* b) { return a->end < b->end; });
  }

  void find() {
    for (Sleep* sleep : order_) {
      const auto waker = members_.find(sleep->waker);
      origin_[sleep] = sleep->end;
      if (!sleep->waker.valid() || waker == members_.end()) continue;
      const Time origin = origin_of(*waker->second, *sleep);
      origin_[sleep] = origin;
      sleep->needed = std::min(sleep->needed, std::max(sleep->begin, origin));
    }
  }

 private:
  /// Since when the waker, or who woke it, had what it then passed on.
  Time origin_of(const Sleeper& waker, const Sleep& woken) const {
    const auto next =
        std::partition_point(waker.sleeps.begin(), waker.sleeps.end(),
                             [&](const Sleep& sleep) { return sleep.end <= woken.end; });
    if (next == waker.sleeps.begin()) return waker.awake.empty() ? woken.end : Time::min();
    const auto before = origin_.find(&*std::prev(next));
    return before == origin_.end() ? woken.end : before->second;
  }

  std::map<LocationId, Sleeper*> members_;
  std::vector<Sleep*> order_;
  std::map<const Sleep*, Time> origin_;
};

}  // namespace

void find_needed(std::span<Sleeper* const> pool) {
  const std::vector<Level> levels = levels_of(pool);
  const Work work = work_of(levels);
  Claims(pool, work, levels).find();
  Chains(pool).find();
  if (work.threads == 0) return;
  // What the others sleep for is not known, and may be a part of their work.
  for (Sleeper* sleeper : pool) {
    for (Sleep& sleep : sleeper->sleeps) {
      const bool within = sleep.begin >= work.when.begin && sleep.end <= work.when.end;
      if (!sleep.waker.valid() && within) sleep.needed = sleep.begin;
    }
  }
}

}  // namespace culprit::replay
