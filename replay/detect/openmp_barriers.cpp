// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits at OpenMP barriers: explicit ones and those that end a construct or a region. Each member
// of a team passes the same barriers in the same order, so the n-th visits of all members belong
// together. Every thread waits for the last arrival, unless the team has tasks that must be
// complete first. Tasks that a thread runs inside the barrier are regions of their own, so that
// time there is no waiting (measuring the waits sees to it).
//
// A thread without a task, while there are some or will be some, starves: in the order of time,
//   - before a task that it runs: for the one who created that task, then for what it depends on;
//   - after its last: for the one who created the last task, then for the one who completed the
//     last, and then, as without tasks, for the last arrival. Each of these intervals is a separate
//     wait; together they are the thread's wait at the barrier, less the time that the runtime took
//     to find the tasks.
#include <algorithm>
#include <span>

#include "replay/detect/near_ties.h"
#include "replay/detect/openmp_detectors.h"
#include "replay/match/threads/barriers.h"

namespace culprit::replay {

namespace {

class BarrierDetector {
 public:
  explicit BarrierDetector(const OpenmpProcess& process)
      : process_(process), run_(process.run()), out_(process.out) {}

  void detect() {
    const uint64_t uneven =
        Barriers(process_.teams)
            .for_each([&](TeamNumber team, size_t n, std::span<const Arrival> arrivals) {
              visit_barrier(process_.tasks.epoch(team, n), arrivals);
            });
    process_.losses.add(LossKind::uneven_barriers, uneven);
  }

 private:
  void visit_barrier(const ProcessTasks::Epoch& epoch, std::span<const Arrival> arrivals) {
    const Arrival* last = &arrivals.front();
    Time earliest = Time::max();
    for (const Arrival& arrival : arrivals) {
      if (arrival.enter > last->enter) last = &arrival;
      earliest = std::min(earliest, arrival.enter);
    }
    late_.clear();
    for (const Arrival& arrival : arrivals) late_.push_back(&arrival);
    find_latest(late_, last, [](const Arrival& arrival) { return arrival.enter; }, latest_);
    Time released = last->enter;
    if (epoch.last_created.happened() && epoch.last_ended.time > earliest) {
      released = std::max(released, epoch.last_ended.time);
      for (const Arrival& arrival : arrivals) wait_with_tasks(arrival, epoch, *last, earliest);
    } else if (earliest == last->enter) {
      return;
    } else {
      const Pattern pattern = pattern_of(*last, earliest);
      for (const Arrival& arrival : arrivals) wait_for_last(arrival, arrival.enter, *last, pattern);
    }
    members_.clear();
    for (const Arrival& arrival : arrivals) members_.push_back(arrival.location);
    process_.syncs.add(members_, released);
  }

  void wait_for_last(const Arrival& own, Time since, const Arrival& last, Pattern pattern) {
    if (since >= last.enter) return;
    LocationWaits& waits = out_.at(own.location);
    waits.wait(pattern, own.path, since, own.leave, last.enter, last.location);
    for (const Arrival* other : latest_) {
      if (other->enter <= since || !nearly_as_late(since, other->enter, last.enter)) break;
      waits.tie(pattern, own.path, since, own.leave, other->enter, other->location);
    }
  }

  /// Returns the pattern by what the last thread did for most of the time in which others waited
  /// for it: a construct that one thread executes alone, or one that all threads share.
  Pattern pattern_of(const Arrival& last, Time earliest) const {
    const auto& tails = run_.at(last.location).openmp.barrier_tails;
    const auto tail = std::lower_bound(
        tails.begin(), tails.end(), last.barrier,
        [](const BarrierTail& a, uint32_t barrier) { return a.barrier < barrier; });
    if (tail == tails.end() || tail->barrier != last.barrier) return pattern("omp.barrier");
    const Duration in_it = std::min(tail->end, last.enter) - std::max(tail->begin, earliest);
    if (in_it + in_it <= last.enter - earliest) return pattern("omp.barrier");
    switch (tail->construct) {
      case OpenmpRegion::single:
        return pattern("omp.single");
      case OpenmpRegion::sections:
        return pattern("omp.sections");
      case OpenmpRegion::masked:
        return pattern("omp.masked");
      default:
        return pattern("omp.barrier");
    }
  }

  void wait_with_tasks(const Arrival& own, const ProcessTasks::Epoch& epoch, const Arrival& last,
                       Time earliest) {
    Time at = own.enter;
    for (const TaskRun& run : runs_of(own)) {
      wait_for_task(process_, {own.location, own.path, at, run.begin, run.task},
                    pattern("omp.task_starvation"));
      at = std::max(at, run.end);
    }
    at = starve(own, at, epoch.last_created);
    at = starve(own, at, epoch.last_ended);
    wait_for_last(own, at, last, pattern_of(last, earliest));
  }

  const std::vector<TaskRun>& runs_of(const Arrival& own) {
    runs_.clear();
    const OpenmpFacts& facts = run_.at(own.location).openmp;
    const auto found = std::lower_bound(
        facts.barrier_runs.begin(), facts.barrier_runs.end(), own.barrier,
        [](const BarrierRuns& a, uint32_t barrier) { return a.barrier < barrier; });
    if (found != facts.barrier_runs.end() && found->barrier == own.barrier) {
      list_runs(facts, found->last_run, runs_);
    }
    return runs_;
  }

  /// Waits from `since` until `what` happened; returns until when.
  Time starve(const Arrival& own, Time since, const ProcessTasks::Moment& what) {
    const Time until = std::min(what.time, own.leave);
    if (until <= since || what.location == own.location) return since;
    out_.at(own.location)
        .wait(pattern("omp.task_starvation"), own.path, since, own.leave, until, what.location);
    out_.meet(own.location, what.location, until);
    return until;
  }

  const OpenmpProcess& process_;
  const Run& run_;
  Detection& out_;
  // Kept for their memory.
  std::vector<const Arrival*> late_, latest_;
  std::vector<LocationId> members_;
  std::vector<TaskRun> runs_;
};

}  // namespace

void detect_openmp_barriers(const OpenmpProcess& process) {
  BarrierDetector(process).detect();
}

}  // namespace culprit::replay
