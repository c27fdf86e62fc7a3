// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a thread does to the counts of idle and working threads: it begins to wait, goes on, leaves
// for MPI, forks. Each thread lists its changes in order of time; the lists of a process are
// merged (merge.h) and make the potential (potential.h). Only what the thread itself knows is
// listed: that the last arrival at a barrier lets all go on is found when the lists are one.
#pragma once

#include <cstdint>

namespace culprit::fold {

enum class ChangeKind : uint8_t {
  none,
  stretch_ended,  ///< the work since the last one, or since the thread began, belongs to a row
  sampled,        ///< the thread was found there: row
  begun,          ///< a thread, maybe after another one: 1: it was made for one team
  ended,          ///< it does nothing more; 1: its pool may go on with another thread, and is idle
  forked,         ///< a team is made: region, size
  team_entered,   ///< the thread begins as a member: region, size
  team_left,      ///< its part in the team has ended: region
  joined,         ///< the thread that forked it leaves the team: region
  arrived,        ///< at a barrier of the team: region
  departed,       ///< from there: region
  taken_back,     ///< the arrival just listed never happened: region
  wait_begun,     ///< 0: for children, at a taskwait; 1: at the end of a taskgroup
  wait_ended,
  group_begun,  ///< a taskgroup
  group_ended,
  task_created,  ///< one that any thread of the team may run: task
  task_ordered,  ///< the task just created depends on others, and may not be ready
  task_entered,  ///< the thread runs a task, from its begin or from where it was left: task
  task_left,     ///< for another one, or for the implicit task: task
  task_ended,    ///< the task is complete: task
  mpi_entered,
  mpi_left,
  lock_wanted,    ///< mutex
  turn_wanted,    ///< in a construct that threads enter in a certain order: mutex
  lock_acquired,  ///< mutex
  lock_released,  ///< mutex
  device_entered,
  device_left,
  recording_off,  ///< of all threads
  recording_on,
  held,  ///< the lock that is released at this time was acquired at a row
};

/// One change, its thread, and what it concerns: a row, a region, a task, ....
struct Change {
  static constexpr unsigned kThreadBits = 10, kKindBits = 6;
  static constexpr uint64_t kMostThreads = uint64_t{1} << kThreadBits;
  static constexpr unsigned kSizeShift = 32;  ///< of a team, above its region
  static constexpr uint64_t kMostSize = (uint64_t{1} << 16) - 1;

  uint64_t time;
  uint64_t what;  ///< 48 bits of `about`, the thread, the change

  static Change of(uint64_t time, ChangeKind kind, uint32_t thread, uint64_t about) {
    return {time, about << (kThreadBits + kKindBits) | uint64_t{thread} << kKindBits |
                      static_cast<uint64_t>(kind)};
  }
  ChangeKind kind() const {
    return static_cast<ChangeKind>(what & ((uint64_t{1} << kKindBits) - 1));
  }
  uint32_t thread() const { return static_cast<uint32_t>(what >> kKindBits & (kMostThreads - 1)); }
  uint64_t about() const { return what >> (kThreadBits + kKindBits); }
  uint32_t region() const { return static_cast<uint32_t>(about()); }
  uint32_t size() const { return static_cast<uint32_t>(about() >> kSizeShift); }
};
static_assert(sizeof(Change) == 16);

/// Addresses and numbers of 64 bits as `about`.
constexpr uint64_t folded(uint64_t number) {
  constexpr unsigned kBits = 48;
  return (number ^ number >> kBits) & ((uint64_t{1} << kBits) - 1);
}
constexpr uint64_t team_of(uint32_t region, uint64_t size) {
  return region | (size < Change::kMostSize ? size : Change::kMostSize) << Change::kSizeShift;
}

/// Whether a change is about a row.
constexpr bool names_row(ChangeKind kind) {
  return kind == ChangeKind::stretch_ended || kind == ChangeKind::sampled ||
         kind == ChangeKind::held;
}

/// Rows got new numbers: where row i went.
struct RowNumbers {
  const uint32_t* of;
  uint32_t count;
};

/// Who else refers to a thread's rows, and learns of their new numbers.
struct RowUser {
  void (*rename)(void* user, uint32_t thread, const RowNumbers& numbers) = nullptr;
  void* user = nullptr;
};

/// The changes of one thread that no cut has taken yet. Its owner gives the memory. MT: whoever
/// folds the thread's log.
class ChangeList {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kMostOfRecord = 8;  ///< that one record makes

  ChangeList() = default;
  ChangeList(Change* memory, uint32_t capacity, uint32_t thread)
      : entries_(memory), capacity_(capacity), thread_(thread) {}

  /// Times may not decrease: an earlier one becomes the newest.
  void add(uint64_t time, ChangeKind kind, uint64_t about = 0) {
    if (time > newest_) newest_ = time;
    if (count_ == capacity_) compact();
    if (count_ == capacity_) {
      ++lost_;
      return;
    }
    entries_[count_++] = Change::of(newest_, kind, thread_, about);
  }
  /// Lists a fork whose team's size is not known yet: it is not taken before set_size.
  void add_fork(uint64_t time, uint32_t region) {
    const uint64_t lost = lost_;
    add(time, ChangeKind::forked, team_of(region, 0));
    fork_ = lost_ == lost ? count_ - 1 : kNone;
  }
  void set_size(uint32_t region, uint64_t size) {
    if (fork_ == kNone || entries_[fork_].region() != region) return;
    entries_[fork_] =
        Change::of(entries_[fork_].time, ChangeKind::forked, thread_, team_of(region, size));
    fork_ = kNone;
  }

  /// Changes that are earlier have happened at `time`.
  void settle(uint64_t time) {
    if (time > newest_) newest_ = time;
  }

  uint32_t thread() const { return thread_; }
  const Change* begin() const { return entries_ + first_; }
  uint32_t count() const { return count_ - first_; }
  uint64_t lost() const { return lost_; }  ///< there was no room
  /// Whether changes for which there is no room are left out, rather than waited for.
  void set_lossy(bool lossy) { lossy_ = lossy; }
  bool has_room() const { return lossy_ || capacity_ - count() >= kMostOfRecord; }
  bool is_filling() const { return count() >= capacity_ / 4 * 3; }
  /// When the oldest fork happened whose team's size is not known; none: UINT64_MAX.
  uint64_t open_fork() const { return fork_ == kNone ? UINT64_MAX : entries_[fork_].time; }
  /// Removes the first `count`, which have been merged. A cut takes a long list in many pieces.
  void take(uint32_t count) {
    first_ += count;
    if (fork_ != kNone && fork_ < first_) fork_ = kNone;
    if (first_ == count_) first_ = count_ = 0;
  }
  /// Makes the room of those that were taken usable.
  void compact() {
    if (first_ == 0) return;
    for (uint32_t i = first_; i < count_; ++i) entries_[i - first_] = entries_[i];
    if (fork_ != kNone) fork_ -= first_;
    count_ -= first_;
    first_ = 0;
  }
  void set_row_user(const RowUser& user) { row_user_ = user; }
  void rename(const RowNumbers& numbers) {
    if (row_user_.rename != nullptr) row_user_.rename(row_user_.user, thread_, numbers);
    for (uint32_t i = first_; i < count_; ++i) {
      const Change& entry = entries_[i];
      if (!names_row(entry.kind()) || entry.about() >= numbers.count) continue;
      entries_[i] = Change::of(entry.time, entry.kind(), thread_, numbers.of[entry.about()]);
    }
  }

 private:
  Change* entries_ = nullptr;
  uint32_t first_ = 0;  ///< that was not taken
  uint32_t count_ = 0, capacity_ = 0;
  uint32_t thread_ = 0;
  uint32_t fork_ = kNone;  ///< of an entry
  uint64_t newest_ = 0;
  uint64_t lost_ = 0;
  RowUser row_user_;
  bool lossy_ = false;
};

}  // namespace culprit::fold
