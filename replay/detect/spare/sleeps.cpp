// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Python's threads wait for the interpreter's global lock in timed waits for a condition, which
// look like waits for work. Its own locks, queues and events never use these.
#include "replay/detect/spare/sleeps.h"

#include <algorithm>
#include <string_view>

#include "replay/read/helpers.h"
#include "trace/pseudo_regions.h"
#include "trace/thread_calls.h"

namespace culprit::replay {

namespace {

using trace::ThreadCallKind;

bool is_python(const trace::Region& region) {
  return std::string_view(region.file).ends_with(".py");
}

/// Whether a path is a timed wait for a condition that a function of Python's makes by itself.
bool is_global_lock(const Run& run, CallPathId path, const trace::ThreadCall& call) {
  if (call.kind != ThreadCallKind::condition || call.how != trace::ThreadCallHow::timed) {
    return false;
  }
  const CallPathId caller = run.callpaths[path].parent;
  const RegionId region = caller.valid() ? run.callpaths[caller].region : RegionId();
  return region.valid() && is_python(run.regions[region.index()]);
}

bool may_bring_work(Pattern found) {
  constexpr Pattern kFor[] = {pattern("thread.condition"), pattern("thread.semaphore"),
                              pattern("thread.futex"),     pattern("thread.pipe"),
                              pattern("thread.event"),     pattern("thread.queue"),
                              pattern("thread.signal")};
  return std::find(std::begin(kFor), std::end(kFor), found) != std::end(kFor);
}

/// The sleeps whose end is known, then all others that do not overlap them, in order of time.
std::vector<Sleep> list_sleeps(const Run& run, const Column<Wait>& waits,
                               const SleepingPaths& paths, LocationId id) {
  const Timeline& line = run.at(id);
  std::vector<Sleep> sleeps;
  for (const Wait& wait : waits) {
    if (!paths.is_for_work(wait)) continue;
    sleeps.push_back({wait.begin, wait.end, wait.cause, wait.end, {}});
  }
  const size_t known = sleeps.size();
  size_t next = 0;
  const Activities& life = line.activities;
  for (size_t i = 0; i < life.size(); ++i) {
    const Time begin = std::max(life.begin(i), line.first);
    const Time end = std::min(life.end(i), line.last);
    if (!paths.contains(life.path(i)) || begin >= end) continue;
    while (next < known && sleeps[next].end <= begin) ++next;
    // What is left of a call behind its wait is the thread's waking up.
    const Time until = next < known ? std::min(end, sleeps[next].begin) : end;
    if (begin < until) sleeps.push_back({begin, until, {}, until, {}});
  }
  std::sort(sleeps.begin(), sleeps.end(),
            [](const Sleep& a, const Sleep& b) { return a.begin < b.begin; });
  return sleeps;
}

/// A sleep of unknown end goes on in the next one, if that follows at once.
std::vector<Sleep> joined(const std::vector<Sleep>& sleeps) {
  std::vector<Sleep> all;
  for (const Sleep& sleep : sleeps) {
    const bool goes_on = !all.empty() && !all.back().waker.valid() && all.back().end == sleep.begin;
    if (!goes_on) {
      all.push_back(sleep);
      continue;
    }
    const Time begin = all.back().begin;
    all.back() = sleep;
    all.back().begin = begin;
  }
  return all;
}

/// Threads release others when they begin to wait (a mutex, with a condition), or between the
/// slices of one wait.
std::vector<Sleep> cut_where_it_acts(const std::vector<Sleep>& sleeps,
                                     const std::vector<Time>& acts) {
  constexpr Duration kBeginning = Duration::from_nanos(1'000'000);
  std::vector<Sleep> all;
  for (Sleep sleep : sleeps) {
    auto act = std::upper_bound(acts.begin(), acts.end(), sleep.begin);
    for (; act != acts.end() && *act < sleep.end; ++act) {
      if (*act - sleep.begin > kBeginning) all.push_back({sleep.begin, *act, {}, *act, {}});
      sleep.begin = *act;
    }
    all.push_back(sleep);
  }
  return all;
}

/// The time in which the thread neither sleeps nor has yet to be made.
std::vector<Stretch> awake_between(const Run& run, const std::vector<Sleep>& sleeps,
                                   LocationId id) {
  const Timeline& line = run.at(id);
  const Activities& life = line.activities;
  std::vector<Stretch> off, awake;
  for (const Sleep& sleep : sleeps) off.push_back({sleep.begin, sleep.end});
  for (size_t i = 0; i < life.size(); ++i) {
    if (life.path(i) == run.not_started) off.push_back({life.begin(i), life.end(i)});
  }
  std::sort(off.begin(), off.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  Time since = line.first;
  for (const Stretch& one : off) {
    if (since < std::min(one.begin, line.last)) {
      awake.push_back({since, std::min(one.begin, line.last)});
    }
    since = std::max(since, one.end);
  }
  if (since < line.last) awake.push_back({since, line.last});
  return awake;
}

/// The outermost function of a thread.
RegionId root_of(const Run& run, LocationId id) {
  const Timeline& line = run.at(id);
  const size_t first = line.activities.after(line.first);
  CallPathId path = line.activities.path(first);
  while (run.callpaths[path].parent.valid()) path = run.callpaths[path].parent;
  return run.callpaths[path].region;
}

std::vector<Making> makings_of(const Column<Wait>& waits) {
  std::vector<Making> makings;
  for (const Wait& wait : waits) {
    if (is_before_begin(wait.pattern)) makings.push_back({{wait.begin, wait.end}, wait.cause});
  }
  return makings;
}

}  // namespace

SleepingPaths::SleepingPaths(const Run& run) {
  const std::vector<bool> is_nap = nap_regions(run);
  kinds_.reserve(run.callpaths.size());
  for (size_t i = 0; i < run.callpaths.size(); ++i) {
    kinds_.push_back(kind_of(run, is_nap, CallPathId(i)));
  }
}

SleepingPaths::Kind SleepingPaths::kind_of(const Run& run, const std::vector<bool>& is_nap,
                                           CallPathId path) const {
  const RegionId id = run.callpaths[path].region;
  if (!id.valid()) return Kind::other;
  const trace::Region& region = run.regions[id.index()];
  const trace::ThreadCall* const call = trace::thread_call(region);
  if (call != nullptr && is_global_lock(run, path, *call)) return Kind::lock;
  const trace::Pseudo pseudo = trace::pseudo_of(region.name);
  if (pseudo == trace::Pseudo::blocked_in || pseudo == trace::Pseudo::blocked_unknown) {
    return Kind::sleep;
  }
  const bool is_awaiting =
      call != nullptr && call->how != trace::ThreadCallHow::tries &&
      (call->kind == ThreadCallKind::condition || call->kind == ThreadCallKind::semaphore ||
       call->kind == ThreadCallKind::futex);
  return is_awaiting || is_nap[id.index()] ? Kind::sleep : Kind::other;
}

bool SleepingPaths::is_for_work(const Wait& wait) const {
  return may_bring_work(wait.pattern) && kinds_[wait.path.index()] != Kind::lock;
}

Sleeper read_sleeper(const Run& run, const Column<Wait>& waits, const SleepingPaths& paths,
                     const std::vector<Time>& acts, LocationId id) {
  Sleeper sleeper{id, {}, root_of(run, id), {}, {}, makings_of(waits)};
  if (!sleeper.makings.empty()) sleeper.maker = sleeper.makings.front().by;
  sleeper.sleeps = cut_where_it_acts(joined(list_sleeps(run, waits, paths, id)), acts);
  sleeper.awake = awake_between(run, sleeper.sleeps, id);
  if (!sleeper.sleeps.empty()) {
    Sleep& last = sleeper.sleeps.back();
    last.is_last = !last.waker.valid() && last.end >= run.at(id).last;
  }
  return sleeper;
}

}  // namespace culprit::replay
