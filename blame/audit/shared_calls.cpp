// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All calls of a process are visited in order of time: each is compared with the calls that other
// threads are in when it begins.
#include "blame/audit/shared_calls.h"

#include <algorithm>
#include <map>
#include <utility>

namespace culprit::blame {

namespace {

struct Called {
  Time begin, end;
  Duration own;  ///< without waiting
  CallPathId path;
  uint32_t thread;  ///< of those that call MPI
  bool shared = false;
};

/// Returns the MPI calls of a thread, in order of time.
std::vector<Called> calls_of(const replay::Run& run, LocationId id,
                             const Column<replay::Wait>& waits, const std::vector<PathKind>& kinds,
                             uint32_t thread) {
  std::vector<Called> calls;
  const replay::Activities& life = run.at(id).activities;
  size_t wait = 0;
  for (size_t i = 0; i < life.size(); ++i) {
    if (kinds[life.path(i).index()] != PathKind::mpi || life.begin(i) == life.end(i)) continue;
    Called call{life.begin(i), life.end(i), life.end(i) - life.begin(i), life.path(i), thread};
    while (wait < waits.size() && waits[wait].end <= call.begin) ++wait;
    for (size_t w = wait; w < waits.size() && waits[w].begin < call.end; ++w) {
      call.own -= std::min(waits[w].end, call.end) - std::max(waits[w].begin, call.begin);
    }
    calls.push_back(call);
  }
  return calls;
}

void mark_shared(std::vector<Called>& calls, size_t threads) {
  std::sort(calls.begin(), calls.end(), [](const Called& a, const Called& b) {
    return std::pair(a.begin, a.thread) < std::pair(b.begin, b.thread);
  });
  std::vector<Called*> open(threads);
  for (Called& call : calls) {
    for (Called* const other : open) {
      if (other == nullptr || other->thread == call.thread || other->end <= call.begin) continue;
      other->shared = call.shared = true;
    }
    open[call.thread] = &call;
  }
}

}  // namespace

std::vector<FoundSharedCalls> find_shared_calls(const replay::Run& run,
                                                const replay::WaitGraph& graph,
                                                const std::vector<PathKind>& kinds,
                                                ProcessId process) {
  std::vector<Called> calls;
  std::vector<LocationId> threads;
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    if (run.is_stream(id) || run.at(id).empty()) continue;
    const auto number = static_cast<uint32_t>(threads.size());
    const auto own = calls_of(run, id, graph.waits[id.index()], kinds, number);
    if (own.empty()) continue;
    threads.push_back(id);
    calls.insert(calls.end(), own.begin(), own.end());
  }
  if (threads.size() < 2) return {};
  mark_shared(calls, threads.size());
  struct Alone {
    uint64_t count = 0;
    double time_s = 0;
  };
  std::map<RegionId, Alone> alone;
  std::map<std::pair<uint32_t, CallPathId>, FoundSharedCalls> rows;
  for (const Called& call : calls) {
    if (!call.shared) {
      Alone& sum = alone[run.callpaths[call.path].region];
      ++sum.count;
      sum.time_s += call.own.seconds();
      continue;
    }
    FoundSharedCalls& row = rows[{call.thread, call.path}];
    row.callpath = call.path;
    row.location = threads[call.thread];
    ++row.count;
    row.time_s += call.own.seconds();
  }
  std::vector<FoundSharedCalls> found;
  for (auto& [key, row] : rows) {
    const Alone& sum = alone[run.callpaths[row.callpath].region];
    row.alone = sum.count;
    row.alone_s = sum.time_s;
    found.push_back(row);
  }
  return found;
}

}  // namespace culprit::blame
