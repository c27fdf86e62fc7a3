// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each rank sends all others the wakes of node-wide objects by its locations, and keeps those of
// process-wide objects. Nodes are distinguished by their names.
#include "replay/match/threads/thread_wakes.h"

#include <algorithm>
#include <string_view>

#include "base/ranks/exchange.h"
#include "trace/objects.h"

namespace culprit::replay {

namespace {

/// A wake in the form that ranks exchange.
struct ToldWake {
  uint64_t object;
  Wake wake;
};

std::vector<ToldWake> own_wakes(const Run& run) {
  std::vector<ToldWake> own;
  for (LocationId id : run.locations) {
    for (const ObjectMoment& woke : run.at(id).threads.woke) {
      if (trace::is_of_node(woke.object)) own.push_back({woke.object, {woke.time, id}});
    }
  }
  return own;
}

/// By ProcessId, a number for each node.
std::vector<uint32_t> number_nodes(const Run& run) {
  std::map<std::string_view, uint32_t> numbers;
  std::vector<uint32_t> nodes;
  for (const trace::Process& process : run.definitions->processes) {
    const auto next = static_cast<uint32_t>(numbers.size());
    nodes.push_back(numbers.try_emplace(process.node, next).first->second);
  }
  return nodes;
}

}  // namespace

NodeWakes::NodeWakes(const Run& run) : nodes_(number_nodes(run)) {
  for (const ToldWake& told : concatenate(*run.ranks, own_wakes(run))) {
    const ProcessId process = run.location(told.wake.by).process;
    wakes_[{nodes_[process.index()], told.object}].push_back(told.wake);
  }
  for (auto& [place, wakes] : wakes_) std::sort(wakes.begin(), wakes.end());
}

const std::vector<Wake>* NodeWakes::of(ProcessId process, uint64_t object) const {
  const auto found = wakes_.find({nodes_[process.index()], object});
  return found == wakes_.end() ? nullptr : &found->second;
}

ThreadWakes::ThreadWakes(const Run& run, ProcessId process, const NodeWakes& of_nodes)
    : process_(process), of_nodes_(of_nodes) {
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    for (const ObjectMoment& woke : run.at(id).threads.woke) {
      if (!trace::is_of_node(woke.object)) wakes_[woke.object].push_back({woke.time, id});
    }
  }
  for (auto& [object, wakes] : wakes_) std::sort(wakes.begin(), wakes.end());
}

const std::vector<Wake>* ThreadWakes::of(uint64_t object) const {
  if (trace::is_of_node(object)) return of_nodes_.of(process_, object);
  const auto found = wakes_.find(object);
  return found == wakes_.end() ? nullptr : &found->second;
}

const Wake* ThreadWakes::last(uint64_t object, Time time, LocationId waiter) const {
  const std::vector<Wake>* const wakes = of(object);
  if (wakes == nullptr) return nullptr;
  auto after = std::upper_bound(wakes->begin(), wakes->end(), time,
                                [](Time t, const Wake& wake) { return t < wake.time; });
  while (after != wakes->begin() && std::prev(after)->by == waiter) --after;
  return after == wakes->begin() ? nullptr : &*std::prev(after);
}

}  // namespace culprit::replay
