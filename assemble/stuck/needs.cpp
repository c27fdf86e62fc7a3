// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A node for each location whose last call is open, with its needs; threads of one process help
// each other through their team or their locks, ranks through MPI.
#include "assemble/stuck/needs.h"

#include <fmt/format.h>

#include <algorithm>

#include "assemble/stuck/needs_of_mpi.h"
#include "assemble/stuck/needs_of_system.h"

namespace culprit::assemble::stuck {
namespace {

const Membership* membership(const ThreadEnd& end, uint64_t region) {
  for (const Membership& one : end.teams) {
    if (one.region == region) return &one;
  }
  return nullptr;
}

class Threads {
 public:
  Threads(const EndedRun& run, const std::vector<ThreadEnd>& ends,
          const std::vector<ProcessEnd>& processes, const std::vector<bool>& parked)
      : run_(run), ends_(ends), processes_(processes), parked_(parked) {}

  std::vector<Need> of(size_t lane) const {
    switch (ends_[lane].call.kind) {
      case CallKind::barrier:
        return at_barrier(lane);
      case CallKind::mutex:
        return at_mutex(lane);
      case CallKind::tasks:
        return at_tasks(lane);
      default:
        return {};
    }
  }

 private:
  const std::vector<size_t>& team_mates(size_t lane) const {
    return processes_[run_.lanes[lane].process.index()].lanes;
  }
  std::string thread(size_t lane) const {
    return fmt::format("thread {}", run_.lanes[lane].thread);
  }

  /// All of the team have to come, and no thread may be in a task any more.
  std::vector<Need> at_barrier(size_t lane) const {
    const OpenCall& call = ends_[lane].call;
    const Membership* own = membership(ends_[lane], call.region);
    if (own == nullptr) return {};
    std::vector<Need> needs;
    for (const size_t other : team_mates(lane)) {
      const Membership* theirs = membership(ends_[other], call.region);
      if (other == lane || theirs == nullptr || theirs->barriers > own->barriers) continue;
      const OpenCall& there = ends_[other].call;
      const bool has_come = theirs->barriers == own->barriers;
      const bool waits = there.kind == CallKind::barrier && there.region == call.region;
      if (has_come && (waits || !is_in_task(other))) continue;
      needs.push_back({{other},
                       other,
                       has_come ? fmt::format("for {} to complete its task", thread(other))
                                : fmt::format("for {} to reach the barrier", thread(other))});
    }
    return needs.empty() ? at_end_of_tasks(lane) : needs;
  }

  /// All of the team wait; the event of a task that they created may still be open.
  std::vector<Need> at_end_of_tasks(size_t lane) const {
    for (const size_t creator : team_mates(lane)) {
      for (const auto& [task, parent] : ends_[creator].tasks) {
        if (is_detached(lane, task)) return {for_event(lane)};
      }
    }
    return {};
  }

  /// Its body is over, and its event is not fulfilled.
  bool is_detached(size_t lane, uint64_t task) const {
    bool left = false;
    for (const size_t other : team_mates(lane)) {
      const auto holds = [&](const std::vector<uint64_t>& tasks) {
        return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
      };
      if (holds(ends_[other].tasks_done)) return false;
      left = left || holds(ends_[other].detached);
    }
    return left;
  }

  /// Any thread may fulfil it that does not wait for the same.
  Need for_event(size_t lane) const {
    const OpenCall& call = ends_[lane].call;
    Need need{{}, lane, "for the event of a detached task"};
    for (const size_t other : team_mates(lane)) {
      const OpenCall& there = ends_[other].call;
      const bool waits_too = there.kind == CallKind::barrier && there.region == call.region;
      if (other == lane || waits_too || ends_[other].ended || parked_[other]) continue;
      need.any_of.push_back(other);
    }
    if (need.any_of.empty()) need.why += ", which nobody is left to fulfil";
    if (!need.any_of.empty()) need.whom = need.any_of.front();
    return need;
  }

  bool is_in_task(size_t lane) const { return !ends_[lane].tasks_inside.empty(); }

  std::vector<Need> at_mutex(size_t lane) const {
    const uint64_t mutex = ends_[lane].call.object;
    for (const size_t other : team_mates(lane)) {
      if (!ends_[other].holds.contains(mutex)) continue;
      if (other == lane) return {{{lane}, lane, "for a lock that it holds itself"}};
      return {{{other}, other, fmt::format("for a lock that {} holds", thread(other))}};
    }
    return {};
  }

  /// Tasks that have not begun can be run by the waiting thread itself.
  std::vector<Need> at_tasks(size_t lane) const {
    const std::vector<uint64_t> open = open_children(lane);
    std::vector<Need> needs;
    for (const uint64_t task : open) {
      if (is_detached(lane, task)) {
        needs.push_back(for_event(lane));
        continue;
      }
      const std::optional<size_t> runner = runner_of(lane, task);
      if (!runner) return {};
      if (*runner == lane) continue;
      needs.push_back(
          {{*runner}, *runner, fmt::format("for {} to complete a task", thread(*runner))});
    }
    return needs;
  }

  std::vector<uint64_t> open_children(size_t lane) const {
    const ThreadEnd& end = ends_[lane];
    const uint64_t parent = end.tasks_inside.empty() ? 0 : end.tasks_inside.back();
    std::vector<uint64_t> open;
    for (const size_t other : team_mates(lane)) {
      if (parent == 0 && other != lane) continue;  // each thread has an implicit task of its own
      for (const auto& [task, creator] : ends_[other].tasks) {
        if (creator == parent) open.push_back(task);
      }
    }
    for (const size_t other : team_mates(lane)) {
      const std::vector<uint64_t>& done = ends_[other].tasks_done;
      std::erase_if(open, [&](uint64_t task) {
        return std::find(done.begin(), done.end(), task) != done.end();
      });
    }
    return open;
  }

  std::optional<size_t> runner_of(size_t lane, uint64_t task) const {
    for (const size_t other : team_mates(lane)) {
      const std::vector<uint64_t>& inside = ends_[other].tasks_inside;
      if (std::find(inside.begin(), inside.end(), task) != inside.end()) return other;
    }
    return std::nullopt;
  }

  const EndedRun& run_;
  const std::vector<ThreadEnd>& ends_;
  const std::vector<ProcessEnd>& processes_;
  const std::vector<bool>& parked_;
};

/// Workers whose region is over wait for the next one, which is no wait.
bool is_parked(const EndedRun& run, const ThreadAtEnd& lane, const ThreadEnd& end,
               const ProcessEnd& process) {
  if (end.call.kind != CallKind::barrier || !process.folder) return false;
  const auto& regions = run.accounts[*process.folder].survey.regions;
  const auto region = regions.find(end.call.region);
  return lane.thread != 0 && region != regions.end() && region->second.end_ticks != 0;
}

}  // namespace

std::vector<Node> nodes_of(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                           const std::vector<ProcessEnd>& processes) {
  std::vector<bool> parked(run.lanes.size());
  for (size_t i = 0; i < run.lanes.size(); ++i) {
    const ThreadAtEnd& lane = run.lanes[i];
    parked[i] = is_parked(run, lane, ends[i], processes[lane.process.index()]);
  }
  const Threads threads(run, ends, processes, parked);
  const NeedsOfMpi mpi(run, ends, processes, parked);
  const NeedsOfSystem blocked(run, ends, processes, parked);
  std::vector<Node> nodes(run.lanes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ProcessEnd& process = processes[run.lanes[i].process.index()];
    nodes[i].parked = parked[i];
    if (parked[i] || ends[i].ended || process.gone) continue;
    switch (ends[i].call.kind) {
      case CallKind::mpi:
      case CallKind::tests:
        nodes[i].needs = mpi.of(i);
        break;
      case CallKind::thread:
      case CallKind::system:
        nodes[i].needs = blocked.of(i);
        break;
      default:
        nodes[i].needs = threads.of(i);
    }
    nodes[i].waits = !nodes[i].needs.empty();
  }
  return nodes;
}

}  // namespace culprit::assemble::stuck
