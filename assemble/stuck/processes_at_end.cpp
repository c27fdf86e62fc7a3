// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An operation that one thread began may have been completed or handed over by another: only the
// process as a whole knows which are open.
#include "assemble/stuck/processes_at_end.h"

#include <algorithm>
#include <unordered_set>

namespace culprit::assemble::stuck {
namespace {

void add_thread(const ThreadEnd& end, ProcessEnd& process) {
  for (const auto& [request, pending] : end.pending) process.pending.push_back(pending);
  for (const auto& [channel, count] : end.done) process.done[channel] += count;
}

/// Any thread may hand over partitions.
void note_handed_over(const std::vector<ThreadEnd>& ends, ProcessEnd& process) {
  std::unordered_set<uint64_t> ready;
  for (const size_t lane : process.lanes) {
    ready.insert(ends[lane].handed_over.begin(), ends[lane].handed_over.end());
  }
  for (Pending& one : process.pending) {
    one.in_partitions = one.in_partitions && !ready.contains(one.request);
  }
}

/// Drops requests that one thread began and another one completed.
void drop_completed(const std::vector<ThreadEnd>& ends, ProcessEnd& process) {
  std::unordered_set<uint64_t> completed;
  for (const size_t lane : process.lanes) {
    completed.insert(ends[lane].completed.begin(), ends[lane].completed.end());
  }
  std::erase_if(process.pending,
                [&](const Pending& one) { return completed.contains(one.request); });
}

}  // namespace

std::vector<ProcessEnd> processes_at_end(const EndedRun& run, const std::vector<ThreadEnd>& ends) {
  std::vector<ProcessEnd> processes(run.processes.slots.size());
  for (size_t i = 0; i < run.lanes.size(); ++i) {
    processes[run.lanes[i].process.index()].lanes.push_back(i);
  }
  for (size_t p = 0; p < processes.size(); ++p) {
    ProcessEnd& process = processes[p];
    process.folder = run.processes.slots[p].folder;
    if (!process.folder) continue;
    const trace::RawProcess& record = run.folders[*process.folder].process;
    process.gone = record.ended != 0;
    for (const size_t lane : process.lanes) add_thread(ends[lane], process);
    uint64_t initialized = 0, finalized = 0;
    for (const size_t lane : process.lanes) {
      initialized = std::max(initialized, ends[lane].initialized);
      finalized = std::max(finalized, ends[lane].finalized);
    }
    // The logs of a process that is just ending may know more: they are read later.
    process.initialized = initialized != 0;
    process.finalized = record.finalized != 0 || finalized > initialized;
    process.left_mpi = process.gone || process.finalized;
    drop_completed(ends, process);
    note_handed_over(ends, process);
    std::stable_sort(process.pending.begin(), process.pending.end(),
                     [](const Pending& a, const Pending& b) { return a.ticks < b.ticks; });
    for (const auto& [number, comm] : run.comms.local[p]) {
      if (comm.valid()) process.numbers[comm] = number;
    }
  }
  return processes;
}

}  // namespace culprit::assemble::stuck
