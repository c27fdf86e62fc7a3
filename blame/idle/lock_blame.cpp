// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The detectors have cut each wait at the moments at which the lock changed hands. Pieces are
// summed by location in parallel, then by holder and place.
#include "blame/idle/lock_blame.h"

#include <map>
#include <tuple>

#include "base/parallel.h"
#include "blame/profile/path_kinds.h"

namespace culprit::blame {

namespace {

using replay::LockWait;
using replay::Wait;

/// The holder, the call paths of its acquisition and release, the call path of the wait, and its
/// pattern.
using Key = std::tuple<LocationId, CallPathId, CallPathId, CallPathId, replay::Pattern>;
struct Sum {
  uint64_t count = 0;
  double time_s = 0;
};
using Sums = std::map<Key, Sum>;

/// A wait and its LockWait begin together, and both lists are sorted.
Sums sum_waits(std::span<const Wait> waits, std::span<const LockWait> locks) {
  Sums sums;
  auto lock = locks.begin();
  for (const Wait& wait : waits) {
    if (wait_kind(wait.pattern) != WaitKind::mutex) continue;
    while (lock != locks.end() && lock->begin < wait.begin) ++lock;
    const bool known = lock != locks.end() && lock->begin == wait.begin;
    const CallPathId none;
    Sum& sum = sums[{wait.cause, known ? lock->acquired : none, known ? lock->released : none,
                     wait.path, wait.pattern}];
    ++sum.count;
    sum.time_s += wait.amount.seconds();
  }
  return sums;
}

}  // namespace

std::vector<FoundLockBlame> blame_for_locks(const replay::Run& run, const replay::WaitGraph& graph,
                                            unsigned threads) {
  std::vector<Sums> by_waiter(run.locations.size());
  parallel_for(by_waiter.size(), threads, [&](size_t i) {
    const size_t id = run.locations[i].index();
    by_waiter[i] = sum_waits(graph.waits[id], graph.lock_waits[id]);
  });
  Sums all;
  for (const Sums& sums : by_waiter) {
    for (const auto& [key, sum] : sums) {
      all[key].count += sum.count;
      all[key].time_s += sum.time_s;
    }
  }
  std::vector<FoundLockBlame> found;
  for (const auto& [key, sum] : all) {
    const auto& [holder, acquired, released, path, pattern] = key;
    found.push_back({std::string(replay::text(pattern).id), holder, acquired, released, path,
                     sum.count, sum.time_s});
  }
  return found;
}

}  // namespace culprit::blame
