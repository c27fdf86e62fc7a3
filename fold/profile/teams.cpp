// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parallel regions: forks, and the thread's part in their teams. A worker's records say by which
// call path its region was forked, and when, so that its rows can hang below those of the thread
// that forked it, and the time until it begins to work is known for what it is.
#include "fold/profile/handlers.h"

namespace culprit::fold {
namespace {

/// ompt_thread_t: a thread of the runtime's pool.
constexpr uint16_t kWorker = 2;

void end_all(Folding& to, uint64_t time) {
  to.state.deeper = 0;
  if (to.state.depth > 0) to.end(time, 0);
}

/// The innermost event of this kind and region, wherever it is.
uint32_t find_region(const FoldState& state, ProfileKind kind, uint64_t region) {
  for (uint32_t i = state.depth; i-- > 0;) {
    const OpenEvent& event = state.open[i];
    if (event.kind == kind && (event.object == region || region == 0)) return i;
  }
  return Folding::kNowhere;
}

void end_region(Folding& to, ProfileKind kind, uint64_t region, uint64_t time) {
  const uint32_t depth = find_region(to.state, kind, region);
  if (depth == Folding::kNowhere) {
    ++to.log.unpaired;
    return;
  }
  to.state.deeper = 0;
  to.end(time, depth);
}

void begin_own_team(Folding& to, uint64_t region, uint64_t time) {
  const uint32_t row = to.event_row(ProfileKind::team, 0, 0);
  to.begin(time, ProfileKind::team, row, ProfileState::work, region);
}

/// The runtime reports the end of a worker's part only when its next one begins, or never.
void begin_as_worker(Folding& to, const raw::omp_implicit_begin& begun, uint64_t time) {
  const bool is_forked = begun.forked > to.log.until && begun.forked < time;
  end_all(to, is_forked ? begun.forked : time);
  const uint32_t row = to.event_row(ProfileKind::team, begun.fork, 0);
  if (is_forked) {
    const uint32_t edge = trace::profile_edge(row, false);
    to.end_stretch(begun.forked, edge);
    to.end_stretch(time, edge, ProfileState::waking);
  }
  to.begin(time, ProfileKind::team, row, ProfileState::work, begun.region);
}

}  // namespace

void see(Folding& to, const raw::omp_thread_begin& begun, const Record&) {
  if (begun.kind == kWorker) to.state.outside = ProfileState::idle;
}

void see(Folding& to, const raw::omp_thread_end&, const Record& record) {
  end_all(to, record.time);
}

void see(Folding& to, const raw::omp_parallel_begin& begun, const Record& record) {
  const uint16_t league = begun.league ? 1 : 0;
  uint32_t row = Rows::kRoot;
  if (begun.path != 0) {
    row = to.event_row_at_path(ProfileKind::fork, begun.path, league);
  } else {
    const RowKey frame{begun.code, Rows::kRoot, 0, ProfileKind::frame};
    row =
        to.event_row(ProfileKind::fork, to.rows.of(frame, most_frames(to.rows.capacity())), league);
  }
  to.begin(record.time, ProfileKind::fork, row, ProfileState::work, begun.region);
  if (begun.lone_task == 0) return;
  begin_own_team(to, begun.region, record.time + begun.lone_task);
  ++to.log.records;
}

void see(Folding& to, const raw::omp_parallel_end& ended, const Record& record) {
  end_region(to, ProfileKind::fork, ended.region, record.time);
}

void see(Folding& to, const raw::omp_implicit_begin& begun, const Record& record) {
  if (begun.region == 0) return;  // the initial task: the program itself
  const bool own =
      to.is_inside(ProfileKind::fork) && to.state.open[to.state.depth - 1].object == begun.region;
  if (own) return begin_own_team(to, begun.region, record.time);
  begin_as_worker(to, begun, record.time);
}

void see(Folding& to, const raw::omp_implicit_end& ended, const Record& record) {
  end_region(to, ProfileKind::team, ended.region, record.time);
}

}  // namespace culprit::fold
