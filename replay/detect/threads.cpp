// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of threads for each other outside of OpenMP, in one process or in several of a node: a call
// that waited for an object waited for the thread that last released waiters of it before the call
// ended. Where no thread did during the call, the cause is unknown or the call timed out: no wait
// state. A thread and its creator synchronise when it is created; until then the creator is
// accountable for it. A forked process is created by the thread that forks it.
#include <vector>

#include "base/parallel.h"
#include "replay/detect/detection.h"
#include "replay/match/threads/thread_wakes.h"
#include "trace/objects.h"
#include "trace/thread_calls.h"

namespace culprit::replay {

namespace {

/// Returns the pattern of a wait for an object in memory, which follows from the call.
Pattern pattern_of_call(const trace::ThreadCall* call) {
  if (call == nullptr) return pattern("thread.lock");
  switch (call->kind) {
    case trace::ThreadCallKind::join:
      return pattern("thread.join");
    case trace::ThreadCallKind::condition:
      return pattern("thread.condition");
    case trace::ThreadCallKind::semaphore:
      return pattern("thread.semaphore");
    case trace::ThreadCallKind::barrier:
      return pattern("thread.barrier");
    case trace::ThreadCallKind::once:
      return pattern("thread.once");
    case trace::ThreadCallKind::futex:
      return pattern("thread.futex");
    case trace::ThreadCallKind::mutex:
    case trace::ThreadCallKind::rwlock:
    case trace::ThreadCallKind::openmp_lock:
      break;
  }
  return pattern("thread.lock");
}

Pattern pattern_of(uint64_t object, const trace::Region& region) {
  switch (trace::kind_of(object)) {
    case trace::ObjectKind::pipe:
    case trace::ObjectKind::opening:
    case trace::ObjectKind::socket:
      return pattern("thread.pipe");
    case trace::ObjectKind::room:
      return pattern("thread.full_pipe");
    case trace::ObjectKind::event:
      return pattern("thread.event");
    case trace::ObjectKind::queue:
      return pattern("thread.queue");
    case trace::ObjectKind::semaphore:
      return pattern("thread.semaphore");
    case trace::ObjectKind::signal:
      return pattern("thread.signal");
    case trace::ObjectKind::file_lock:
      return pattern("thread.file_lock");
    case trace::ObjectKind::fork:
    case trace::ObjectKind::process:
      return pattern("thread.child");
    case trace::ObjectKind::own:
    case trace::ObjectKind::shared:
      break;
  }
  return pattern_of_call(trace::thread_call(region));
}

/// Of one process.
class ThreadWaitDetector {
 public:
  ThreadWaitDetector(const Run& run, ProcessId process, const NodeWakes& of_nodes, Outbox& box,
                     Detection& out)
      : run_(run),
        process_(run.definitions->processes[process.index()]),
        box_(box),
        out_(out),
        wakes_(run, process, of_nodes) {}

  /// Returns how many waits have an unknown end.
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
  /// Until a thread starts, its creator is accountable for it: from the begin of the run, or from
  /// the end of the thread whose location it reuses. If it was created before that, for no time.
  void begin(LocationId location, Time time, const Wake& made) {
    box_.meet(location, made.by, made.time);
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
    if (run_.at(waiter).joiner.valid())
      return;  // a helper thread did not exist yet for the analysis
    if (wake == nullptr || wake->time <= call.enter || !call.path.valid()) {
      ++unknown_;
      return;
    }
    const RegionId region = run_.callpaths[call.path].region;
    const Pattern why = pattern_of(awaited.object, run_.regions[region.index()]);
    out_.at(waiter).wait(why, call.path, call.enter, call.leave, wake->time, wake->by);
    box_.meet(waiter, wake->by, wake->time);
  }

  const Run& run_;
  const trace::Process& process_;
  Outbox& box_;
  Detection& out_;
  const ThreadWakes wakes_;
  uint64_t unknown_ = 0;
};

}  // namespace

void detect_threads(Run& run, unsigned threads, Detection& out) {
  const size_t processes = run.definitions->processes.size();
  const NodeWakes of_nodes(run);
  std::vector<uint64_t> unknown(processes);
  std::vector<Outbox> boxes(processes);
  parallel_for(processes, threads, [&](size_t p) {
    if (!run.owns(ProcessId(p))) return;
    unknown[p] = ThreadWaitDetector(run, ProcessId(p), of_nodes, boxes[p], out).detect();
  });
  out.deliver(boxes, threads);
  uint64_t sum = 0;
  for (uint64_t count : unknown) sum += count;
  out.losses.add(LossKind::unknown_wakers, sum);
}

}  // namespace culprit::replay
