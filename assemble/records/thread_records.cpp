// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread's log may be continued by another thread of the program's when the first has ended. A
// wait of the program's own threads for each other is a call of its own in the timeline, under the
// system call's name; any other wait is a part of the function that called. Samples from there are
// dropped.
#include "assemble/records/thread_records.h"

#include <algorithm>

#include "assemble/records/call_names.h"
#include "trace/objects.h"
#include "trace/thread_calls.h"

namespace culprit::assemble {

using trace::RawGroup;
using trace::RawKind;

namespace {

/// The object of a sleep that no recorded thread ended, if the call does not show it.
const char* on_what(uint64_t object) {
  switch (trace::kind_of(object)) {
    case trace::ObjectKind::pipe:
      return " on a pipe";
    case trace::ObjectKind::socket:
      return " on a socket";
    case trace::ObjectKind::room:
      return " for room in a pipe";
    case trace::ObjectKind::event:
      return " on an eventfd";
    case trace::ObjectKind::queue:
      return " on a queue";
    default:
      return "";
  }
}

void define_path(const RawRecord& record, Paths& paths) {
  const auto path = record.as<raw::path_def>();
  paths.define(path.path, path.parent, path.address);
}

}  // namespace

std::string_view NamedFiles::name_of(uint64_t number,
                                     const std::unordered_map<uint16_t, std::string>& names) {
  constexpr size_t kMost = 32;
  const auto name = names.find(static_cast<uint16_t>(number));
  if (number == trace::kRawNamelessFile || name == names.end()) return {};
  if (!known_.contains(number) && known_.size() == kMost) return {};
  known_.insert(number);
  return name->second;
}

void ThreadRecords::see(const RawRecord& record) {
  switch (trace::facts_of(record.kind).group) {
    case RawGroup::definitions:
      return define(record);
    case RawGroup::samples:
      return see_sample(record);
    case RawGroup::measurement:
      return see_measurement(record);
    default:
      return see_thread(record);
  }
}

/// The thread that runs main is in it from the beginning, so that its whole time is covered.
void ThreadRecords::begin_program() {
  const uint64_t start = state_.process.folder.process.start_ticks;
  state_.timeline.enter(state_.process.time(start), Level::root, program_region());
}

/// Main, or Fortran's program.
RegionId ThreadRecords::program_region() {
  if (const RegionId found = outermost_function(); found.valid()) return found;
  for (const SeenAsleep& sleep : state_.process.sleepers.of(state_.process.folder.process.pid)) {
    const UserPath path = state_.paths.path_of(*sleep.path, false);
    if (!path.in_construct && !path.frames.empty()) return path.frames.front();
  }
  return state_.process.regions.function({"main", "", 0});
}

/// The outermost function of the first call path; none if there is no such path. Samples may find
/// earlier code: Python executes its own programs first.
RegionId ThreadRecords::outermost_function() {
  Paths paths(state_.process.code, state_.process.regions);
  auto cursor = log_.cursor();
  RegionId sampled;
  for (RawRecord record; cursor.next(record);) {
    if (record.kind == RawKind::path_def) define_path(record, paths);
    if (record.path() == 0) continue;
    const UserPath& path = paths.user_path(record.path());
    if (path.in_construct || path.frames.empty()) continue;
    if (record.kind != RawKind::sample) return path.frames.front();
    if (!sampled.valid()) sampled = path.frames.front();
  }
  return sampled;
}

/// What a thread runs: a function of the program, or of a library that made it for its own sake.
RegionId ThreadRecords::thread_region(uint64_t function) {
  const Code& code = state_.process.code.before(function + 1);
  const bool own = !code.frames.empty() && code.frames.front().region.valid();
  if (own) return code.frames.front().region;
  if (const RegionId found = outermost_function(); found.valid()) return found;
  if (!code.library.empty()) return state_.process.regions.in_library("", code.library);
  return program_region();
}

void ThreadRecords::define(const RawRecord& record) {
  if (record.kind == RawKind::path_def) return define_path(record, state_.paths);
  if (record.kind != RawKind::string_def) return;  // the survey has read it
  const auto text = record.as<raw::string_def>();
  state_.names[static_cast<uint16_t>(text.string)] =
      text_in(record.rest_of<raw::string_def>(), text.length);
}

void ThreadRecords::see_sample(const RawRecord& record) {
  const auto sample = record.as<raw::sample>();
  const Time time = state_.time(record);
  state_.timeline.sample(time, state_.path(time, sample.path), uint64_t{1} + sample.missed);
}

/// The collector's records about itself, and about its counters.
void ThreadRecords::see_measurement(const RawRecord& record) {
  switch (record.kind) {
    case RawKind::sampling_period:
      return state_.timeline.set_period(
          static_cast<double>(record.as<raw::sampling_period>().period));
    case RawKind::kernel_use: {
      const auto use = record.as<raw::kernel_use>();
      const bool is_fault = use.place == trace::RawKernelPlace::fault;
      return state_.timeline.use_kernel(state_.time(record),
                                        {use.system_ns, is_fault ? use.system_ns : 0, use.faults},
                                        use.place != trace::RawKernelPlace::here);
    }
    case RawKind::tool_begin:
      state_.timeline.observe_nothing(state_.time(record));
      return state_.timeline.enter(state_.time(record), Level::tool,
                                   state_.process.regions.measuring());
    case RawKind::tool_end:
      return end_tool(state_.time(record));
    case RawKind::thread_id:
      handle_ = record.as<raw::thread_id>().handle;
      return;
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

void ThreadRecords::see_thread(const RawRecord& record) {
  switch (record.kind) {
    case RawKind::blocked:
      return see_blocked(record);
    case RawKind::woke:
      state_.observe(state_.time(record), record.as<raw::woke>().path);
      return tell_woke(record, record.as<raw::woke>().object);
    case RawKind::process_end:
      return tell_woke(record,
                       object_of(trace::ObjectKind::process, state_.process.folder.process.pid));
    case RawKind::thread_begun:
      return begin_thread(record);
    case RawKind::thread_ended:
      handle_ = 0;
      return end_thread(record);
    default:
      return;
  }
}

/// A thread that the program made is in its function from the beginning to the end.
/// A log goes on with another thread of the program's when the one before has ended.
void ThreadRecords::begin_thread(const RawRecord& record) {
  const auto begun = record.as<raw::thread_begun>();
  if (begun.kind != 0 || !state_.timeline.stack().empty()) return;
  state_.timeline.restore_period();
  state_.timeline.enter(state_.time(record), Level::root, thread_region(begun.function));
}

void ThreadRecords::end_thread(const RawRecord& record) {
  const Time end = state_.time(record);
  const uint16_t kind = record.as<raw::thread_ended>().kind;
  if (!state_.timeline.stack().empty()) state_.timeline.leave(end, 0);
  if (kind != 0) tell(end, trace::Fact::ended, kind == trace::kRawNestedThread);
}

/// The thread has returned from a call in which it slept, or waited: there are no samples, and none
/// are needed.
void ThreadRecords::see_blocked(const RawRecord& record) {
  Timeline& timeline = state_.timeline;
  const auto blocked = record.as<raw::blocked>();
  const Time begin = state_.process.time(began_to_block(blocked, record.ticks));
  const Time end = std::max(begin, state_.process.time(blocked.until));
  if (blocked.object != 0 && begin == end) return tell(begin, trace::Fact::begun, blocked.object);
  const bool knows_for_what = is_ended_by_somebody(blocked.object, begin, end);
  timeline.drop_samples(begin);
  state_.observe(begin, blocked.path);
  const auto name = state_.names.find(blocked.name);
  if (name == state_.names.end()) return timeline.stay(end);
  const size_t depth = timeline.stack().size();
  timeline.enter(
      begin, Level::call,
      knows_for_what ? awaiting(blocked.object, name->second) : region_of(blocked, name->second));
  if (knows_for_what) {
    tell(end, trace::Fact::awaited, blocked.object);
  } else {
    tell(end, trace::Fact::observed, static_cast<uint64_t>((end - begin).nanos()));
  }
  timeline.leave(end, depth);
}

/// A process's own object counts as awaited, whichever thread ends the wait: replay counts waits
/// that none ends.
bool ThreadRecords::is_ended_by_somebody(uint64_t object, Time begin, Time end) const {
  if (object == 0 || !trace::is_of_node(object)) return object != 0;
  const ProcessContext& process = state_.process;
  return process.node_objects.was_let_go(process.index, log_.thread(), object, begin, end);
}

RegionId ThreadRecords::awaiting(uint64_t object, std::string_view call) {
  Regions& regions = state_.process.regions;
  return regions.system_call(trace::is_of_node(object) ? plain_call(call) : call);
}

RegionId ThreadRecords::region_of(const raw::blocked& blocked, std::string_view name) {
  Regions& regions = state_.process.regions;
  if (blocked.file == 0) {
    return regions.blocked_in(std::string(plain_call(name)) + on_what(blocked.object));
  }
  return regions.io_in(plain_call(name), files_.name_of(blocked.file, state_.names));
}

/// The function of the C library by which it came there, if it is known: what programs call.
std::string ThreadRecords::call_of(const SeenAsleep& sleep) const {
  std::string_view found;
  for (size_t i = sleep.path->size(); i-- > 0;) {
    const Code& code = state_.process.code.before((*sleep.path)[i]);
    // What stands in front of a call has its name.
    const bool is_stand_in = !code.frames.empty() && code.symbol->named &&
                             code.frames.back().kind == CodeKind::collector;
    if (is_stand_in && !found.empty()) found = code.symbol->frames.front().function;
    if (code.frames.empty() || code.frames.back().kind != CodeKind::system) break;
    if (code.symbol->named && code.symbol->module.starts_with("libc.")) {
      found = code.symbol->frames.front().function;
    }
  }
  return std::string(found.empty() || found == "syscall" ? sleep.call : plain_call(found));
}

void ThreadRecords::see_asleep(const PartAsleep& part, bool while_off) {
  Timeline& timeline = state_.timeline;
  if (while_off || !timeline.may_sleep()) return;
  const SeenAsleep& sleep = part.sleep;
  const Time begin = state_.process.time(part.begin);
  Time end = state_.process.time(part.end);
  const Duration kShortly = Duration::from_nanos(2'000'000'000);
  if (sleep.open && state_.process.end() - end < kShortly)
    end = std::max(end, state_.process.end());
  timeline.drop_samples(begin);
  UserPath path = state_.paths.path_of(*sleep.path, state_.is_before_devices(begin));
  if (!sleep.call.empty()) path.leave_library();  // the file it slept on says more
  timeline.observe(begin, path);
  if (sleep.call.empty()) return timeline.stay(end);
  const size_t depth = timeline.stack().size();
  Regions& regions = state_.process.regions;
  if (sleep.open && awaits_end_of_ != 0) {
    timeline.enter(begin, Level::call, awaiting(awaits_end_of_, join_));
    tell(end, trace::Fact::awaited, awaits_end_of_);
    return timeline.leave(end, depth);
  }
  const std::string call = call_of(sleep);
  timeline.enter(begin, Level::call,
                 sleep.in_file ? regions.io_in(call, sleep.file) : regions.blocked_in(call));
  tell(end, trace::Fact::observed, static_cast<uint64_t>((end - begin).nanos()));
  timeline.leave(end, depth);
}

void ThreadRecords::note(const RawRecord& record) {
  if (record.kind == RawKind::sample) last_seen_ = state_.time(record);
  if (record.kind == RawKind::thread_awaits && !state_.process.has_end()) note_awaits(record);
}

void ThreadRecords::note_awaits(const RawRecord& record) {
  const auto awaits = record.as<raw::thread_awaits>();
  const auto name = state_.names.find(awaits.name);
  const trace::ThreadCall* const call =
      name != state_.names.end() ? trace::thread_call(name->second) : nullptr;
  if (call == nullptr || call->kind != trace::ThreadCallKind::join) return;
  awaits_end_of_ = awaits.object;
  join_ = name->second;
}

void ThreadRecords::be_killed(Time time) {
  if (handle_ != 0) tell(time, trace::Fact::woke, handle_);
}

void ThreadRecords::tell_woke(const RawRecord& record, uint64_t object) {
  const ProcessContext& process = state_.process;
  const bool matters =
      !trace::is_of_node(object) || process.node_objects.is_awaited(process.index, object);
  if (matters) tell(state_.time(record), trace::Fact::woke, object);
}

void ThreadRecords::tell(Time time, trace::Fact fact, uint64_t value) {
  const Time at = state_.timeline.advance(time);
  state_.timeline.sink().fact(at, fact, value);
}

void ThreadRecords::end_tool(Time time) {
  const size_t depth = state_.timeline.innermost();
  if (depth == Timeline::npos || state_.timeline.stack()[depth].level != Level::tool) return;
  state_.timeline.leave(time, depth);
}

}  // namespace culprit::assemble
