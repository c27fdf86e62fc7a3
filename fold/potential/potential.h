// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Blame for idle threads while the program runs. The merged changes of a process's threads say at
// each moment who works and who is idle; the potentials of crews (crew.h) and locks (locks.h) make
// of it what each stretch of work cost others.
//
// A thread is idle while it waits in a barrier until the last of its team arrives and the team's
// tasks are complete, while it waits for tasks, and, if it is of a pool, while it is in no team.
// From the last arrival on the runtime works, until the thread that forked leaves: only then is the
// pool idle. Threads that are called to a team are not idle, nor are as many of those that wait as
// there are tasks ready to run. Who is in MPI, waits for a lock or for a device is neither idle nor
// at work.
//
// Plain data of fixed size without an allocation; all zero, it is one that begins. Nothing fails:
// of changes that contradict each other the newest holds. MT: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fold/change.h"
#include "fold/potential/crew.h"
#include "fold/potential/ledger.h"
#include "fold/potential/locks.h"
#include "fold/potential/team.h"

namespace culprit::fold {

class Potential {
 public:
  static constexpr uint32_t kThreads = Change::kMostThreads;

  /// Of the process, before all changes: its first thread works from then on.
  void begin(uint64_t time);
  /// The rows of a thread, from now on.
  void set_ledger(uint32_t thread, const Ledger& ledger) {
    const Wide rest = threads_[thread].ledger.rest;
    threads_[thread].ledger = ledger;
    threads_[thread].ledger.rest = rest;
  }
  /// Changes of all threads in order of time; none may be older than those before.
  void apply(std::span<const Change> changes);
  /// Nobody does anything more.
  void finish(uint64_t time);

  /// Of all crews.
  CrewSums sums() const;
  /// What a thread earned since its last stretch ended, or could not write.
  Wide open_blame(uint32_t thread) const;
  const Locks& locks() const { return locks_; }
  /// What it earned while its crew lacked threads that it has now: not written to its rows, which
  /// share it by the time that it worked in them.
  Wide early_blame(uint32_t thread) const { return threads_[thread].early; }
  /// Ticks that a thread waited for others' locks.
  uint64_t kept_out_ticks(uint32_t thread) const { return threads_[thread].kept_out_ticks; }
  /// The same of all threads.
  uint64_t kept_out_ticks() const;
  /// A thread's rows have new numbers.
  void rename_rows(uint32_t thread, const RowNumbers& numbers);

 private:
  static constexpr uint32_t kCrews = 64, kTeams = 1024, kTasks = 4096;

  void apply(const Change& change);
  void apply_to_thread(const Change& change);
  void apply_to_team(const Change& change);

  // What a thread does at the moment, and what its work has earned.
  void settle(uint32_t number);
  void do_now(TeamThread& thread, Doing doing);
  void give_out(TeamThread& thread, uint32_t row);
  void weigh(TeamThread& thread, uint32_t row);
  void record(bool on);

  // Teams and crews (potential_teams.cpp).
  Team* find_team(uint32_t region, Link& link);
  void fork(uint32_t number, uint32_t region, uint32_t size);
  void enter_team(uint32_t number, uint32_t region, uint32_t size);
  void leave_team(uint32_t number, uint32_t region);
  void join(uint32_t number, uint32_t region);
  void arrive(uint32_t number, uint32_t region);
  void depart(uint32_t number, uint32_t region, bool taken_back);
  void release(Link link);
  void release_if_complete(Link link);
  void let_go(uint32_t number, Link link);
  void dissolve(Link link);
  void unlink(uint32_t number);
  void found_crew(uint32_t master);
  void note_alone(uint32_t crew);
  void add_early(const Team& team);
  void join_crew_of(uint32_t number, const Team& team);
  void move_to_crew(uint32_t number, uint32_t to);
  void push(uint32_t number, uint64_t task, Link team, const LevelRef& group);
  void cut(uint32_t number, uint32_t depth);

  // Tasks (potential_tasks.cpp).
  static size_t slot_of(uint64_t task) { return (task * 0x9e3779b97f4a7c15) >> 40 & (kTasks - 1); }
  void create_task(uint32_t number, uint64_t task);
  void complete_task(uint64_t task);
  Level* find_level(const LevelRef& ref);
  void order_task(TeamThread& thread, uint64_t task);
  void enter_task(uint32_t number, uint64_t task);
  void leave_task(uint32_t number, uint64_t task, bool ended);
  void begin_group(uint32_t number);
  void end_group(TeamThread& thread);
  void wait_for_tasks(TeamThread& thread, WaitFor what);
  void end_wait(TeamThread& thread);
  void go_on(const LevelRef& ref);
  void take_ready(Link link);
  void count_waiting(Link link, int by);
  void count_handed(Team& team);

  // Locks (potential_locks.cpp).
  void want(uint32_t number, uint64_t mutex, bool in_turn);
  void acquire(uint32_t number, uint64_t mutex);
  void release_lock(uint32_t number, uint64_t mutex);
  void stop_wanting(uint32_t number);
  void keep_out(const Lock& lock);
  void end_holding(Lock& lock, uint32_t releaser);
  Link next_in_turn(uint32_t releaser, uint64_t mutex) const;
  Link next_after(uint32_t releaser, uint64_t mutex) const;

  Crew& crew_of(const TeamThread& thread) { return crews_[thread.crew]; }
  Link innermost_team(const TeamThread& thread) const {
    const Level* level = thread.innermost();
    return level != nullptr ? level->team : Link{0};
  }

  std::array<TeamThread, kThreads> threads_{};
  std::array<Team, kTeams> teams_{};
  std::array<Crew, kCrews> crews_{};        ///< the first one is no crew, and has those of none
  std::array<OpenTask, kTasks> tasks_{};    ///< by a hash, which forgets
  std::array<uint64_t, kTasks> ordered_{};  ///< tasks that wait for others, likewise
  Locks locks_;
  uint32_t crews_used_ = 0;         ///< besides that one
  uint32_t threads_used_ = 0;       ///< all numbers of threads are below
  uint32_t last_serial_ = 0;        ///< of a level
  std::span<const Change> coming_;  ///< behind the change that is applied
  uint64_t begin_ = 0, time_ = 0;
};

}  // namespace culprit::fold
