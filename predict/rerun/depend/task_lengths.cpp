// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Siblings are created in the order in which they may depend on each other, so each one's chain is
// known when the next is looked at.
#include "predict/rerun/depend/task_lengths.h"

#include <algorithm>
#include <map>
#include <utility>

namespace culprit::predict {

using replay::ProcessTasks;
using replay::Teams;

TaskLengths::TaskLengths(const Teams& teams, const ProcessTasks& tasks) {
  if (tasks.empty()) return;
  own_.resize(tasks.size());
  sum_runs(teams, tasks);
  chain_ = own_;
  follow_edges(teams, tasks);
  follow_data(teams, tasks);
}

void TaskLengths::add(Index task, Meeting& barrier) const {
  barrier.longest = std::max(barrier.longest, own_[task.index()]);
  barrier.chain = std::max(barrier.chain, chain_[task.index()]);
}

void TaskLengths::sum_runs(const Teams& teams, const ProcessTasks& tasks) {
  for (LocationId id : teams.locations()) {
    for (const replay::TaskRun& run : teams.run().at(id).openmp.task_runs) {
      const Index task = tasks.find(run.task);
      if (!task.valid()) continue;
      own_[task.index()] += static_cast<float>((run.end - run.begin).nanos());
    }
  }
}

/// Follows the edges that the runtime reported, in the order of the successors' creation.
void TaskLengths::follow_edges(const Teams& teams, const ProcessTasks& tasks) {
  for (LocationId id : teams.locations()) {
    for (const replay::TaskEdge& edge : teams.run().at(id).openmp.edges) {
      const Index after = tasks.find(edge.successor), before = tasks.find(edge.predecessor);
      if (!after.valid() || !before.valid()) continue;
      float& chain = chain_[after.index()];
      chain = std::max(chain, chain_[before.index()] + own_[after.index()]);
    }
  }
}

/// Follows the dependences on data that tasks named.
void TaskLengths::follow_data(const Teams& teams, const ProcessTasks& tasks) {
  struct Longest {
    float writers = 0, all = 0;
  };
  for (LocationId id : teams.locations()) {
    std::map<std::pair<uint64_t, uint64_t>, Longest> chains;  // by parent and address
    const replay::OpenmpFacts& facts = teams.run().at(id).openmp;
    for (size_t d = 0; d < facts.dependences.size();) {
      const uint32_t creation = facts.dependences[d].creation;
      const replay::TaskCreation& created = facts.creations[creation];
      const size_t first = d;
      float before = 0;
      for (; d < facts.dependences.size() && facts.dependences[d].creation == creation; ++d) {
        const replay::TaskDependence& one = facts.dependences[d];
        const Longest& here = chains[{created.parent.key(), one.address}];
        before = std::max(before, one.reads ? here.writers : here.all);
      }
      const Index task = tasks.find(created.task);
      if (!task.valid() || created.is_taskwait) continue;
      float& chain = chain_[task.index()];
      chain = std::max(chain, before + own_[task.index()]);
      for (size_t i = first; i < d; ++i) {
        const replay::TaskDependence& one = facts.dependences[i];
        Longest& here = chains[{created.parent.key(), one.address}];
        here.all = std::max(here.all, chain);
        if (!one.reads) here.writers = std::max(here.writers, chain);
      }
    }
  }
}

}  // namespace culprit::predict
