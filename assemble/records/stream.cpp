// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records come in the order of time, but for those that were noted aside; each goes to the class of
// its group. What is open at the end is closed, in the order of its nesting.
#include "assemble/records/stream.h"

#include <algorithm>

#include "assemble/device/device_records.h"
#include "assemble/openmp/records.h"
#include "assemble/records/file_records.h"
#include "assemble/records/mpi_records.h"
#include "assemble/records/one_sided_records.h"
#include "assemble/records/user_records.h"

namespace culprit::assemble {
namespace {

using trace::RawGroup;
using trace::RawKind;

class Stream {
 public:
  Stream(const RawLog& log, const ProcessContext& process, const ThreadContext& thread,
         trace::EventSink& sink)
      : log_(log), state_(process, thread, sink) {}

  StreamResult play() {
    if (log_.thread() == 0) begin_program();
    auto cursor = log_.cursor();
    for (RawRecord record; cursor.next(record);) {
      pass_switches(record.ticks);
      if (record.kind == RawKind::sample) last_seen_ = state_.time(record);
      if (off_) {
        see_while_off(record, cursor);
      } else {
        see(record, cursor);
      }
    }
    end_program();
    return {state_.timeline.events(), std::move(state_.losses)};
  }

 private:
  /// The thread that runs main is in it from the beginning, so that its time is told in full.
  void begin_program() {
    const uint64_t start = state_.process.folder.process.start_ticks;
    state_.timeline.enter(state_.process.time(start), Level::root, program_region());
  }

  /// The outermost function of the first call path: main, or Fortran's program.
  RegionId program_region() {
    Paths paths(state_.process.code, state_.process.regions);
    auto cursor = log_.cursor();
    for (RawRecord record; cursor.next(record);) {
      if (record.kind == RawKind::path_def) define_path(record, paths);
      if (record.path() == 0) continue;
      const UserPath& path = paths.user_path(record.path());
      if (!path.in_construct && !path.frames.empty()) return path.frames.front();
    }
    return state_.process.regions.function({"main", "", 0});
  }

  static void define_path(const RawRecord& record, Paths& paths) {
    const auto path = record.as<raw::path_def>();
    paths.define(path.path, path.parent, path.address);
  }

  void see(const RawRecord& record, const RawLog::Cursor& ahead) {
    switch (trace::facts_of(record.kind).group) {
      case RawGroup::unknown:
      case RawGroup::structure:
      case RawGroup::device_log:
        return;
      case RawGroup::definitions:
        return define(record);
      case RawGroup::mpi:
      case RawGroup::tests:
        return mpi_.see(record);
      case RawGroup::one_sided:
        return one_sided_.see(record);
      case RawGroup::files:
        return files_.see(record);
      case RawGroup::openmp:
      case RawGroup::loops:
      case RawGroup::locks:
      case RawGroup::tasks:
        return openmp_.see(record, ahead);
      case RawGroup::samples:
        return see_sample(record);
      case RawGroup::regions:
      case RawGroup::functions:
        return user_.see(record);
      case RawGroup::devices:
        return devices_.see(record);
      case RawGroup::measurement:
        return see_measurement(record);
      case RawGroup::other:
        return see_thread(record);
    }
  }

  void define(const RawRecord& record) {
    if (record.kind == RawKind::path_def) return define_path(record, state_.paths);
    const auto text = record.as<raw::string_def>();
    state_.names[static_cast<uint16_t>(text.string)] =
        text_in(record.rest_of<raw::string_def>(), text.length);
  }

  void see_sample(const RawRecord& record) {
    const auto sample = record.as<raw::sample>();
    state_.timeline.sample(state_.time(record), state_.paths.user_path(sample.path),
                           uint64_t{1} + sample.missed);
  }

  /// What the collector tells of itself, and of its counters.
  void see_measurement(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::sampling_period:
        return state_.timeline.set_period(
            static_cast<double>(record.as<raw::sampling_period>().period));
      case RawKind::tool_begin:
        state_.timeline.observe_nothing(state_.time(record));
        return state_.timeline.enter(state_.time(record), Level::tool,
                                     state_.process.regions.measuring());
      case RawKind::tool_end:
        return end_tool(state_.time(record));
      case RawKind::counter_def:
        return counters_.define(record);
      case RawKind::counter_refused:
        return counters_.refuse(record);
      case RawKind::counters:
        return counters_.values(record, state_.time(record));
      default:
        return;  // the survey has read the rest
    }
  }

  void see_thread(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::blocked:
        return see_blocked(record);
      case RawKind::woke: {
        const auto woke = record.as<raw::woke>();
        state_.observe(state_.time(record), woke.path);
        return tell(state_.time(record), trace::Fact::woke, woke.object);
      }
      case RawKind::thread_begun:
        return begin_thread(record);
      case RawKind::thread_ended:
        return end_thread(record);
      default:
        return;
    }
  }

  /// A thread that the program made is in its function from the beginning to the end.
  /// A log goes on with another thread of the program's when the one before has ended.
  void begin_thread(const RawRecord& record) {
    const auto begun = record.as<raw::thread_begun>();
    if (begun.kind != 0 || !state_.timeline.stack().empty()) return;
    state_.timeline.restore_period();
    const Code& code = state_.process.code.before(begun.function + 1);
    const bool own = !code.frames.empty() && code.frames.front().region.valid();
    state_.timeline.enter(state_.time(record), Level::root,
                          own ? code.frames.front().region : program_region());
  }

  void end_thread(const RawRecord& record) {
    const Time end = state_.time(record);
    const uint16_t kind = record.as<raw::thread_ended>().kind;
    openmp_.finish(end);
    if (!state_.timeline.stack().empty()) state_.timeline.leave(end, 0);
    if (kind != 0) tell(end, trace::Fact::ended, kind == trace::kRawNestedThread);
  }

  /// It came back from a call in which it slept, or waited: there are no samples, nor need be.
  void see_blocked(const RawRecord& record) {
    Timeline& timeline = state_.timeline;
    const auto blocked = record.as<raw::blocked>();
    const Time begin = state_.process.time(began_to_block(blocked, record.ticks));
    const Time end = std::max(begin, state_.process.time(blocked.until));
    const bool knows_for_what = blocked.object != 0;
    if (knows_for_what && begin == end) return tell(begin, trace::Fact::begun, blocked.object);
    timeline.drop_samples(begin);
    state_.observe(begin, blocked.path);
    const auto name = state_.names.find(blocked.name);
    if (name == state_.names.end()) return timeline.stay(end);
    const size_t depth = timeline.stack().size();
    timeline.enter(begin, Level::call, state_.process.regions.system_call(name->second));
    if (knows_for_what) tell(end, trace::Fact::awaited, blocked.object);
    timeline.leave(end, depth);
  }

  void tell(Time time, trace::Fact fact, uint64_t value) {
    const Time at = state_.timeline.advance(time);
    state_.timeline.sink().fact(at, fact, value);
  }

  void end_tool(Time time) {
    const size_t depth = state_.timeline.innermost();
    if (depth == Timeline::npos || state_.timeline.stack()[depth].level != Level::tool) return;
    state_.timeline.leave(time, depth);
  }

  // --- While recording was off ---

  /// Begins and ends the pauses that lie before `ticks`. A call that was begun in a pause ends it.
  void pass_switches(uint64_t ticks) {
    const std::vector<Pause>& pauses = state_.process.pauses;
    while (next_pause_ < pauses.size()) {
      const Pause& pause = pauses[next_pause_];
      if (!off_ && pause.begin > ticks) return;
      const bool unborn = !off_ && state_.timeline.events() == 0;
      if (unborn && pause.end <= ticks) {
        ++next_pause_;
        continue;
      }
      if (!off_) begin_pause(state_.process.time(unborn ? ticks : pause.begin));
      if (pause.end > ticks || in_call_) return;
      end_pause(state_.process.time(pause.end));
    }
  }

  void begin_pause(Time time) {
    Timeline& timeline = state_.timeline;
    openmp_.finish(time);
    const size_t kept =
        !timeline.stack().empty() && timeline.stack()[0].level == Level::root ? 1 : 0;
    if (timeline.stack().size() > kept) timeline.leave(time, kept);
    const Time off = timeline.advance(time);
    timeline.sink().recording(off, false);
    timeline.enter(off, Level::off, state_.process.regions.not_recorded());
    off_ = true;
  }

  void end_pause(Time time) {
    Timeline& timeline = state_.timeline;
    timeline.leave(time, timeline.innermost());
    const Time on = timeline.advance(time);
    timeline.sink().recording(on, true);
    off_ = in_call_ = false;
    ++next_pause_;
  }

  /// Each call of MPI is a visit of its own, so that what it says has a begin and an end.
  void split_pause(Time time, bool in_call) {
    Timeline& timeline = state_.timeline;
    timeline.leave(time, timeline.innermost());
    timeline.enter(time, Level::off, state_.process.regions.not_recorded());
    in_call_ = in_call;
  }

  void see_while_off(const RawRecord& record, const RawLog::Cursor& ahead) {
    switch (record.kind) {
      case RawKind::mpi_enter:
        in_call_ = false;  // of a call that never came back
        pass_switches(record.ticks);
        if (!off_) return see(record, ahead);
        return split_pause(state_.time(record), true);
      case RawKind::mpi_leave:
        split_pause(state_.time(record), false);
        return pass_switches(record.ticks);
      case RawKind::tool_begin:
      case RawKind::tool_end:
        return;
      default:
        if (trace::is_kept_when_off(record.kind)) see(record, ahead);
    }
  }

  /// What was switched after this thread's last record.
  void end_pauses(Time end) {
    in_call_ = false;
    const std::vector<Pause>& pauses = state_.process.pauses;
    while (next_pause_ < pauses.size()) {
      const Pause& pause = pauses[next_pause_];
      if (!off_ && (state_.timeline.events() == 0 || state_.process.time(pause.begin) >= end))
        return;
      if (!off_) begin_pause(state_.process.time(pause.begin));
      if (pause.end == Pause::kOpen) {
        state_.timeline.leave(end, state_.timeline.innermost());
        return;
      }
      end_pause(std::min(end, state_.process.time(pause.end)));
    }
  }

  void end_program() {
    end_pauses(state_.process.end());
    Timeline& timeline = state_.timeline;
    const bool in_team = timeline.base() != Timeline::npos;
    const Time end = in_team || lives_on() ? state_.process.end() : timeline.last();
    if (is_in_call() && lives_on() && state_.thread.awaited) {
      state_.fact(end, trace::Fact::unanswered, *state_.thread.awaited);
      mpi_.could_not_return();
    }
    openmp_.finish(end);
    timeline.observe_bare(end);
    if (!timeline.stack().empty()) timeline.leave(end, 0);
    mpi_.finish();
  }

  /// Whether the thread goes on to the end of a run that was ended from outside: it is in a call
  /// that has not returned, or was seen shortly before.
  bool lives_on() const {
    if (state_.process.has_end() || !state_.process.run_end) return false;
    const Timeline& timeline = state_.timeline;
    if (timeline.stack().empty()) return false;
    const Duration kShortly = Duration::from_nanos(1'000'000'000);
    return is_in_call() ||
           *state_.process.run_end - std::max(timeline.last(), last_seen_) < kShortly;
  }

  bool is_in_call() const {
    const std::vector<Timeline::Entry>& stack = state_.timeline.stack();
    return !stack.empty() &&
           (stack.back().level == Level::call || stack.back().level == Level::sync);
  }

  const RawLog& log_;
  ThreadState state_;
  MpiRecords mpi_{state_};
  OpenmpRecords openmp_{state_};
  CounterRecords counters_{state_.process.metrics, state_.timeline};
  OneSidedRecords one_sided_{state_};
  FileRecords files_{state_};
  UserRecords user_{state_};
  DeviceRecords devices_{state_};
  size_t next_pause_ = 0;
  Time last_seen_;        ///< by a sample
  bool off_ = false;      ///< in the pause of that number
  bool in_call_ = false;  ///< in a call that was begun in it
};

}  // namespace

void ThreadState::observe(Time time, uint32_t path) {
  const UserPath* known = path == 0 ? nullptr : &paths.user_path(path);
  if (known == nullptr || !known->says_something()) return timeline.observe_nothing(time);
  timeline.observe(time, *known);
}

void ThreadState::observe_code(Time time, uint64_t code) {
  const Code* known = code == 0 ? nullptr : &process.code.before(code);
  if (known == nullptr || known->frames.empty()) return timeline.observe_nothing(time);
  std::vector<RegionId> frames;
  bool named = true;
  for (const CodeFrame& frame : known->frames) {
    if (frame.kind == CodeKind::outlined) frames.clear();
    if (frame.kind == CodeKind::user) frames.push_back(frame.region);
    if (frame.kind == CodeKind::openmp_runtime) return timeline.observe_nothing(time);
    named = named && frame.named;
  }
  timeline.observe_innermost(time, frames, process.code.site(code), named);
}

RegionId ThreadState::construct(std::string_view name, trace::RegionRole role,
                                const Symbol* place) {
  const auto mixed = reinterpret_cast<uintptr_t>(place) / alignof(Symbol) + name.size() * 7 +
                     static_cast<size_t>(role) * 3;
  Construct& last = constructs[mixed % constructs.size()];
  if (!last.region.valid() || last.place != place || last.role != role || last.name != name) {
    last = {std::string(name), role, place, process.regions.openmp(name, role, place)};
  }
  return last.region;
}

void ThreadState::fact(Time time, trace::Fact fact, uint64_t value) {
  timeline.observe_nothing(time);
  const Time at = timeline.advance(time);
  timeline.sink().fact(at, fact, value);
}

StreamResult play_log(const RawLog& log, const ProcessContext& process, const ThreadContext& thread,
                      trace::EventSink& sink) {
  return Stream(log, process, thread, sink).play();
}

}  // namespace culprit::assemble
