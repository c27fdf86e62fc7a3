// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Locks: who wants which, and what that costs whom.
#include <algorithm>
#include <utility>

#include "fold/potential/potential.h"

namespace culprit::fold {

void Potential::want(uint32_t number, uint64_t mutex, bool in_turn) {
  TeamThread& thread = threads_[number];
  if (thread.mutex != 0) stop_wanting(number);
  Lock* const lock = mutex != 0 ? locks_.at(mutex) : nullptr;
  if (lock == nullptr) return;
  lock->pass(time_);
  lock->in_turn = in_turn;
  thread.mutex = mutex;
  thread.next_wanting = std::exchange(lock->first, link_to(number));
  ++lock->wanted;
  keep_out(*lock);
}

void Potential::stop_wanting(uint32_t number) {
  TeamThread& thread = threads_[number];
  Lock* const lock = locks_.at(std::exchange(thread.mutex, uint64_t{0}));
  if (lock == nullptr) return;
  lock->pass(time_);
  Link* link = &lock->first;
  while (*link != 0 && *link != link_to(number)) link = &threads_[number_of(*link)].next_wanting;
  if (*link != 0) {
    *link = thread.next_wanting;
    --lock->wanted;
  }
  thread.next_wanting = 0;
  thread.kept_out = false;
  settle(number);
}

/// Those who want a lock wait while somebody holds it; for their turn also while the thread whose
/// turn it is has not come.
void Potential::keep_out(const Lock& lock) {
  for (Link link = lock.first; link != 0; link = threads_[number_of(link)].next_wanting) {
    const bool out = lock.holder != 0 ? lock.holder != link : lock.in_turn && lock.turn != link;
    if (threads_[number_of(link)].kept_out == out) continue;
    threads_[number_of(link)].kept_out = out;
    settle(number_of(link));
  }
}

void Potential::acquire(uint32_t number, uint64_t mutex) {
  TeamThread& thread = threads_[number];
  if (thread.mutex != 0) stop_wanting(number);
  Lock* const lock = mutex != 0 ? locks_.at(mutex) : nullptr;
  if (lock == nullptr) return;
  lock->pass(time_);
  if (lock->holder != 0) end_holding(*lock, number_of(lock->holder));
  lock->holder = link_to(number);
  lock->acquired_at = thread.row;
  if (!lock->in_turn) lock->at_begin = lock->waited;
  if (lock->in_turn && lock->last != 0)
    threads_[number_of(lock->last)].turn_after = link_to(number);
  keep_out(*lock);
}

void Potential::release_lock(uint32_t number, uint64_t mutex) {
  Lock* const lock = mutex != 0 ? locks_.at(mutex) : nullptr;
  if (lock == nullptr) return;
  lock->pass(time_);
  if (lock->holder != 0) end_holding(*lock, number);
  if (lock->in_turn) lock->turn = next_in_turn(number, mutex);
  keep_out(*lock);
}

/// Whose turn it is shows when that thread comes in, which is soon if it has been waiting. None if
/// it has not.
Link Potential::next_in_turn(uint32_t releaser, uint64_t mutex) const {
  constexpr size_t kFar = 64;
  for (const Change& change : coming_.first(std::min(coming_.size(), kFar))) {
    if (change.kind() == ChangeKind::lock_acquired && change.about() == mutex) {
      return threads_[change.thread()].mutex == mutex ? link_to(change.thread()) : Link{0};
    }
  }
  return next_after(releaser, mutex);
}

/// In a loop threads mostly have their turns in the same order, round by round: at a cut it does
/// not show yet whose is next.
Link Potential::next_after(uint32_t releaser, uint64_t mutex) const {
  const Link next = threads_[releaser].turn_after;
  return next != 0 && threads_[number_of(next)].mutex == mutex ? next : Link{0};
}

/// Whoever releases it has made the others wait: mostly its holder.
void Potential::end_holding(Lock& lock, uint32_t releaser) {
  TeamThread& thread = threads_[releaser];
  const uint64_t ticks = lock.waited - lock.at_begin;
  locks_.earn(releaser, lock.acquired_at, thread.row, ticks);
  if (thread.held_row != 0 && thread.held_until == time_) {
    thread.ledger.add(thread.held_row, Wide{ticks} << kPotentialShift);
  }
  lock.last = lock.holder;
  lock.holder = 0;
  lock.at_begin = lock.waited;
}

}  // namespace culprit::fold
