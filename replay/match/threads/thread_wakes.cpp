// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/match/threads/thread_wakes.h"

#include <algorithm>

namespace culprit::replay {

ThreadWakes::ThreadWakes(const Run& run, const trace::Process& process) {
  for (LocationId id : process.locations) {
    for (const ObjectMoment& woke : run.at(id).threads.woke) {
      wakes_[woke.object].push_back({woke.time, id});
    }
  }
  for (auto& [object, wakes] : wakes_) std::sort(wakes.begin(), wakes.end());
}

const ThreadWakes::Wake* ThreadWakes::last(uint64_t object, Time time, LocationId waiter) const {
  const auto found = wakes_.find(object);
  if (found == wakes_.end()) return nullptr;
  const std::vector<Wake>& wakes = found->second;
  auto after = std::upper_bound(wakes.begin(), wakes.end(), time,
                                [](Time t, const Wake& wake) { return t < wake.time; });
  while (after != wakes.begin() && std::prev(after)->by == waiter) --after;
  return after == wakes.begin() ? nullptr : &*std::prev(after);
}

}  // namespace culprit::replay
