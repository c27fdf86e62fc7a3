// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The program's own records: its regions, phases and iterations, and functions that were compiled
// with -finstrument-functions. A function that is left without an end is noticed by its frame: it
// lies deeper in the stack than that of the next one that begins.
#include "fold/profile/handlers.h"

namespace culprit::fold {
namespace {

using trace::RawUserRegion;

ProfileKind kind_of(RawUserRegion region) {
  if (region == RawUserRegion::phase) return ProfileKind::phase;
  return region == RawUserRegion::iteration ? ProfileKind::iteration : ProfileKind::region;
}

constexpr unsigned kNumberShift = 16;

/// Keeps the longest iterations, longest first.
void note_iteration(ProfileLog& log, trace::ProfileIteration iteration) {
  for (trace::ProfileIteration& each : log.iterations) {
    if (iteration.ticks > each.ticks) std::swap(each, iteration);
  }
}

bool lies_deeper(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a - b) < 0;
}

/// Depth of the innermost region of this kind and name, no further out than the thread's team.
uint32_t find_region(const FoldState& state, ProfileKind kind, uint16_t name) {
  for (uint32_t i = state.depth; i-- > 0;) {
    const OpenEvent& event = state.open[i];
    if (event.kind == kind && static_cast<uint16_t>(event.object) == name) return i;
    if (event.kind == ProfileKind::team) break;
  }
  return Folding::kNowhere;
}

}  // namespace

void see(Folding& to, const raw::user_enter& entered, const Record& record) {
  const ProfileKind kind = kind_of(entered.kind);
  const uint32_t row = to.event_row_at_path(kind, entered.path, entered.name);
  to.begin(record.time, kind, row, ProfileState::work,
           entered.iteration << kNumberShift | entered.name);
}

void see(Folding& to, const raw::user_leave& left, const Record& record) {
  const uint32_t depth = find_region(to.state, kind_of(left.kind), left.name);
  if (depth == Folding::kNowhere) {
    ++to.log.unpaired;
    return;
  }
  const OpenEvent event = to.state.open[depth];
  to.end(record.time, depth);
  if (event.kind != ProfileKind::iteration || event.cut) return;
  note_iteration(to.log, {.row = event.row,
                          .unused = 0,
                          .number = event.object >> kNumberShift,
                          .begin = event.begin,
                          .ticks = to.log.until - event.begin});
}

void see(Folding& to, const raw::func_enter& entered, const Record& record) {
  while (to.is_inside(ProfileKind::function) &&
         lies_deeper(to.state.open[to.state.depth - 1].frame, entered.frame)) {
    to.end(record.time, to.state.depth - 1);
  }
  const uint32_t row = to.event_row(ProfileKind::function, entered.function, 0);
  const uint32_t depth = to.state.depth;
  to.begin(record.time, ProfileKind::function, row, ProfileState::work, entered.function);
  if (to.state.depth > depth) to.state.open[depth].frame = entered.frame;
}

void see(Folding& to, const raw::func_leave& left, const Record& record) {
  if (!to.end(record.time, ProfileKind::function, left.function)) ++to.log.unpaired;
}

}  // namespace culprit::fold
