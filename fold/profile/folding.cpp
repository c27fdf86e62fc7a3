// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is rare among stretches: those that are new, hold samples or counters, or lie in several
// buckets of the time series.
#include "fold/profile/folding.h"

namespace culprit::fold {
namespace {

template <class T>
T* at(std::byte* region, size_t offset) {
  return reinterpret_cast<T*>(region + offset);
}

Rows rows_in(std::byte* region, const RegionLayout& layout) {
  return {*at<ProfileLog>(region, 0), at<ProfileRow>(region, layout.rows_at),
          at<uint32_t>(region, layout.index_at), layout.index_slots};
}

}  // namespace

Folding::Folding(std::byte* region, ChangeList* to)
    : log(*at<ProfileLog>(region, 0)),
      state(*at<FoldState>(region, RegionLayout(log.bytes).state_at)),
      rows(rows_in(region, RegionLayout(log.bytes))),
      changes(to),
      next_(at<NextStretch>(region, RegionLayout(log.bytes).next_at)),
      paths_(at<PathSlot>(region, RegionLayout(log.bytes).paths_at)),
      path_slots_(RegionLayout(log.bytes).path_slots) {}

// Where there is no room, the time counts for stretches with any ends, first inside the event that
// is open.
uint32_t Folding::new_stretch_row(uint32_t edge, ProfileState spent) {
  const auto detail = static_cast<uint16_t>(spent);
  const RowKey any{0, around(), detail, ProfileKind::stretch};
  const RowKey key{uint64_t{state.edge} << 32 | edge, any.parent, detail, any.kind};
  uint32_t row = rows.of(key);
  if (row == Rows::kRoot) {
    ++log.cut_rows;
    state.wants_join = true;
    row = rows.of(any);
    return row != Rows::kRoot ? row : row_of_state(spent);
  }
  next_of(state.edge) = {edge, row};
  return row;
}

void Folding::spread(uint64_t begin, uint64_t end, ProfileState spent) {
  trace::ProfileSeries& series = log.series;
  constexpr unsigned kBuckets = trace::ProfileSeries::kBuckets, kMostShift = 55;
  begin -= log.origin;
  end -= log.origin;
  while (end >> series.shift >= kBuckets && series.shift < kMostShift) {
    ++series.shift;
    for (unsigned i = 0; i < kBuckets; ++i) {
      for (unsigned each = 0; each < trace::kProfileStates; ++each) {
        const bool is_there = i < kBuckets / 2;
        series.ticks[i][each] =
            is_there ? series.ticks[2 * i][each] + series.ticks[2 * i + 1][each] : 0;
      }
    }
  }
  while (begin < end) {
    const uint64_t bucket = std::min<uint64_t>(begin >> series.shift, kBuckets - 1);
    const uint64_t behind = bucket == kBuckets - 1 ? end : (bucket + 1) << series.shift;
    const uint64_t until = std::min(end, behind);
    series.ticks[bucket][static_cast<unsigned>(spent)] += until - begin;
    begin = until;
  }
  state.bucket = std::min<uint64_t>(end >> series.shift, kBuckets - 1);
  state.bucket_end = log.origin + ((state.bucket + 1) << series.shift);
}

/// The collector's time in the stretch at hand is taken off its begin, wherever in it it was. Of an
/// event that is known late, the stretch may end before the collector was at work: what is left
/// belongs to the next one.
void Folding::take_tool_ticks(uint64_t end) {
  const uint64_t begin = log.until, ticks = std::min(state.tool_ticks, end - begin);
  ProfileRow& row = rows[row_of_state(ProfileState::tool)];
  ++row.visits;
  row.ticks += ticks;
  log.until += ticks;
  note_longest(row, ticks, log.until);
  spread(begin, log.until, ProfileState::tool);
  state.tool_ticks -= ticks;
}

void Folding::sample(uint64_t time, uint32_t path, uint32_t weight) {
  log.samples += weight;
  const uint32_t row = state.sampled = frame_of(path);
  for (uint32_t i = 0; i < state.pending_count; ++i) {
    if (state.pending[i].row != row) continue;
    state.pending[i].weight += weight;
    state.weight += weight;
    return;
  }
  if (state.pending_count == kMostPendingSamples) end_stretch(time, 0);
  if (state.pending_count < kMostPendingSamples)
    state.pending[state.pending_count++] = {row, weight};
  state.weight += weight;
}

/// Only where the program computes, the functions at which it is found share the time.
void Folding::give_samples(uint32_t stretch) {
  rows[stretch].amount += state.weight;
  const bool shared = rows[stretch].detail == static_cast<uint16_t>(ProfileState::work);
  for (uint32_t i = 0; shared && i < state.pending_count; ++i) {
    const PendingSamples& found = state.pending[i];
    const uint32_t row = rows.of({found.row, stretch, 0, ProfileKind::sampled});
    if (row == Rows::kRoot) {
      ++log.cut_rows;
      state.wants_join = true;
      continue;
    }
    rows[row].amount += found.weight;
  }
  state.pending_count = 0;
  state.weight = 0;
}

void Folding::use_kernel(uint64_t time, const PendingKernel& use) {
  for (uint32_t i = 0; i < state.kernel_count; ++i) {
    PendingKernel& known = state.kernel[i];
    if (known.frame != use.frame || known.place != use.place) continue;
    known.ns += use.ns;
    known.faults += use.faults;
    return;
  }
  if (state.kernel_count == kMostPendingKernels) end_stretch(time, 0);
  if (state.kernel_count < kMostPendingKernels) state.kernel[state.kernel_count++] = use;
}

void Folding::give_kernel_use(uint32_t stretch) {
  for (uint32_t i = 0; i < state.kernel_count; ++i) {
    const PendingKernel& use = state.kernel[i];
    const uint32_t row = rows.of({use.frame, stretch, use.place, ProfileKind::kernel});
    if (row == Rows::kRoot) {
      ++log.cut_rows;
      state.wants_join = true;
      continue;
    }
    rows[row].amount += use.faults;
    rows[row].waits += use.ns;
  }
  state.kernel_count = 0;
}

void Folding::give_reading(uint32_t stretch) {
  state.has_reading = false;
  for (uint32_t i = 0; i < state.counters; ++i) {
    const bool is_height = (state.heights >> i & 1) != 0;
    const uint64_t counted = state.reading[i] - state.last_reading[i];
    state.last_reading[i] = state.reading[i];
    if (is_height || counted == 0) continue;
    const uint32_t row = rows.of({i, stretch, 0, ProfileKind::counter});
    if (row == Rows::kRoot) {
      ++log.cut_rows;
      state.wants_join = true;
      continue;
    }
    rows[row].amount += counted;
  }
}

void Folding::define_path(uint32_t path, uint32_t parent, uint64_t address) {
  const uint32_t caller = frame_of(parent);
  uint32_t frame = rows.of({address, caller, 0, ProfileKind::frame}, most_frames(rows.capacity()));
  if (frame == Rows::kRoot) {
    ++log.cut_paths;
    frame = caller;
  }
  slot_of(path) = {path, frame, 0};
}

}  // namespace culprit::fold
