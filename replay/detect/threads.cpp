// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of a process's threads for each other outside of OpenMP: a call that waited for an object
// waited for the thread that let others go on there last before the call was over. Where none did
// while it lasted, nobody knows for whom, or it came back when its time was up: no wait state.
// A thread and the one that made it meet when it is made; until then it is due to that one.
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "replay/detect/detection.h"
#include "replay/match/threads/thread_wakes.h"

namespace culprit::replay {

namespace {

Pattern pattern_of(std::string_view call) {
  if (call.starts_with("pthread_join")) return pattern("thread.join");
  if (call.starts_with("pthread_cond")) return pattern("thread.condition");
  if (call.starts_with("sem_")) return pattern("thread.semaphore");
  if (call.starts_with("pthread_barrier")) return pattern("thread.barrier");
  if (call.starts_with("pthread_once")) return pattern("thread.once");
  if (call.starts_with("futex")) return pattern("thread.futex");
  return pattern("thread.lock");
}

using Wake = ThreadWakes::Wake;

/// Of one process.
class ThreadWaitDetector {
 public:
  ThreadWaitDetector(const Run& run, const trace::Process& process, Detection& out)
      : run_(run), process_(process), out_(out), wakes_(run, process) {}

  /// How many waits had no end that is known.
  uint64_t detect() {
    for (LocationId id : process_.locations) {
      for (const AwaitedObject& awaited : run_.at(id).threads.awaited) find_wait(id, awaited);
      if (run_.at(id).joiner.valid()) {
        begin(id, run_.at(id).first, {run_.at(id).first, run_.at(id).joiner});
        continue;
      }
      for (const ObjectMoment& begun : run_.at(id).threads.begun) {
        const Wake* made = wakes_.last(begun.object, begun.time, id);
        if (made != nullptr) begin(id, begun.time, *made);
      }
    }
    return unknown_;
  }

 private:
  /// Until it was made, it was in the hands of the one that made it: since the run began, or since
  /// the thread ended whose location it goes on with. If it was made before that, for no time.
  void begin(LocationId location, Time time, const Wake& made) {
    out_.meet(location, made.by, made.time);
    if (!run_.at(location).own_thread) return;
    const Activities& life = run_.at(location).activities;
    size_t before = life.after(time);
    while (before > 0 && life.path(before) != run_.not_started) --before;
    const Time since = life.begin(before), until = life.end(before);
    if (life.path(before) != run_.not_started || made.time > until) return;
    out_.at(location).wait(pattern("thread.begin"), run_.not_started, since, until, made.time,
                           made.by);
  }

  void find_wait(LocationId waiter, const AwaitedObject& awaited) {
    const Call call = run_.call(waiter, awaited.call);
    const Wake* wake = wakes_.last(awaited.object, call.leave, waiter);
    if (run_.at(waiter).joiner.valid()) return;  // a helper: it was not there yet
    if (wake == nullptr || wake->time <= call.enter || !call.path.valid()) {
      ++unknown_;
      return;
    }
    const RegionId region = run_.callpaths[call.path].region;
    out_.at(waiter).wait(pattern_of(run_.regions[region.index()].name), call.path, call.enter,
                         call.leave, wake->time, wake->by);
    out_.meet(waiter, wake->by, wake->time);
  }

  const Run& run_;
  const trace::Process& process_;
  Detection& out_;
  const ThreadWakes wakes_;
  uint64_t unknown_ = 0;
};

}  // namespace

void detect_threads(Run& run, unsigned threads, Detection& out) {
  const std::vector<trace::Process>& processes = run.definitions->processes;
  std::vector<uint64_t> unknown(processes.size());
  parallel_for(processes.size(), threads,
               [&](size_t p) { unknown[p] = ThreadWaitDetector(run, processes[p], out).detect(); });
  uint64_t sum = 0;
  for (uint64_t count : unknown) sum += count;
  out.losses.add(LossKind::unknown_wakers, sum);
}

}  // namespace culprit::replay
