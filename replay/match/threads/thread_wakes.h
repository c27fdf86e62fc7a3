// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who let others go on: where threads of a process woke objects that threads wait for.
#pragma once

#include <unordered_map>
#include <vector>

#include "replay/run.h"

namespace culprit::replay {

class ThreadWakes {
 public:
  struct Wake {
    Time time;
    LocationId by;
    friend auto operator<=>(const Wake&, const Wake&) = default;
  };

  ThreadWakes(const Run& run, const trace::Process& process);

  /// The last of an object by another thread than `waiter`, no later than `time`; null: none.
  const Wake* last(uint64_t object, Time time, LocationId waiter) const;

 private:
  std::unordered_map<uint64_t, std::vector<Wake>> wakes_;
};

}  // namespace culprit::replay
