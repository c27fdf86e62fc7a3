// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Locks, critical constructs and atomics: one thread holds them at a time. The order is decided
// anew when the run is executed again, unless the recorded order is requested. An ordered construct
// has its order from the loop, so its turns are dependences like others. A lock with an unknown
// release is left out.
#include <algorithm>
#include <tuple>
#include <vector>

#include "base/flat_map.h"
#include "predict/rerun/dependences.h"

namespace culprit::predict {

namespace {

using replay::MutexHold;
using replay::OpenmpFacts;
using replay::Run;

struct LockHeld {
  Time asked, acquired, released;
  LocationId holder, releaser;
};

struct Lock {
  std::vector<LockHeld> held;
  struct Release {
    Time time;
    LocationId by;
  };
  std::vector<Release> releases;  ///< by threads that did not hold it
  bool ordered = false;
};

std::vector<Lock> collect(const Run& run, ProcessId process) {
  std::vector<Lock> locks;
  FlatMap index_of;
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    const OpenmpFacts& facts = run.at(id).openmp;
    std::vector<uint32_t> own;  // by the location's numbers of locks
    for (uint64_t lock : facts.locks) {
      own.push_back(index_of.at(lock, static_cast<uint32_t>(locks.size())));
      if (own.back() == locks.size()) locks.emplace_back();
    }
    for (const MutexHold& hold : facts.holds) {
      Lock& lock = locks[own[hold.lock]];
      lock.held.push_back({hold.asked, hold.acquired, hold.released, id, id});
      lock.ordered |= hold.kind == trace::MutexKind::ordered;
    }
    for (const replay::MutexRelease& release : facts.releases) {
      locks[own[release.lock]].releases.push_back({release.time, id});
    }
  }
  return locks;
}

/// Sets the ends of holdings that other threads released. Returns false if one has no end: then the
/// next holder got the lock without waiting.
bool settle(Lock& lock) {
  const auto by_time = [](const auto& a, const auto& b) { return a.time < b.time; };
  std::sort(lock.releases.begin(), lock.releases.end(), by_time);
  std::sort(lock.held.begin(), lock.held.end(), [](const LockHeld& a, const LockHeld& b) {
    return std::tie(a.acquired, a.holder) < std::tie(b.acquired, b.holder);
  });
  size_t next = 0;
  for (size_t i = 0; i < lock.held.size(); ++i) {
    LockHeld& held = lock.held[i];
    if (held.released == Time::max()) {
      while (next < lock.releases.size() && lock.releases[next].time < held.acquired) ++next;
      if (next == lock.releases.size()) return false;
      held.released = lock.releases[next].time;
      held.releaser = lock.releases[next++].by;
    }
    // A release is recorded when it is over: the next thread may hold the lock by then.
    if (i + 1 < lock.held.size()) {
      held.released = std::min(held.released, lock.held[i + 1].acquired);
    }
  }
  return true;
}

/// Returns the earliest moment at which holder `i` could get the lock: when the one before had
/// released it.
Moment passes(const Lock& lock, size_t i) {
  const LockHeld& own = lock.held[i];
  const Time free = i > 0 ? lock.held[i - 1].released : own.asked;
  return {own.holder, std::min(std::max(own.asked, free), own.acquired), own.asked};
}

void add_turns(const Lock& lock, Dependences& found) {
  for (size_t i = 1; i < lock.held.size(); ++i) {
    const LockHeld& before = lock.held[i - 1];
    found.edge({before.releaser, before.released, before.acquired}, passes(lock, i));
  }
}

void add_lock(const Lock& lock, Dependences& found) {
  const LockId id(found.locks++);
  bool contended = false;
  for (size_t i = 0; i < lock.held.size(); ++i) {
    const LockHeld& held = lock.held[i];
    contended |= i > 0 && held.asked < lock.held[i - 1].released;
    found.hold({id, static_cast<uint32_t>(i)}, passes(lock, i),
               {held.releaser, held.released, held.acquired});
  }
  found.contended += contended;
}

}  // namespace

void add_locks(const Run& run, ProcessId process, Dependences& found) {
  for (Lock& lock : collect(run, process)) {
    if (!settle(lock)) continue;
    lock.ordered ? add_turns(lock, found) : add_lock(lock, found);
  }
}

}  // namespace culprit::predict
