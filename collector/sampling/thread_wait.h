// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What stand-ins for calls share in which the program's threads wait for each other: how they
// record a wait, and that waiting threads may go on. Nothing is recorded if no thread blocks: a
// lock is tried first, and a thread that wakes others reads one counter. An object is its address:
// when it is reused, times distinguish its lives. A thread that is cancelled while it waits counts
// as a waiter for ever, which costs a record each time that its object is used. MT: safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/process/next.h"
#include "collector/process/recorder.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/processes/node_wakes.h"
#include "collector/sampling/program_code.h"
#include "collector/sampling/started.h"
#include "collector/sampling/sync_objects.h"

namespace culprit::collector::sampling {

/// Number of waiters of an object, by a part of its address. Objects that share a counter cost each
/// other a record now and then.
inline constexpr unsigned kCounters = 4096;
extern std::atomic<uint32_t> g_waiters[kCounters];

inline std::atomic<uint32_t>& waiters_of(uint64_t object) {
  return g_waiters[(object >> 3 ^ object >> 15) % kCounters];
}

inline bool is_awaited(uint64_t object) {
  return waiters_of(object).load(std::memory_order_relaxed) != 0;
}

/// The kind of object. A lock may be the very one that making a log would need: for locks one is
/// made without taking any, unless processes share them.
enum class Kind { lock, other };

/// Records that threads that wait for the object may go on: to be called before they do, and has an
/// effect only if any thread waits.
void say_wake(uint64_t object, Kind kind);
[[gnu::always_inline]] inline void wake(uint64_t object, Kind kind) {
  if (is_awaited(object)) [[unlikely]]
    say_wake(object, kind);
}

/// As wake(), for an object that other processes may wait for: the object itself shows whether any
/// thread waits.
template <class Sync>
[[gnu::always_inline]] inline void wake_all(const Sync& sync, Kind kind) {
  if (owner_of(sync) != kShared) [[likely]]
    return wake(number_of(&sync), kind);
  if (has_waiters(sync)) say_woke(shared_object(&sync), now(), Whence::caller);
}

/// Consecutive yields of this thread's core: C++'s atomics yield a few times before they sleep, and
/// on a busy machine may never come to sleep. The thread has waited since the first yield. The
/// object it waits for is known once it slept there.
struct Yields {
  uint64_t begin, end;
  uintptr_t site;   ///< where the last yield was called from
  uint64_t object;  ///< the object that the thread waited for afterwards

  void begin_one(uintptr_t from) {
    const uint64_t time = is_watched() ? now() : 0;
    if (!are_fresh_at(time)) begin = time;
    site = from;
    object = 0;
  }
  void end_one() { end = begin != 0 ? now() : 0; }
  bool are_fresh_at(uint64_t time) const { return end != 0 && time - end <= kShortestTicks; }
};
extern constinit thread_local Yields t_yields __attribute__((tls_model("initial-exec")));

/// A call of the program in which the thread waits for an object. To be constructed in the very
/// function that stands in for the call. While it waits, its log contains that, and the object's
/// holder.
class Wait {
 public:
  [[gnu::always_inline]] Wait(const char* name, uint64_t object, Kind kind,
                              uint32_t owner = kUnknown)
      : name_(name), object_(object), kind_(kind) {
    const auto caller = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    if (!is_watched() || is_helpers_code(caller)) return;
    waiters_of(object_).fetch_add(1, std::memory_order_relaxed);
    begin_ = now();
    say_waiting(caller, owner);
  }
  /// The wait began with the yields that came right before.
  void take_yields();
  /// This call is no sleep, but one of several yields.
  void be_yield() { yields_ = true; }
  [[gnu::always_inline]] void end(bool time_was_up = false) {
    if (begin_ == 0) return;
    waiters_of(object_).fetch_sub(1, std::memory_order_relaxed);
    if (told_ != nullptr) told_->close(RawSlot::wait);
    const KeepErrno keep;
    const uint64_t end = now();
    const bool goes_on = goes_on_from_last();
    if (end - begin_ < kShortestTicks && !goes_on) return;
    say(reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa()), end, goes_on, time_was_up);
  }

 private:
  void say_waiting(uintptr_t caller, uint32_t owner);
  bool goes_on_from_last() const;
  void say(uintptr_t cfa, uint64_t end, bool goes_on, bool time_was_up) const;

  const char* name_;
  uint64_t object_;
  Kind kind_;
  bool yields_ = false;
  uint64_t begin_ = 0;
  ThreadLog* told_ = nullptr;
};

/// What a thread waits for, and who holds it.
struct Awaited {
  uint64_t object;
  uint32_t owner = kUnknown;
};
template <class Sync>
Awaited awaited(const Sync& sync) {
  return {name_of(sync), owner_of(sync)};
}

/// Locks, after a try: one that is free costs nothing else. `is_held`: the result of a try of one
/// that is not; `missing`: where the system lacks these functions; `what(lock)`: an Awaited. To be
/// called in the very function that stands in for the call `name`.
template <class Lock, class What>
[[gnu::always_inline]] inline int lock_after_try(const char* name, Next<int(Lock*)>& lock_call,
                                                 Next<int(Lock*)>& try_call, Lock* lock,
                                                 int is_held, int missing, What what) {
  auto* const next = lock_call.get();
  auto* const attempt = try_call.get();
  if (next == nullptr || attempt == nullptr) return missing;
  const int found = attempt(lock);
  if (found != is_held) [[likely]]
    return found;
  const Awaited it = what(*lock);
  Wait wait(name, it.object, Kind::lock, it.owner);
  const int error = next(lock);
  wait.end();
  return error;
}

}  // namespace culprit::collector::sampling
