// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads of the records are found among those of the system by the system's numbers.
#include "assemble/stuck/thread_waits.h"

#include <unordered_map>

#include "assemble/look/system_calls.h"
#include "assemble/stuck/futex_wait.h"

namespace culprit::assemble::stuck {
namespace {

using look::CallSort;
using look::ProcessLook;
using look::ThreadLook;

class Fill {
 public:
  Fill(EndedRun& run, std::vector<ThreadEnd>& ends) : run_(run), ends_(ends) {}

  void process(size_t folder, const ProcessLook& look) {
    std::unordered_map<uint32_t, size_t> lanes = lanes_of(folder);
    if (lanes.empty()) return;
    const ThreadAtEnd first = run_.lanes[lanes.begin()->second];
    for (const ThreadLook& thread : look.threads) {
      const auto known = lanes.find(thread.tid);
      if (known != lanes.end()) {
        thread_of(known->second, folder, look, thread);
        lanes.erase(known);
      } else if (is_the_programs(folder, thread)) {
        ThreadAtEnd added = first;
        added.log = nullptr;
        added.tid = thread.tid;
        run_.lanes.push_back(added);
        ends_.emplace_back();
        thread_of(run_.lanes.size() - 1, folder, look, thread);
      }
    }
    for (const auto& [tid, lane] : lanes) {
      if (!has_acted_since(lane, folder, look)) ends_[lane].ended = true;
    }
  }

 private:
  /// By the system's number of the thread.
  std::unordered_map<uint32_t, size_t> lanes_of(size_t folder) const {
    std::unordered_map<uint32_t, size_t> lanes;
    for (size_t i = 0; i < run_.lanes.size(); ++i) {
      const ThreadAtEnd& lane = run_.lanes[i];
      if (lane.log == nullptr || run_.processes.slots[lane.process.index()].folder != folder)
        continue;
      const bool is_first = lane.log->thread() == 0;
      const uint32_t tid = is_first ? run_.folders[folder].process.pid : ends_[i].trail.tid;
      if (tid != 0 && !ends_[i].ended) lanes[tid] = i;
    }
    return lanes;
  }

  /// Libraries of MPI and of runtimes have threads of their own, which serve the others. In doubt a
  /// thread is the program's.
  bool is_the_programs(size_t folder, const ThreadLook& thread) const {
    const StackFacts facts = facts_of(run_.code[folder], thread.stack);
    return facts.program || !facts.helper;
  }

  uint64_t ticks_of(size_t folder, uint64_t monotonic_ns) const {
    const trace::RawClockPair& known = run_.folders[folder].process.last;
    const auto distance =
        static_cast<double>(static_cast<int64_t>(monotonic_ns - known.monotonic_ns));
    return known.ticks +
           static_cast<uint64_t>(static_cast<int64_t>(distance / run_.clock.ns_per_tick(folder)));
  }

  /// Then what was seen may be out of date.
  bool has_acted_since(size_t lane, size_t folder, const ProcessLook& look) const {
    return ends_[lane].last_ticks > ticks_of(folder, look.at_ns);
  }

  void thread_of(size_t lane, size_t folder, const ProcessLook& look, const ThreadLook& thread) {
    ThreadEnd& end = ends_[lane];
    if (has_acted_since(lane, folder, look)) return;
    end.core = thread.core;
    end.runs = thread.state == 'R';
    if (thread.state == 'Z' || thread.state == 'X') end.ended = true;
    // What the records say of a wait has no stack.
    const bool waits = end.call.kind == CallKind::thread;
    if ((end.call.kind != CallKind::none && !waits) || thread.call == look::kNotInACall) return;
    if (waits && thread.stack.empty()) return;
    const look::SystemCall call = look::system_call(thread.call);
    const StackFacts facts = facts_of(run_.code[folder], thread.stack);
    OpenCall open;
    open.kind = CallKind::system;
    open.name = call.name;
    open.since = waits ? end.call.since : ticks_of(folder, thread.since_ns);
    open.stack = thread.stack;
    open.in_system = SystemWait{call.sort, thread.object, thread.holders, thread.state};
    if (call.sort == CallSort::futex && !thread.stack.empty()) {
      open.kind = CallKind::thread;
      open.thread_wait = wait_of(thread, facts);
      open.thread_wait->signals = look.handles_signals;
      open.name = facts.call != nullptr ? facts.call->name : "a futex wait";
    }
    end.call = std::move(open);
  }

  EndedRun& run_;
  std::vector<ThreadEnd>& ends_;
};

/// Records name the thread that is joined by its handle.
void find_joined(const EndedRun& run, std::vector<ThreadEnd>& ends) {
  for (size_t i = 0; i < ends.size(); ++i) {
    OpenCall& call = ends[i].call;
    const bool joins = call.thread_wait && call.thread_wait->kind == ThreadWait::Kind::join;
    if (!joins || call.thread_wait->owner != 0) continue;
    for (size_t other = 0; other < ends.size(); ++other) {
      if (run.lanes[other].process != run.lanes[i].process) continue;
      if (ends[other].trail.handle == call.object) call.thread_wait->owner = ends[other].trail.tid;
    }
  }
}

}  // namespace

void add_looks(EndedRun& run, std::vector<ThreadEnd>& ends) {
  find_joined(run, ends);
  Fill fill(run, ends);
  for (size_t i = 0; i < run.looks.size() && i < run.folders.size(); ++i) {
    if (run.looks[i]) fill.process(i, *run.looks[i]);
  }
}

}  // namespace culprit::assemble::stuck
