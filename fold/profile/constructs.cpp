// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Constructs inside a team: worksharing, and those where threads wait for each other. Ends may be
// missing (gcc never ends a `single`), and those of a worker come late: the record then says when
// the region was over.
#include "fold/barriers.h"
#include "fold/profile/handlers.h"

namespace culprit::fold {
namespace {

// ompt_work_t
constexpr uint16_t kOthersSingle = 4, kTaskloop = 7;
// ompt_sync_region_t
constexpr uint16_t kTaskgroup = 6;

/// No worksharing lies inside another one of its team, and no barrier inside any.
void end_work(Folding& to, uint64_t time) {
  if (to.is_inside(ProfileKind::work)) to.end(time, to.state.depth - 1);
}

void expect(Folding& to, bool was_open) {
  if (!was_open) ++to.log.unpaired;
}

}  // namespace

void see(Folding& to, const raw::omp_work_begin& begun, const Record& record) {
  if (begun.kind == kOthersSingle) return;
  if (begun.kind != kTaskloop) end_work(to, record.time);
  const uint32_t row = to.event_row(ProfileKind::work, begun.code, begun.kind);
  to.begin(record.time, ProfileKind::work, row, ProfileState::work, begun.kind);
}

void see(Folding& to, const raw::omp_work_end& ended, const Record& record) {
  if (ended.kind == kOthersSingle) return;
  expect(to, to.end(record.time, ProfileKind::work, ended.kind));
}

void see(Folding& to, const raw::omp_masked_begin& begun, const Record& record) {
  const uint32_t row = to.event_row(ProfileKind::masked, begun.code, 0);
  to.begin(record.time, ProfileKind::masked, row, ProfileState::work, 0);
}

void see(Folding& to, const raw::omp_masked_end&, const Record& record) {
  expect(to, to.end(record.time, ProfileKind::masked, 0));
}

/// Threads that combine their results inside a barrier go on waiting there.
void see(Folding& to, const raw::omp_reduction_begin& begun, const Record& record) {
  if (to.is_inside(ProfileKind::sync)) return;
  const uint32_t row = to.event_row(ProfileKind::reduction, begun.code, 0);
  to.begin(record.time, ProfileKind::reduction, row, ProfileState::work, 0);
}

void see(Folding& to, const raw::omp_reduction_end&, const Record& record) {
  to.end(record.time, ProfileKind::reduction, 0);
}

/// The body of a taskgroup is the program's work; only its end waits.
void see(Folding& to, const raw::omp_sync_begin& begun, const Record& record) {
  const uint16_t sync = sync_class(begun.kind);
  if (sync == kReduction) return;
  if (sync == kAnyBarrier) end_work(to, record.time);
  const uint32_t row = to.event_row(ProfileKind::sync, begun.code, begun.kind);
  const ProfileState inside = sync == kTaskgroup ? ProfileState::work : ProfileState::idle;
  to.begin(record.time, ProfileKind::sync, row, inside, sync);
}

void see(Folding& to, const raw::omp_sync_end& ended, const Record& record) {
  const uint16_t sync = sync_class(ended.kind);
  if (sync == kReduction) return;
  const uint32_t depth = to.find(ProfileKind::sync, sync);
  if ((ended.kind & trace::kRawTakenBack) != 0 && depth != Folding::kNowhere) {
    to.state.open[depth].state = ProfileState::work;
  }
  const bool was_over = ended.joined != 0 && ended.joined < record.time;
  expect(to, to.end(was_over ? ended.joined : record.time, ProfileKind::sync, sync));
  // What follows until the end of the thread's part is reported is in no team any more.
  if (was_over && to.is_inside(ProfileKind::team)) {
    to.state.open[to.state.depth - 1].state = ProfileState::idle;
  }
}

/// Where the whole of it was reported, its waiting part is known already.
void see(Folding& to, const raw::omp_wait_begin& begun, const Record& record) {
  const uint16_t sync = sync_class(begun.kind);
  const bool is_known = to.is_inside(ProfileKind::sync) &&
                        to.state.open[to.state.depth - 1].object == sync && sync != kTaskgroup;
  if (sync == kReduction || is_known) return;
  if (sync == kAnyBarrier) end_work(to, record.time);
  const uint32_t row = to.event_row(ProfileKind::wait, begun.code, begun.kind);
  to.begin(record.time, ProfileKind::wait, row, ProfileState::idle, sync);
}

void see(Folding& to, const raw::omp_wait_end& ended, const Record& record) {
  const uint16_t sync = sync_class(ended.kind);
  const uint32_t depth = to.find(ProfileKind::wait, sync);
  if (depth != Folding::kNowhere) to.end(record.time, depth);
}

void see(Folding& to, const raw::omp_target_begin& begun, const Record& record) {
  const uint32_t row = to.event_row(ProfileKind::target, begun.code, begun.what);
  to.begin(record.time, ProfileKind::target, row, ProfileState::device, begun.what);
}

void see(Folding& to, const raw::omp_target_end& ended, const Record& record) {
  expect(to, to.end(record.time, ProfileKind::target, ended.what));
}

}  // namespace culprit::fold
