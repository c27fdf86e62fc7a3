// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What each change is for the thread itself, and what a stretch of work has earned.
#include "fold/potential/potential.h"

#include <algorithm>
#include <utility>

namespace culprit::fold {

namespace {

Doing doing_of(const TeamThread& thread) {
  if (!thread.alive) return Doing::absent;
  if (thread.in_mpi) return Doing::mpi;
  if (thread.in_device) return Doing::device;
  if (thread.kept_out) return Doing::mutex;
  const Level* const level = thread.innermost();
  if (level == nullptr && thread.pool) return thread.for_one_team ? Doing::absent : Doing::pool;
  if (level == nullptr) return Doing::work;
  return level->waits == WaitFor::nothing ? Doing::work : Doing::waiting;
}

}  // namespace

void Potential::begin(uint64_t time) {
  begin_ = time_ = time;
  crews_[0].begin(time, time, 0);
  threads_[0].alive = true;
  threads_used_ = 1;
  settle(0);
}

void Potential::apply(std::span<const Change> changes) {
  for (size_t i = 0; i < changes.size(); ++i) {
    coming_ = changes.subspan(i + 1);
    apply(changes[i]);
  }
  coming_ = {};
}

void Potential::apply(const Change& change) {
  const uint32_t number = change.thread();
  TeamThread& thread = threads_[number];
  time_ = change.time;
  crew_of(thread).pass(time_);
  if (change.kind() == ChangeKind::stretch_ended) {
    return give_out(thread, static_cast<uint32_t>(change.about()));
  }
  if (change.kind() == ChangeKind::held) {
    thread.held_row = static_cast<uint32_t>(change.about());
    thread.held_until = time_;
    return;
  }
  if (!thread.alive) {
    thread.alive = true;
    threads_used_ = std::max(threads_used_, number + 1);
  }
  switch (change.kind()) {
    case ChangeKind::sampled:
      return weigh(thread, static_cast<uint32_t>(change.about()));
    case ChangeKind::lock_wanted:
      return want(number, change.about(), false);
    case ChangeKind::turn_wanted:
      return want(number, change.about(), true);
    case ChangeKind::lock_acquired:
      return acquire(number, change.about());
    case ChangeKind::lock_released:
      return release_lock(number, change.about());
    case ChangeKind::recording_off:
    case ChangeKind::recording_on:
      return record(change.kind() == ChangeKind::recording_on);
    default:
      if (thread.mutex != 0) stop_wanting(number);  // a test of a lock that failed
      apply_to_thread(change);
      return settle(number);
  }
}

void Potential::apply_to_thread(const Change& change) {
  TeamThread& thread = threads_[change.thread()];
  switch (change.kind()) {
    case ChangeKind::begun:
      thread.for_one_team = change.about() != 0;
      return;
    case ChangeKind::ended:
      thread.alive = thread.pool && change.about() != 0;
      return cut(change.thread(), 0);
    case ChangeKind::mpi_entered:
    case ChangeKind::mpi_left:
      thread.in_mpi = change.kind() == ChangeKind::mpi_entered;
      return;
    case ChangeKind::device_entered:
    case ChangeKind::device_left:
      thread.in_device = change.kind() == ChangeKind::device_entered;
      return;
    case ChangeKind::wait_begun:
      return wait_for_tasks(thread, change.about() != 0 ? WaitFor::group : WaitFor::children);
    case ChangeKind::wait_ended:
      return end_wait(thread);
    case ChangeKind::group_begun:
      return begin_group(change.thread());
    case ChangeKind::group_ended:
      return end_group(thread);
    case ChangeKind::task_created:
      return create_task(change.thread(), change.about());
    case ChangeKind::task_ordered:
      return order_task(thread, change.about());
    case ChangeKind::task_entered:
      return enter_task(change.thread(), change.about());
    case ChangeKind::task_left:
    case ChangeKind::task_ended:
      return leave_task(change.thread(), change.about(), change.kind() == ChangeKind::task_ended);
    default:
      return apply_to_team(change);
  }
}

void Potential::apply_to_team(const Change& change) {
  switch (change.kind()) {
    case ChangeKind::forked:
      return fork(change.thread(), change.region(), change.size());
    case ChangeKind::team_entered:
      return enter_team(change.thread(), change.region(), change.size());
    case ChangeKind::team_left:
      return leave_team(change.thread(), change.region());
    case ChangeKind::joined:
      return join(change.thread(), change.region());
    case ChangeKind::arrived:
      return arrive(change.thread(), change.region());
    case ChangeKind::departed:
    case ChangeKind::taken_back:
      return depart(change.thread(), change.region(), change.kind() == ChangeKind::taken_back);
    default:
      return;
  }
}

void Potential::give_out(TeamThread& thread, uint32_t row) {
  Crew& crew = crew_of(thread);
  if (thread.doing == Doing::work) {
    thread.owed += crew.potential() - thread.since;
    thread.since = crew.potential();
  }
  thread.row = row;
  if (thread.owed == 0) return;
  thread.ledger.add(row, thread.owed);
  crew.earn(thread.owed);
  thread.owed = 0;
}

/// Functions share the blame of a stretch by their samples, each weighed with how many others were
/// idle for each thread that worked then.
void Potential::weigh(TeamThread& thread, uint32_t row) {
  if (thread.doing != Doing::work) return;
  thread.ledger.weigh(row, crew_of(thread).slope());
}

void Potential::settle(uint32_t number) {
  TeamThread& thread = threads_[number];
  const Doing doing = doing_of(thread);
  if (thread.doing != doing) do_now(thread, doing);
}

void Potential::do_now(TeamThread& thread, Doing doing) {
  Crew& crew = crew_of(thread);
  crew.pass(time_);
  if (thread.doing == Doing::work) {
    thread.owed += crew.potential() - thread.since;
    thread.alone += crew.potential_of_one() - thread.alone_since;
  }
  if (doing == Doing::work) {
    thread.since = crew.potential();
    thread.alone_since = crew.potential_of_one();
  }
  crew.count(thread.doing, -1);
  crew.count(doing, 1);
  if (thread.doing == Doing::mutex) thread.kept_out_ticks += time_ - thread.kept_out_since;
  if (doing == Doing::mutex) thread.kept_out_since = time_;
  if (thread.doing == Doing::waiting) count_waiting(std::exchange(thread.waits_in, Link{0}), -1);
  if (doing == Doing::waiting) {
    thread.waits_in = innermost_team(thread);
    count_waiting(thread.waits_in, 1);
  }
  thread.doing = doing;
}

void Potential::record(bool on) {
  for (uint32_t c = 1; c <= crews_used_; ++c) {
    crews_[c].pass(time_);
    crews_[c].set_counting(on);
  }
}

void Potential::finish(uint64_t time) {
  time_ = std::max(time_, time);
  for (uint32_t c = 1; c <= crews_used_; ++c) crews_[c].pass(time_);
  for (uint32_t number = 0; number < threads_used_; ++number) {
    TeamThread& thread = threads_[number];
    if (thread.mutex != 0) stop_wanting(number);
    thread.alive = false;
    cut(number, 0);
    settle(number);
    give_out(thread, thread.row);
  }
}

uint64_t Potential::kept_out_ticks() const {
  uint64_t ticks = 0;
  for (uint32_t number = 0; number < threads_used_; ++number) {
    ticks += threads_[number].kept_out_ticks;
  }
  return ticks;
}

void Potential::rename_rows(uint32_t number, const RowNumbers& numbers) {
  TeamThread& thread = threads_[number];
  for (uint32_t* row : {&thread.row, &thread.held_row}) {
    if (*row < numbers.count) *row = numbers.of[*row];
  }
  locks_.rename_rows(number, numbers);
}

CrewSums Potential::sums() const {
  CrewSums sums;
  for (uint32_t c = 1; c <= crews_used_; ++c) sums.add(crews_[c].sums());
  return sums;
}

Wide Potential::open_blame(uint32_t number) const {
  const TeamThread& thread = threads_[number];
  const bool works = thread.doing == Doing::work;
  return thread.owed + thread.ledger.rest +
         (works ? crews_[thread.crew].potential() - thread.since : Wide{0});
}

}  // namespace culprit::fold
