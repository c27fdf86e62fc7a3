// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records of any thread: call paths, samples, sleeps, calls for devices, pauses of recording, and
// what is measured of the thread.
#include "fold/profile/handlers.h"

namespace culprit::fold {

void see(Folding& to, const raw::path_def& path, const Record&) {
  to.define_path(path.path, path.parent, path.address);
}

void see(Folding& to, const raw::sample& sample, const Record& record) {
  to.sample(record.time, sample.path, uint32_t{sample.missed} + 1);
}

void see(Folding& to, const raw::kernel_use& use, const Record& record) {
  const bool is_sampled = use.place != trace::RawKernelPlace::here;
  to.use_kernel(record.time, {.frame = is_sampled ? to.state.sampled : Rows::kRoot,
                              .place = static_cast<uint16_t>(use.place),
                              .unused = 0,
                              .ns = use.system_ns,
                              .faults = use.faults});
}

/// The record may come after others that are later than the begin of the sleep.
void see(Folding& to, const raw::blocked& blocked, const Record& record) {
  const uint64_t begin = blocked.begun != 0 ? std::min(blocked.begun, record.time) : record.time;
  const uint64_t end = std::max(blocked.until, begin);
  const uint32_t row = to.event_row_at_path(ProfileKind::blocked, blocked.path, blocked.name);
  to.end_stretch(begin, trace::profile_edge(row, false));
  const uint64_t from = to.log.until;
  to.end_stretch(end, trace::profile_edge(row, true), ProfileState::asleep);
  if (row == Rows::kRoot) return;
  to.visit(row, to.log.until - from, to.log.until - from);
  to.rows[row].amount += blocked.bytes;
}

void see(Folding& to, const raw::device_enter& entered, const Record& record) {
  const uint32_t row = to.event_row_at_path(ProfileKind::device_call, entered.path, entered.name);
  to.begin(record.time, ProfileKind::device_call, row, ProfileState::device, 0);
}

void see(Folding& to, const raw::device_leave&, const Record& record) {
  if (!to.end(record.time, ProfileKind::device_call, 0)) ++to.log.unpaired;
}

/// As of MPI's tests: what is not inside of the calls is taken to be behind them.
void see(Folding& to, const raw::device_polls& polls, const Record& record) {
  const uint32_t row = to.event_row_at_path(ProfileKind::device_call, polls.path, polls.name);
  const uint32_t behind = trace::profile_edge(row, true);
  to.end_stretch(record.time, trace::profile_edge(row, false));
  const uint64_t begin = to.log.until, end = std::max(begin, polls.until);
  const uint64_t inside = std::min(polls.inside, end - begin);
  to.end_stretch(begin + inside, behind, ProfileState::device);
  to.end_stretch(end, behind);
  if (row == Rows::kRoot) return;
  to.rows[row].visits += polls.count;
  to.rows[row].ticks += inside;
}

void see(Folding& to, const raw::thread_begun& begun, const Record&) {
  if (begun.kind != 0) to.state.outside = ProfileState::idle;
}

void see(Folding& to, const raw::thread_ended&, const Record& record) {
  to.state.deeper = 0;
  if (to.state.depth > 0) return to.end(record.time, 0);
  to.end_stretch(record.time, 0);
}

void see(Folding& to, const raw::tool_begin&, const Record& record) {
  to.state.tool_begin = std::max(record.time, to.log.until);
}

void see(Folding& to, const raw::tool_end&, const Record& record) {
  const uint64_t begin = std::max(to.state.tool_begin, to.log.until);
  if (to.state.tool_begin != 0 && record.time > begin) {
    to.state.tool_ticks += record.time - begin;
  }
  to.state.tool_begin = 0;
}

void see(Folding& to, const raw::cpu_time& time, const Record&) {
  to.log.on_core_ns = time.on_core;
  to.log.without_core_ns = time.without;
}

void see(Folding& to, const raw::sampling_period& period, const Record&) {
  to.log.sampling_ns = period.period;
}

void see(Folding& to, const raw::recording_off&, const Record& record) {
  to.end_stretch(record.time, 0);
  to.state.is_off = true;
}

void see(Folding& to, const raw::recording_on&, const Record& record) {
  to.end_stretch(record.time, 0);
  to.state.is_off = false;
}

void see(Folding& to, const raw::counter_def& counter, const Record&) {
  if (counter.counter < kMostCounters && counter.height) {
    to.state.heights |= uint64_t{1} << counter.counter;
  }
}

/// The first values are since the thread began, of which nothing else is known.
void see(Folding& to, const raw::counters&, const Record& record) {
  FoldState& state = to.state;
  const uint32_t count = std::min<uint32_t>(record.words, kMostCounters);
  for (uint32_t i = 0; i < count; ++i) {
    state.reading[i] = record.w[i];
    if (i >= state.counters) state.last_reading[i] = record.w[i];
  }
  state.counters = count;
  state.has_reading = true;
}

}  // namespace culprit::fold
