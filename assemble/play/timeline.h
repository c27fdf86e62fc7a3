// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The constructs and functions that one thread is in, moment by moment, as enters and leaves that
// nest and never go back in time. Two things share the stack: constructs, whose begin and end were
// recorded (MPI calls, OpenMP constructs), and between them the user's functions, known only at
// some moments. Between two exact observations the time is divided by samples: by those of all
// stretches of the kind (folding.h), or by its own, where these are many, or the only ones. Without
// folding, each of its own samples stands for the time halfway to its neighbours, and time without
// samples belongs to the functions that both observations saw. It knows neither MPI nor OpenMP.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assemble/play/core_time_series.h"
#include "assemble/play/folding.h"
#include "assemble/play/region_marks.h"
#include "base/ids.h"
#include "base/time.h"
#include "trace/events.h"

namespace culprit::assemble {

enum class Level : uint8_t {
  root,      ///< the program itself
  frame,     ///< a function of the user
  call,      ///< inside another library: samples show only where it calls the program back
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
  /// For each frame: the place in it from which the next one inwards is called, as a number that
  /// all processes agree on; 0, or missing: unknown.
  std::vector<uint64_t> sites = {};
  uint64_t base_site = 0;   ///< likewise, of the body of that region or task
  bool in_library = false;  ///< the last frame is work of a library for the one before

  void leave_library() {
    if (!std::exchange(in_library, false)) return;
    frames.pop_back();
    sites.pop_back();
  }
  bool says_something() const { return in_construct || !frames.empty(); }
};

/// How the time between observations is divided. Either of the first two may be missing.
struct Folder {
  StretchTally* tally = nullptr;   ///< collects stretches
  LaneFolding* folding = nullptr;  ///< divides them
  RegionId not_sampled;            ///< region for unknown time
  RegionId blocked;                ///< likewise, if the thread slept and nothing better is known
  double period_ns = 0;            ///< of samples; 0: there are none
  double core_share = 1;           ///< of the time in which the thread could compute, that it did
  CoreTimeSeries cores = {};       ///< the same by and by, where it often could not
  MetricSetId no_core = {};        ///< the counter of the time in which it could not
  /// By which stretches of a kind are known; null: by ids, which is faster.
  const RegionMarks* marks = nullptr;
};

/// Time in the kernel and page faults.
struct KernelUse {
  uint64_t system_ns = 0;
  uint64_t fault_ns = 0;  ///< part of it
  uint64_t faults = 0;
};

class Timeline {
 public:
  explicit Timeline(trace::EventSink& sink, const Folder& folder = {})
      : sink_(sink), folder_(folder), first_period_ns_(folder.period_ns) {}

  // Constructs. `id` is any number by which the caller finds it again.
  void enter(Time time, Level level, RegionId region, uint64_t id = 0);
  /// Leaves the construct at `depth` (of find()) and everything inside it.
  void leave(Time time, size_t depth);

  /// The user's functions are known to be `path` at `time`.
  void observe(Time time, const UserPath& path);
  /// From the last observation until `end` the functions stay as they are.
  void stay(Time end);
  /// At `time` the innermost construct has no function of the user on top of it.
  void observe_bare(Time time);
  /// Only the innermost functions at `time` are known, and from where they call. If they have not
  /// been seen on the way here they are added when `certain`, else nothing is.
  void observe_innermost(Time time, std::span<const RegionId> known, uint64_t site, bool certain);
  /// An event happens at `time`, and the functions are unknown.
  void observe_nothing(Time time);
  /// A sample, which stands for `weight` expirations of the timer. `path` must live until the next
  /// observation.
  void sample(Time time, const UserPath& path, uint64_t weight = 1);
  /// The thread used the kernel where its last sample found it (`sampled`), or where it is now. In
  /// a thread that is nowhere, that is the runtime's own.
  void use_kernel(Time time, const KernelUse& use, bool sampled);
  /// Sets the distance of samples from now on.
  void set_period(double ns) { folder_.period_ns = ns; }
  /// Restores the first distance of samples: another thread begins.
  void restore_period() { folder_.period_ns = first_period_ns_; }
  /// Forgets samples not older than `time`, which a later record covers.
  void drop_samples(Time time);

  /// Counters were read for the next event, at `time`.
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
    uint64_t site = 0;       ///< of a function: as in UserPath
    StretchKind entry = 0;   ///< for a construct: the stretch kind at its begin
    StretchKind inside = 0;  ///< of all constructs down to here
  };
  static constexpr size_t npos = SIZE_MAX;
  const std::vector<Entry>& stack() const { return stack_; }
  /// False only if the thread is not in this task. Tasks are nested by the hundred, so a search for
  /// one that is not there takes long.
  bool may_be_in_task(uint64_t task) const { return tasks_[task_slot(task)] > 0; }
  /// Whether the thread is in code of its own, which only samples show.
  bool may_sleep() const;
  /// Depth of the innermost construct; npos if there is none.
  size_t innermost() const;
  /// Depth of the innermost parallel region or task (or root, or npos).
  size_t base() const;

 private:
  static constexpr size_t kTaskSlots = 1024;
  static size_t task_slot(uint64_t task) { return with(0, task) % kTaskSlots; }

  struct Sample {
    Time time;
    const UserPath* path;
    uint64_t weight;
    KernelUse kernel = {};  ///< not passed on yet
  };
  /// Functions below the innermost construct, with their sites.
  struct Functions {
    std::vector<RegionId> regions;
    std::vector<uint64_t> sites;
    uint64_t base = 0;  ///< site of the function around them, which is a construct
    uint64_t site(size_t i) const { return i < sites.size() ? sites[i] : 0; }
    void clear() {
      regions.clear();
      sites.clear();
      base = 0;
    }
  };
  uint64_t mark(RegionId region) const {
    return folder_.marks != nullptr ? folder_.marks->of(region) : region.index();
  }
  Functions relative(const UserPath& path) const;
  void set_relative(const UserPath& path, Functions& to) const;
  Functions known_functions() const;
  void set_known(Functions& to) const;
  std::span<const Entry> frames() const;
  /// Processes an event at `time` of kind `end`; the functions there are `exact` (nullptr: they are
  /// unknown, so they stay as they were last).
  void settle(Time time, StretchKind end, const Functions* exact);
  void divide(Time time, StretchKind kind, const Functions* exact,
              std::span<const StretchSample> own);
  std::optional<Functions> called_back(const UserPath& path) const;
  void play_called_back(Time until);
  void play_samples(Time until, bool to_the_end);
  bool may_be_folded(Time time) const;
  StretchKind kind_until(StretchKind end) const;
  double expected_samples(Duration length) const;
  std::vector<StretchSample> own_samples(Time until) const;
  void play_own(Time until, StretchKind kind, const Functions& before, const Functions& common);
  void play_gap(Time begin, Time end, StretchKind kind, const Functions& before,
                const Functions& after);
  void play_portions(Time until, StretchKind kind, const std::vector<Portion>& portions,
                     const Functions* exact, std::span<const StretchSample> own);
  RegionId sleep_of(StretchKind kind) const;
  StretchEnds ends_at(const Functions* exact) const;
  void tell_samples(uint64_t count);
  void tell(KernelUse& use);
  void tell_sample(Sample& sample);
  void set_unknown(Time time, const Functions& around, RegionId what);
  void set_frames(Time leave_time, Time enter_time, const Functions& wanted);
  void count_lack_of_core(Time until);
  void push(Time time, Entry entry);
  void pop(Time time);

  void write_reading();

  struct Reading {
    Time time;
    MetricSetId set;
    std::vector<double> values;
  };

  // Buffers for the current event; they keep their memory from one to the next.
  Functions exact_;
  Functions before_;
  Functions common_;

  trace::EventSink& sink_;
  Folder folder_;
  double first_period_ns_ = 0;
  StretchKind edge_ = 0;            ///< how the current stretch began
  StretchKind last_end_ = 0;        ///< how the previous one ended, which is the kind that a
                                    ///< construct is entered with
  std::optional<Reading> reading_;  ///< not written yet
  std::vector<Entry> stack_;
  std::vector<uint32_t> tasks_ = std::vector<uint32_t>(kTaskSlots);  ///< on the stack, by a hash
  std::vector<Sample> samples_;
  bool keeps_sample_ = false;  ///< the last sample of the thread is among these
  KernelUse kernel_;           ///< since the last observation, of no sample among these
  Time last_;
  Time counted_;                ///< until then:
  double without_core_ns_ = 0;  ///< in functions, so far
  Time known_;                  ///< of the last exact observation
  uint64_t events_ = 0;
};

}  // namespace culprit::assemble
