// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Only objects that some thread waited for are kept: most programs write to pipes (their output's,
// a launcher's) for which no recorded thread waits. The end of a process is known from its folder,
// and not from a record of a wake.
#include "assemble/waits/node_objects.h"

#include <algorithm>
#include <set>

#include "trace/objects.h"

namespace culprit::assemble {

namespace {

uint64_t end_of(const trace::RawProcess& process) {
  return object_of(trace::ObjectKind::process, process.pid);
}

/// The folders that belong to the run: those in a process slot.
std::set<size_t> folders_of_run(const Processes& processes) {
  std::set<size_t> folders;
  for (const ProcessSlot& slot : processes.slots) {
    if (slot.folder) folders.insert(*slot.folder);
  }
  return folders;
}

}  // namespace

NodeObjects::NodeObjects(const std::vector<RawProcessFolder>& folders,
                         const std::vector<ProcessAccount>& accounts, const Processes& processes,
                         const Clock& clock) {
  std::map<std::string, size_t> numbers;
  for (const RawProcessFolder& folder : folders) {
    nodes_.push_back(numbers.try_emplace(folder.process.host, numbers.size()).first->second);
  }
  const std::set<size_t> analysed = folders_of_run(processes);
  for (const size_t i : analysed) {
    for (const uint64_t object : accounts[i].survey.node_awaited) wakes_[{nodes_[i], object}];
  }
  for (const size_t i : analysed) {
    for (const NodeWake& wake : accounts[i].survey.node_wakes) {
      add(i, wake.thread, wake.object, clock.time(i, wake.ticks));
    }
    const trace::RawProcess& process = folders[i].process;
    if (process.ended != 0) add(i, 0, end_of(process), clock.time(i, process.end_ticks));
  }
  std::erase_if(wakes_, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [place, wakes] : wakes_) {
    std::stable_sort(wakes.begin(), wakes.end(),
                     [](const Wake& a, const Wake& b) { return a.time < b.time; });
  }
}

void NodeObjects::add(size_t folder, uint32_t thread, uint64_t object, Time time) {
  const auto place = wakes_.find({nodes_[folder], object});
  if (place != wakes_.end()) place->second.push_back({time, folder, thread});
}

bool NodeObjects::is_awaited(size_t folder, uint64_t object) const {
  return wakes_.contains({nodes_[folder], object});
}

bool NodeObjects::was_let_go(size_t folder, uint32_t thread, uint64_t object, Time begin,
                             Time end) const {
  const auto place = wakes_.find({nodes_[folder], object});
  if (place == wakes_.end()) return false;
  const std::vector<Wake>& wakes = place->second;
  auto wake = std::upper_bound(wakes.begin(), wakes.end(), begin,
                               [](Time t, const Wake& one) { return t < one.time; });
  for (; wake != wakes.end() && wake->time <= end; ++wake) {
    if (wake->folder != folder || wake->thread != thread) return true;
  }
  return false;
}

}  // namespace culprit::assemble
