// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits for locks, critical and ordered constructs, and atomics. A thread that requests a lock
// waits for its holder; where the lock changes hands meanwhile, it waits for one holder after the
// other, each a separate wait. The time from the last release until the acquisition is the
// handover: no waiting. In an ordered construct the next thread has its turn before it arrives:
// from the previous release on, the others wait for the thread that enters next.
//
// Locks belong to a process. Each lock has a list of its holdings in order of time, which do not
// overlap; a wait looks only at the holdings between its request and its acquisition.
#include <algorithm>
#include <cstddef>
#include <tuple>

#include "base/flat_map.h"
#include "base/merge_runs.h"
#include "replay/detect/openmp_detectors.h"

namespace culprit::replay {

namespace {

using trace::MutexKind;

/// A wait is split at this many changes of hands at most. With more, it is cut into as many equal
/// parts, and each waits for the holder in its middle: n threads that fight for a lock without
/// queueing would otherwise have n waits for each time that it is held.
constexpr size_t kMostPieces = 16;

/// One location's holding of one lock, until the lock was released or acquired again.
struct Holding {
  Time acquired, end;
  LocationId holder;    ///< who acquired it
  LocationId releaser;  ///< the same, mostly
  uint32_t hold;        ///< index into the holder's holds
  CallPathId released_path;
};

struct Release {
  Time time;
  LocationId location;
  CallPathId path;
};

Pattern pattern_of(MutexKind kind) {
  switch (kind) {
    case MutexKind::critical:
      return pattern("omp.critical");
    case MutexKind::ordered:
      return pattern("omp.ordered");
    case MutexKind::atomic:
      return pattern("omp.atomic");
    case MutexKind::lock:
    case MutexKind::nest_lock:
    case MutexKind::other:
      break;
  }
  return pattern("omp.lock");
}

bool is_earlier(const Holding& a, const Holding& b) {
  return std::tie(a.acquired, a.holder) < std::tie(b.acquired, b.holder);
}

/// The mutexes of one process.
class MutexDetector {
 public:
  explicit MutexDetector(const OpenmpProcess& process)
      : process_(process), run_(process.run()), out_(process.out) {}

  void detect() {
    collect();
    for (Lock& lock : locks_) {
      merge_runs(lock.holdings.data(), lock.holdings.data() + lock.holdings.size(), is_earlier);
      settle_ends(lock);
      for (size_t i = 0; i < lock.holdings.size(); ++i) find_waits(lock, i);
      lock = {};
    }
    for (LocationId id : process_.teams.locations()) {
      std::vector<LockWait>& waits = out_.at(id).lock_waits;
      std::sort(waits.begin(), waits.end(),
                [](const LockWait& a, const LockWait& b) { return a.begin < b.begin; });
    }
    process_.losses.add(LossKind::locks_released_by_others, foreign_releases_);
    process_.losses.add(LossKind::sampled_lock_waits, sampled_);
  }

 private:
  struct Lock {
    std::vector<Holding> holdings;
    std::vector<Release> releases;  ///< by threads that did not hold it
  };

  void collect() {
    FlatMap index_of;
    for (LocationId id : process_.teams.locations()) {
      const OpenmpFacts& facts = run_.at(id).openmp;
      std::vector<uint32_t> own;  // by the location's lock numbers
      for (uint64_t lock : facts.locks) {
        own.push_back(index_of.at(lock, static_cast<uint32_t>(locks_.size())));
        if (own.back() == locks_.size()) locks_.emplace_back();
      }
      for (uint32_t h = 0; h < facts.holds.size(); ++h) {
        const MutexHold& hold = facts.holds[h];
        locks_[own[hold.lock]].holdings.push_back(
            {hold.acquired, hold.released, id, id, h, hold.released_path});
      }
      for (const MutexRelease& release : facts.releases) {
        locks_[own[release.lock]].releases.push_back({release.time, id, release.path});
      }
    }
  }

  /// A holding ends with its release, by any thread, and before the next holding begins.
  void settle_ends(Lock& lock) {
    std::sort(lock.releases.begin(), lock.releases.end(), [](const Release& a, const Release& b) {
      return std::tie(a.time, a.location) < std::tie(b.time, b.location);
    });
    size_t next_release = 0;
    for (size_t i = 0; i < lock.holdings.size(); ++i) {
      Holding& holding = lock.holdings[i];
      const Time next = i + 1 < lock.holdings.size() ? lock.holdings[i + 1].acquired : Time::max();
      if (holding.end == Time::max()) {
        while (next_release < lock.releases.size() &&
               lock.releases[next_release].time < holding.acquired) {
          ++next_release;
        }
        if (next_release < lock.releases.size() && lock.releases[next_release].time <= next) {
          const Release& release = lock.releases[next_release++];
          holding.end = release.time;
          holding.releaser = release.location;
          holding.released_path = release.path;
          ++foreign_releases_;
        }
      }
      holding.end = std::min(holding.end, next);
    }
  }

  /// Finds the waits of the thread that acquired holding `i`.
  void find_waits(const Lock& lock, size_t i) {
    const Holding& own = lock.holdings[i];
    const MutexHold& hold = run_.at(own.holder).openmp.holds[own.hold];
    if (hold.asked >= hold.acquired) return;
    size_t first = i;
    while (first > 0 && lock.holdings[first - 1].end > hold.asked && i - first <= kMostPieces) {
      --first;
    }
    if (i - first > kMostPieces) return sample(lock, i, hold);
    for (size_t h = first; h < i; ++h) {
      const bool turn = hold.kind == MutexKind::ordered;
      const Time from = !turn    ? lock.holdings[h].acquired
                        : h == 0 ? hold.asked
                                 : lock.holdings[h - 1].end;
      add(own.holder, hold, lock.holdings[h], std::max(from, hold.asked), lock.holdings[h].end);
    }
  }

  void sample(const Lock& lock, size_t i, const MutexHold& hold) {
    ++sampled_;
    const Duration wait = hold.acquired - hold.asked;
    const auto at = [&](size_t n) {
      return hold.asked +
             Duration::from_nanos(wait.nanos() / (2 * static_cast<int64_t>(kMostPieces)) *
                                  static_cast<int64_t>(n));
    };
    for (size_t piece = 0; piece < kMostPieces; ++piece) {
      const auto holder = std::lower_bound(
          lock.holdings.begin(), lock.holdings.begin() + static_cast<ptrdiff_t>(i) - 1,
          at(2 * piece + 1), [](const Holding& a, Time t) { return a.end < t; });
      const Time end = piece + 1 == kMostPieces ? hold.acquired : at(2 * piece + 2);
      add(lock.holdings[i].holder, hold, *holder, at(2 * piece),
          std::min(end, lock.holdings[i - 1].end));
    }
  }

  void add(LocationId waiter, const MutexHold& hold, const Holding& held, Time begin, Time end) {
    end = std::min(end, hold.acquired);
    if (held.releaser == waiter || end <= begin) return;
    const MutexHold& other = run_.at(held.holder).openmp.holds[held.hold];
    out_.at(waiter).wait(pattern_of(hold.kind), hold.acquired_path, begin, hold.acquired, end,
                         held.releaser);
    out_.at(waiter).lock_waits.push_back({begin, other.acquired_path, held.released_path});
    out_.meet(waiter, held.releaser, end);
  }

  const OpenmpProcess& process_;
  const Run& run_;
  Detection& out_;
  std::vector<Lock> locks_;
  uint64_t foreign_releases_ = 0, sampled_ = 0;
};

}  // namespace

void detect_mutexes(const OpenmpProcess& process) {
  MutexDetector(process).detect();
}

}  // namespace culprit::replay
