// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who made threads wait for locks. Each lock has a potential of its own, which rises by the number
// of threads that wait for its holder; the holder earns what it rose by while it held the lock, at
// the places where it acquired and released it. From a release until the next acquisition nobody
// waits for anybody: the lock is handed over. In memory of fixed size: locks for which nobody has
// waited for longest are forgotten, and waits for their holders count as unknown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fold/change.h"
#include "fold/potential/link.h"

namespace culprit::fold {

struct Lock {
  uint64_t mutex = 0;     ///< 0: no lock
  uint64_t time = 0;      ///< up to which `waited` counts
  uint64_t waited = 0;    ///< ticks, of all waiters
  uint64_t at_begin = 0;  ///< of that, when its holder acquired it, or its turn came
  Link holder = 0;
  Link turn = 0;             ///< of those that want it, whose turn it is while nobody holds it
  Link last = 0;             ///< who held it before
  Link first = 0;            ///< of the threads that want it, which are linked
  uint32_t acquired_at = 0;  ///< row of its holder
  uint32_t wanted = 0;       ///< by how many threads
  bool in_turn = false;      ///< by one after the other in an order that is not theirs

  /// Whether one of those that want it has its turn, and is only late to wake up.
  bool turns() const { return holder == 0 && turn != 0 && wanted > 0; }
  void pass(uint64_t now) {
    if (now <= time) return;
    if (holder != 0 || in_turn) waited += (now - time) * (wanted - (turns() ? 1 : 0));
    time = now;
  }
};

/// What the holder of a lock cost others.
struct LockBlame {
  uint32_t holder = 0;
  uint32_t acquired = 0, released = 0;  ///< rows of the holder
  uint32_t times = 0;                   ///< 0: no entry
  uint64_t ticks = 0;
};

class Locks {
 public:
  static constexpr size_t kLocks = 256, kBlames = 512;

  /// The lock, known from now on; nullptr if all places near are taken by locks that are wanted.
  Lock* at(uint64_t mutex);
  void earn(uint32_t holder, uint32_t acquired, uint32_t released, uint64_t ticks);
  /// The rows of a thread have new numbers.
  void rename_rows(uint32_t thread, const RowNumbers& numbers);

  const std::array<LockBlame, kBlames>& blames() const { return blames_; }
  uint64_t other_ticks() const { return other_; }  ///< there was no room for its holder's places

 private:
  static constexpr size_t kNear = 8;  ///< places that are looked at

  std::array<Lock, kLocks> locks_{};
  std::array<LockBlame, kBlames> blames_{};
  uint64_t other_ = 0;
};

}  // namespace culprit::fold
