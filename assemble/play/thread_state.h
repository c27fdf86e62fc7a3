// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The state that the records of all programming models share while one thread's are played: the
// process and the thread they belong to, the location's timeline, its call paths, and the names it
// has met.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assemble/play/code.h"
#include "assemble/play/process_context.h"
#include "assemble/play/timeline.h"
#include "assemble/raw/reader.h"
#include "base/losses.h"
#include "trace/events.h"

namespace culprit::assemble {

struct ThreadState {
  ThreadState(const ProcessContext& of_process, const ThreadContext& of_thread,
              trace::EventSink& sink)
      : process(of_process),
        thread(of_thread),
        timeline(sink, of_thread.folder),
        paths(of_process.code, of_process.regions) {
    const uint64_t ticks = of_process.devices.begun_ticks;
    if (ticks != 0) devices_begin_ = of_process.time(ticks);
  }

  const ProcessContext& process;
  const ThreadContext& thread;
  Timeline timeline;
  Paths paths;
  std::unordered_map<uint16_t, std::string> names;  ///< by string id
  Losses losses;
  struct Construct {
    std::string name;
    trace::RegionRole role = trace::RegionRole::unknown;
    const Symbol* place = nullptr;
    RegionId region = RegionId::none();
  };
  std::array<Construct, 64> constructs;  ///< met last, at places that follow from place and name

  Time time(const RawRecord& record) const { return process.time(record.ticks); }
  /// Whether the process could not use a device yet, but has later.
  bool is_before_devices(Time time) const { return time < devices_begin_; }
  /// The user's functions on a path that the thread was on at `time`.
  const UserPath& path(Time time, uint32_t id) {
    return is_before_devices(time) ? paths.starting_path(id) : paths.user_path(id);
  }
  /// The path that a record carries in `arg`, if any.
  void observe(Time time, uint32_t path);
  /// The same for a call of a device's runtime, which says itself what it does.
  void observe_call(Time time, uint32_t path);
  /// Only the return address of a call into the runtime is known.
  void observe_code(Time time, uint64_t code);
  /// Regions::openmp, which is slower: threads go through few constructs again and again.
  RegionId construct(std::string_view name, trace::RegionRole role, const Symbol* place);
  /// Records a number of the current construct or task.
  void fact(Time time, trace::Fact fact, uint64_t value);

 private:
  void observe(Time time, const UserPath* known);

  Time devices_begin_;  ///< the earliest time if it uses none
};

}  // namespace culprit::assemble
