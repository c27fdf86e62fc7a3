// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records come in the order of time, except for noted moments; each goes to the class of its group.
// Constructs open at the end are closed, in the order of their nesting.
#include "assemble/records/stream.h"

#include <algorithm>

#include "assemble/openmp/records.h"
#include "assemble/play/thread_state.h"
#include "assemble/records/device_records.h"
#include "assemble/records/file_records.h"
#include "assemble/records/mpi_records.h"
#include "assemble/records/one_sided_records.h"
#include "assemble/records/thread_records.h"
#include "assemble/records/user_records.h"

namespace culprit::assemble {
namespace {

using trace::RawGroup;
using trace::RawKind;

bool is_in_call(const Timeline& timeline) {
  const std::vector<Timeline::Entry>& stack = timeline.stack();
  return !stack.empty() && (stack.back().level == Level::call || stack.back().level == Level::sync);
}

class Stream {
 public:
  Stream(const RawLog& log, const ProcessContext& process, const ThreadContext& thread,
         trace::EventSink& sink)
      : log_(log), state_(process, thread, sink) {}

  StreamResult play() {
    if (log_.thread() == 0) thread_.begin_program();
    auto cursor = log_.cursor();
    for (RawRecord record; cursor.next(record);) {
      for (const PartAsleep& part : sleeps_.before(record)) thread_.see_asleep(part, off_);
      pass_switches(record.ticks);
      thread_.note(record);
      if (record.kind == RawKind::thread_awaits) {
        end_in_wait(state_.time(record));
      } else if (off_) {
        see_while_off(record, cursor);
      } else {
        see(record, cursor);
      }
    }
    for (const PartAsleep& part : sleeps_.rest(state_.process.end_ticks()))
      thread_.see_asleep(part, off_);
    end_program();
    return {state_.timeline.events(), std::move(state_.losses)};
  }

 private:
  void see(const RawRecord& record, const RawLog::Cursor& ahead) {
    openmp_.leave_what_is_over(state_.time(record));
    switch (trace::facts_of(record.kind).group) {
      case RawGroup::unknown:
      case RawGroup::structure:
      case RawGroup::device_log:
      case RawGroup::watch_log:
        return;
      case RawGroup::definitions:
      case RawGroup::samples:
      case RawGroup::measurement:
        return thread_.see(record);
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
      case RawGroup::regions:
      case RawGroup::functions:
        return user_.see(record);
      case RawGroup::devices:
        return devices_.see(record);
      case RawGroup::other:
        if (record.kind == RawKind::thread_ended) openmp_.finish(state_.time(record));
        return thread_.see(record);
    }
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

  /// Each call of MPI is a visit of its own, so that its facts have a begin and an end.
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

  /// Plays the switches after this thread's last record.
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

  /// A thread of a pool that waited for work when the process ended: since then it did nothing
  /// more, and no thread waited for it.
  void end_in_wait(Time since) {
    Timeline& timeline = state_.timeline;
    const bool may_rest = log_.thread() != 0 && state_.process.has_end() && !off_;
    if (!may_rest || timeline.stack().empty()) return;
    if (timeline.base() != 0 || timeline.innermost() != 0) return;  // it is in some construct
    timeline.drop_samples(since);
    timeline.observe_bare(since);
    timeline.leave(since, 0);
  }

  void end_program() {
    end_pauses(state_.process.end());
    devices_.finish();
    Timeline& timeline = state_.timeline;
    const bool in_team = timeline.base() != Timeline::npos;
    const Time end = in_team || lives_on() ? state_.process.end() : timeline.last();
    if (is_in_call(timeline) && lives_on() && state_.thread.awaited) {
      state_.fact(end, trace::Fact::unanswered, *state_.thread.awaited);
      mpi_.could_not_return();
    }
    if (!state_.process.has_end() && state_.process.run_end) thread_.be_killed(end);
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
    return is_in_call(timeline) ||
           *state_.process.run_end - std::max(timeline.last(), thread_.last_seen()) < kShortly;
  }

  const RawLog& log_;
  ThreadState state_;
  ThreadRecords thread_{log_, state_};
  SleepsBetween sleeps_{log_, state_.process.folder.process, state_.process.sleepers};
  MpiRecords mpi_{state_};
  OpenmpRecords openmp_{state_};
  OneSidedRecords one_sided_{state_};
  FileRecords files_{state_};
  UserRecords user_{state_};
  DeviceRecords devices_{state_};
  size_t next_pause_ = 0;
  bool off_ = false;      ///< in the pause of that number
  bool in_call_ = false;  ///< in a call that was begun in it
};

}  // namespace

StreamResult play_log(const RawLog& log, const ProcessContext& process, const ThreadContext& thread,
                      trace::EventSink& sink) {
  return Stream(log, process, thread, sink).play();
}

}  // namespace culprit::assemble
