// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A crew: threads that ever were in a team together. While some of its threads are idle, those that
// work are to blame: in an instant with i idle and w working threads each of the latter earns i/w.
// The potential F, dF/dt = i/w, makes that one subtraction a stretch of work. All is integer, in
// units of 2^-20 ticks, so that what threads earned, what nobody earned as nobody worked, and what
// rounding left over are the idle time exactly.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace culprit::fold {

__extension__ using Wide = unsigned __int128;

inline constexpr unsigned kPotentialShift = 20;

/// What a thread of a crew is doing, as far as it matters to others.
enum class Doing : uint8_t {
  absent,
  work,
  waiting,  ///< for its team: in a barrier, or for tasks
  pool,     ///< in no team
  mpi,
  mutex,  ///< for a lock that another thread holds
  device,
};
inline constexpr size_t kDoings = 7;

/// Why nobody works while threads are idle. `early`: before the crew had these threads.
enum class Nobody : uint8_t { mpi, mutex, device, waking, early, other };
inline constexpr size_t kNobodies = 6;

/// What a crew's idle time came to, in ticks or in units of the potential.
struct CrewSums {
  uint64_t idle_ticks = 0;
  std::array<uint64_t, kNobodies> nobody_ticks{};
  Wide earned = 0;   ///< by threads' stretches of work that have ended
  Wide handed = 0;   ///< by the runtime, while it handed tasks to threads that waited
  Wide early = 0;    ///< by threads while the crew lacked threads that it has now
  Wide rounded = 0;  ///< by nobody, since F is an integer; modulo 2^128

  void add(const CrewSums& other);
  /// What of the idle time is in none of the sums. Zero once all stretches have ended.
  Wide gap() const;
};

class Crew {
 public:
  const CrewSums& sums() const { return sums_; }
  Wide potential() const { return potential_; }
  /// Its slope is 1/w: what each stretch of work would earn of one more idle thread.
  Wide potential_of_one() const { return of_one_; }

  /// One that has been working since the process began, so far with one thread that worked for
  /// `worked` units of the potential.
  void begin(uint64_t process_begin, uint64_t time, Wide worked) {
    counting_ = true;
    time_ = time;
    idle_alone_ = time - process_begin - static_cast<uint64_t>(worked >> kPotentialShift);
  }
  /// Whether time that passes counts: not while nothing is recorded.
  void set_counting(bool counting) { counting_ = counting; }

  /// Time passes up to `time`; an earlier one does nothing.
  void pass(uint64_t time) {
    if (time <= time_) return;
    const uint64_t ticks = time - time_;
    time_ = time;
    if (counting_) pass_by(ticks);
  }
  void count(Doing doing, int by) {
    threads_[static_cast<size_t>(doing)] += static_cast<uint32_t>(by);
  }
  /// Threads that have been called to a team and have not begun there.
  void call(int by) { called_ += static_cast<uint32_t>(by); }
  /// Of those that wait, as many as there are tasks that they may run: the runtime is at work.
  void hand(int by) { handed_ += static_cast<uint32_t>(by); }
  void earn(Wide amount) { sums_.earned += amount; }
  /// Threads of the pool that are not called.
  uint32_t free_threads() const {
    const uint32_t pool = threads(Doing::pool);
    return pool - std::min(pool, called_);
  }
  /// Ticks since the process began in which no thread of it worked.
  uint64_t idle_alone() const { return idle_alone_; }
  /// The crew gets one more thread, which was idle for `ticks` since the process began. `alone`: of
  /// these nobody worked; `worked`: what threads earned by the rest, in units of the potential.
  void add_early(uint64_t ticks, uint64_t alone, Wide worked);

  /// dF/dt, in units of 2^-10.
  uint64_t slope() const;

 private:
  uint32_t threads(Doing doing) const { return threads_[static_cast<size_t>(doing)]; }
  uint64_t idle_threads() const { return threads(Doing::waiting) - handed_ + free_threads(); }
  void pass_by(uint64_t ticks);
  Nobody reason() const;

  Wide potential_ = 0, of_one_ = 0;
  uint64_t time_ = 0;
  uint64_t idle_alone_ = 0;
  uint64_t rest_ = 0;  ///< of the last division
  std::array<uint32_t, kDoings> threads_{};
  uint32_t called_ = 0, handed_ = 0;
  bool counting_ = false;
  CrewSums sums_;
};

}  // namespace culprit::fold
