// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Three steps: the sleeps of all threads, what pools and waiters need of them, and what is left,
// which is cut out of lives and waits.
#include "replay/detect/spare/spare_threads.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/ranks/exchange.h"
#include "replay/detect/spare/pools.h"
#include "replay/detect/spare/sleeps.h"

namespace culprit::replay {

namespace {

/// Threads that the program, or a library of it, made. What forks and helpers (helpers.h) do is
/// known already.
bool may_be_spare(const Run& run, LocationId id) {
  const Timeline& line = run.at(id);
  return line.own_thread && !run.is_master(id) && !run.is_stream(id) && !line.for_one_team &&
         !line.joiner.valid() && line.first < line.last;
}

/// By LocationId: the moments at which this rank's threads ended waits of others, or made them.
std::vector<std::vector<Time>> list_acts(const Run& run, const WaitGraph& graph) {
  std::vector<std::vector<Time>> acts(run.timelines.size());
  for (LocationId id : run.locations) {
    for (const Wait& wait : graph.waits[id.index()]) {
      if (may_be_spare(run, wait.cause)) acts[wait.cause.index()].push_back(wait.end);
    }
  }
  for (std::vector<Time>& some : acts) std::sort(some.begin(), some.end());
  return acts;
}

std::vector<Sleeper> read_sleepers(const Run& run, const WaitGraph& graph) {
  std::vector<Sleeper> sleepers;
  std::vector<LocationId> threads;
  for (LocationId id : run.locations) {
    if (may_be_spare(run, id)) threads.push_back(id);
  }
  if (threads.empty()) return sleepers;
  const SleepingPaths paths(run);
  const std::vector<std::vector<Time>> acts = list_acts(run, graph);
  for (LocationId id : threads) {
    sleepers.push_back(read_sleeper(run, graph.waits[id.index()], paths, acts[id.index()], id));
  }
  return sleepers;
}

void find_needed_by_pools(const Run& run, std::vector<Sleeper>& sleepers) {
  std::map<std::tuple<ProcessId, LocationId, RegionId>, std::vector<Sleeper*>> pools;
  for (Sleeper& sleeper : sleepers) {
    pools[{run.location(sleeper.id).process, sleeper.maker, sleeper.root}].push_back(&sleeper);
  }
  for (const auto& [key, pool] : pools) find_needed(pool);
}

/// A wait for a thread: while it lasts, the thread is needed.
struct Need {
  LocationId whom, by;
  Time begin, end;
  bool by_stream = false;
};

/// By LocationId; null: a thread that is never spare.
using Sleepers = std::vector<Sleeper*>;

/// All ranks' waits for threads that may be spare, but for those of sleeping ones. Collective.
std::vector<Need> list_needs(const Run& run, const WaitGraph& graph, const Sleepers& sleepers) {
  std::vector<Need> own, abroad;
  const SleepingPaths paths(run);
  for (LocationId id : run.locations) {
    const bool may_sleep = sleepers[id.index()] != nullptr;
    for (const Wait& wait : graph.waits[id.index()]) {
      const size_t whom = wait.cause.index();
      const bool is_own_thread = run.births[whom] != Time::min();
      if (!is_own_thread || is_before_begin(wait.pattern)) continue;
      if (may_sleep && paths.is_for_work(wait)) continue;
      const Need need{wait.cause, id, wait.begin, wait.end, run.is_stream(id)};
      if (!run.owns(wait.cause)) {
        abroad.push_back(need);
      } else if (sleepers[whom] != nullptr) {
        own.push_back(need);
      }
    }
  }
  for (const Need& need : concatenate(*run.ranks, abroad)) {
    if (sleepers[need.whom.index()] != nullptr) own.push_back(need);
  }
  return own;
}

/// Lets each thread be needed while anybody waits for it, and for whom it sleeps then in turn.
class Waiters {
 public:
  Waiters(const Run& run, std::vector<Sleeper>& sleepers) : of_(run.timelines.size()) {
    for (Sleeper& sleeper : sleepers) of_[sleeper.id.index()] = &sleeper;
  }

  void find(const Run& run, const WaitGraph& graph) {
    std::vector<Need> open = list_needs(run, graph, of_);
    for (const Sleeper* sleeper : of_) {
      if (sleeper == nullptr) continue;
      for (const Sleep& sleep : sleeper->sleeps) add(sleeper->id, sleep, open);
    }
    while (!open.empty()) {
      const Need need = open.back();
      open.pop_back();
      settle(need, open);
    }
  }

 private:
  void add(LocationId id, const Sleep& sleep, std::vector<Need>& open) const {
    if (sleep.needed >= sleep.end || !sleep.waker.valid()) return;
    if (of_[sleep.waker.index()] == nullptr) return;
    open.push_back({sleep.waker, id, sleep.needed, sleep.end});
  }

  /// Each sleep is needed from some moment on until its end, since who waits goes on only by what
  /// the thread does when it is awake. A device does not need a thread that waits for its work: it
  /// waits for whoever hands that over.
  void settle(const Need& need, std::vector<Need>& open) const {
    std::vector<Sleep>& sleeps = of_[need.whom.index()]->sleeps;
    auto sleep = std::partition_point(sleeps.begin(), sleeps.end(),
                                      [&](const Sleep& s) { return s.end <= need.begin; });
    for (; sleep != sleeps.end() && sleep->begin < need.end; ++sleep) {
      const Time since = std::max(sleep->begin, need.begin);
      if (sleep->needed <= since || (need.by_stream && sleep->waker.valid())) continue;
      sleep->needed = since;
      sleep->needed_by = need.by;
      add(need.whom, *sleep, open);
    }
    // Who waits for a thread that is not there yet needs the one that makes it.
    for (const Making& making : of_[need.whom.index()]->makings) {
      const Time since = std::max(need.begin, making.before.begin);
      const bool is_meant = since < making.before.end && making.before.end <= need.end;
      if (is_meant && of_[making.by.index()] != nullptr) {
        open.push_back({making.by, need.by, since, making.before.end, need.by_stream});
      }
    }
  }

  Sleepers of_;
};

/// Cuts the spare time of one thread out of its life and its waits.
class Cutter {
 public:
  Cutter(Run& run, WaitGraph& graph, const Sleeper& sleeper)
      : run_(run), graph_(graph), sleeper_(sleeper), line_(run.at(sleeper.id)) {
    for (const Sleep& sleep : sleeper.sleeps) {
      if (sleep.is_spare()) spare_.push_back(sleep);
    }
  }

  bool cut() {
    if (spare_.empty()) return false;
    list();
    cut_waits();
    cut_life();
    return true;
  }

 private:
  static bool ends_life(const Sleep& sleep) { return sleep.is_last && sleep.needed == sleep.end; }

  /// Until spare time is over, whoever ends it is accountable for the thread. Where nobody is
  /// known, it is the first thread, which is always there; who made this one may be spare itself.
  LocationId accountable(const Sleep& sleep) const {
    if (sleep.waker.valid()) return sleep.waker;
    return sleep.needed_by.valid() ? sleep.needed_by : run_.master_of(sleeper_.id);
  }

  void list() {
    SpareTime row{sleeper_.id, sleeper_.maker, {}, spare_.size(), {}, {}, sleeper_.awake.empty()};
    std::map<CallPathId, Duration> sums;
    const Activities& life = line_.activities;
    for (const Sleep& sleep : spare_) {
      row.asleep += sleep.needed - sleep.begin;
      for (size_t i = life.after(sleep.begin); i < life.size() && life.begin(i) < sleep.needed;
           ++i) {
        sums[life.path(i)] +=
            std::min(life.end(i), sleep.needed) - std::max(life.begin(i), sleep.begin);
      }
    }
    for (const Stretch& stretch : sleeper_.awake) row.awake += stretch.end - stretch.begin;
    Duration most;
    for (const auto& [path, time] : sums) {
      if (time > most) row.path = path, most = time;
    }
    graph_.spares.push_back(row);
  }

  void cut_waits() {
    Column<Wait>& waits = graph_.waits[sleeper_.id.index()];
    Column<Wait> left;
    size_t next = 0;
    const auto put_spares = [&](Time until) {
      for (; next < spare_.size() && spare_[next].begin < until; ++next) {
        const Sleep& sleep = spare_[next];
        const LocationId by = accountable(sleep);
        if (ends_life(sleep) || by == sleeper_.id) continue;
        left.push_back({sleep.begin, sleep.needed, sleep.needed - sleep.begin, run_.not_started, by,
                        0, pattern("thread.spare")});
      }
    };
    for (const Wait& wait : waits) {
      put_spares(wait.end);
      Wait rest = wait;
      if (next > 0 && spare_[next - 1].needed > wait.begin) {
        rest.begin = spare_[next - 1].needed;
      }
      if (rest.begin < rest.end) left.push_back(rest);
    }
    put_spares(Time::max());
    std::sort(left.begin(), left.end(),
              [](const Wait& a, const Wait& b) { return a.begin < b.begin; });
    waits = std::move(left);
  }

  void cut_life() {
    const Activities& old = line_.activities;
    Activities life;
    const auto put = [&](Time begin, CallPathId path) {
      if (life.empty() || life.path(life.size() - 1) != path) life.push_back(begin, path);
    };
    const Sleep& last = spare_.back();
    size_t next = 0;
    for (size_t i = 0; i < old.size(); ++i) {
      Time begin = old.begin(i);
      const Time end = old.end(i);
      while (begin < end) {
        while (next < spare_.size() && spare_[next].needed <= begin) ++next;
        const bool in_spare = next < spare_.size() && spare_[next].begin <= begin;
        const Time until = next == spare_.size() ? end
                           : in_spare            ? spare_[next].needed
                                                 : spare_[next].begin;
        const bool ended = in_spare && ends_life(spare_[next]);
        put(begin, ended ? run_.ended : in_spare ? run_.not_started : old.path(i));
        begin = std::min(end, until);
      }
    }
    life.set_end(run_.end);
    line_.activities = std::move(life);
    if (ends_life(last)) line_.last = last.begin;
    count_absence(run_, sleeper_.id);
  }

  Run& run_;
  WaitGraph& graph_;
  const Sleeper& sleeper_;
  Timeline& line_;
  std::vector<Sleep> spare_;
};

}  // namespace

std::vector<LocationId> set_spare_time_aside(Run& run, WaitGraph& graph) {
  const bool has_threads = std::any_of(run.births.begin(), run.births.end(),
                                       [](Time birth) { return birth != Time::min(); });
  if (!has_threads) return {};  // on no rank
  std::vector<Sleeper> sleepers = read_sleepers(run, graph);
  find_needed_by_pools(run, sleepers);
  Waiters(run, sleepers).find(run, graph);
  std::vector<LocationId> changed;
  for (const Sleeper& sleeper : sleepers) {
    if (Cutter(run, graph, sleeper).cut()) changed.push_back(sleeper.id);
  }
  settle_last(run);
  return changed;
}

}  // namespace culprit::replay
