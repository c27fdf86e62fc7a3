// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The part of TimelineBuilder that hands events of locks and tasks on to OpenmpFactsBuilder, and
// stores the facts about threads' waits for each other.
#include "replay/read/timeline_builder.h"

namespace culprit::replay {

void TimelineBuilder::mutex_acquired(Time time, trace::MutexKind kind, uint64_t lock) {
  touch(time);
  if (stack_.empty()) return openmp_.acquired(time, kind, lock, {time, top()});
  const Frame& frame = stack_.back();
  openmp_.acquired(time, kind, lock,
                   {frame.enter, frame.path, traits_[frame.region.index()].waits_for_mutex});
}

void TimelineBuilder::mutex_released(Time time, trace::MutexKind, uint64_t lock) {
  touch(time);
  openmp_.released(time, lock, top());
}

void TimelineBuilder::task_create(Time time, trace::TaskId task) {
  touch(time);
  openmp_.task_create(time, task, top());
}

void TimelineBuilder::task_switch(Time time, trace::TaskId task) {
  touch(time);
  openmp_.task_switch(task);
}

void TimelineBuilder::task_complete(Time time, trace::TaskId task) {
  touch(time);
  openmp_.task_complete(time, task);
}

void TimelineBuilder::sampled(const PathSamples& more) {
  if (!top().valid()) return;
  if (top().index() >= line_.samples.size()) line_.samples.resize(top().index() + 1);
  line_.samples[top().index()].add(more);
}

void TimelineBuilder::unanswered(Time time, uint64_t whom) {
  if (stack_.empty()) return;
  line_.unanswered.push_back({top(), stack_.back().enter, time, static_cast<uint32_t>(whom),
                              static_cast<uint32_t>(whom >> 32)});
}

/// The thread may still be recorded in a function of the loop's body.
void TimelineBuilder::loop_iterations(Time time, uint64_t iterations) {
  for (auto frame = stack_.rbegin(); frame != stack_.rend(); ++frame) {
    if (openmp_.loop_iterations({frame->enter, frame->path}, time, iterations)) return;
  }
}

void TimelineBuilder::fact(Time time, trace::Fact what, uint64_t value) {
  if (what == trace::Fact::ended) {  // it did nothing more
    line_.ended = value == 0;
    line_.for_one_team |= value != 0;
    return;
  }
  touch(time);
  const auto nanos = [value] { return Duration::from_nanos(static_cast<int64_t>(value)); };
  switch (what) {
    case trace::Fact::samples:
      return sampled({.samples = value});
    case trace::Fact::observed:
      return sampled({.observed = nanos()});
    case trace::Fact::system_time:
      return sampled({.system = nanos()});
    case trace::Fact::fault_time:
      return sampled({.faulting = nanos()});
    case trace::Fact::page_faults:
      return sampled({.page_faults = value});
    case trace::Fact::awaited:
      return line_.threads.awaited.push_back({current_call(time), value});
    case trace::Fact::begun:
      return line_.threads.begun.push_back({time, value});
    case trace::Fact::woke:
      return line_.threads.woke.push_back({time, value});
    case trace::Fact::unanswered:
      return unanswered(time, value);
    case trace::Fact::schedule:
      if (!stack_.empty()) openmp_.loop_schedule({stack_.back().enter, top()}, value);
      return;
    case trace::Fact::own_chunks:
      return openmp_.loop_chunks(value);
    case trace::Fact::own_iterations:
      return loop_iterations(time, value);
    default:
      return openmp_.fact(time, what, value);
  }
}

}  // namespace culprit::replay
