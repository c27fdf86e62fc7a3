// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What one thread is inside of, moment by moment, as enters and leaves that nest and never go back
// in time. Two things share the stack: constructs, whose begin and end were recorded (MPI calls,
// OpenMP constructs), and between them the user's functions, known only at some moments. Between
// two exact observations the time belongs to the functions that both saw; where samples lie in
// between, each sample speaks for the time halfway to its neighbours. It knows neither MPI nor
// OpenMP.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "trace/events.h"

namespace culprit::assemble {

enum class Level : uint8_t {
  root,      ///< the program itself
  frame,     ///< a function of the user
  call,      ///< inside another library: samples say nothing there
  parallel,  ///< body of a parallel region
  task,      ///< an explicit task
  work,      ///< worksharing and the like, transparent to functions
  sync,      ///< waiting for other threads
  mutex,     ///< holding a lock
  tool,      ///< the collector at work
  region,    ///< a part that the program named, transparent to functions
  function,  ///< a function of the user, of which begin and end were recorded
  off,       ///< recording was off
};

/// The user's functions at a moment, outermost first.
struct UserPath {
  std::vector<RegionId> frames;
  bool in_construct = false;  ///< frames begin at the innermost parallel region or task

  bool says_something() const { return in_construct || !frames.empty(); }
};

class Timeline {
 public:
  explicit Timeline(trace::EventSink& sink) : sink_(sink) {}

  // Constructs. `id` is whatever the caller wants to find it by.
  void enter(Time time, Level level, RegionId region, uint64_t id = 0);
  /// Leaves the construct at `depth` (of find()) and everything inside it.
  void leave(Time time, size_t depth);

  /// The user's functions are known to be `path` at `time`.
  void observe(Time time, const UserPath& path);
  /// At `time` the innermost construct has no function of the user on top of it.
  void observe_bare(Time time);
  /// Of the functions at `time` only the innermost are known. If they have not been seen on the way
  /// here they are added when `certain`, else nothing is.
  void observe_innermost(Time time, std::span<const RegionId> known, bool certain);
  /// Something happens at `time`, and nothing is known of the functions.
  void observe_nothing(Time time);
  /// A sample. `path` must live until the next observation.
  void sample(Time time, const UserPath& path);
  /// Forgets samples not older than `time`, which something recorded later covers.
  void drop_samples(Time time);

  /// Counters were read for what happens next, at `time`.
  void read_counters(Time time, MetricSetId set, std::vector<double> values);

  /// Time for an event at `time`: the same, or the last one's if that is later.
  Time advance(Time time);
  Time last() const { return last_; }
  uint64_t events() const { return events_; }
  trace::EventSink& sink() {
    ++events_;
    return sink_;
  }

  struct Entry {
    RegionId region;
    Level level = Level::frame;
    uint64_t id = 0;
  };
  static constexpr size_t npos = SIZE_MAX;
  const std::vector<Entry>& stack() const { return stack_; }
  /// Depth of the innermost construct; npos if there is none.
  size_t innermost() const;
  /// Depth of the innermost parallel region or task (or root, or npos).
  size_t base() const;

 private:
  struct Sample {
    Time time;
    const UserPath* path;
  };
  std::vector<RegionId> relative(const UserPath& path) const;
  std::span<const Entry> frames() const;
  void settle(Time time, const std::vector<RegionId>& exact);
  void play_samples(Time until, bool to_the_end);
  void set_frames(Time leave_time, Time enter_time, std::span<const RegionId> wanted);
  void push(Time time, Entry entry);
  void pop(Time time);

  void write_reading();

  struct Reading {
    Time time;
    MetricSetId set;
    std::vector<double> values;
  };

  trace::EventSink& sink_;
  std::optional<Reading> reading_;  ///< not written yet
  std::vector<Entry> stack_;
  std::vector<Sample> samples_;
  Time last_;
  Time known_;  ///< of the last exact observation
  uint64_t events_ = 0;
};

}  // namespace culprit::assemble
