// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Explicit tasks. A thread executes them inside waits of its own or of its team; a task that is
// left before its end may go on inside another wait, and then is a visit of its own.
#include "fold/profile/handlers.h"

namespace culprit::fold {
namespace {

// ompt_task_flag_t
constexpr uint32_t kTaskwait = 0x10;
// ompt_task_status_t
constexpr uint16_t kComplete = 1, kCancel = 3, kDetach = 4, kLateFulfill = 6, kTaskwaitComplete = 8;
// ompt_sync_region_t
constexpr uint16_t kSyncTaskwait = 5;

/// Ends all tasks inside of the one that is gone on with, or of the thread's own part in its team.
void leave_tasks(Folding& to, uint32_t stays, uint64_t time) {
  const FoldState& state = to.state;
  for (uint32_t i = stays == Folding::kNowhere ? 0 : stays + 1; i < state.depth; ++i) {
    if (state.open[i].kind == ProfileKind::task) return to.end(time, i);
  }
}

uint32_t innermost_team(const FoldState& state) {
  for (uint32_t i = state.depth; i-- > 0;) {
    if (state.open[i].kind == ProfileKind::team) return i;
  }
  return Folding::kNowhere;
}

}  // namespace

/// To the runtime, a taskwait with dependences is a task.
void see(Folding& to, const raw::omp_task_create& created, const Record& record) {
  if ((created.flags & kTaskwait) == 0) return;
  const uint32_t row = to.event_row(ProfileKind::sync, created.code, kSyncTaskwait);
  to.begin(record.time, ProfileKind::sync, row, ProfileState::idle, created.task);
}

void see(Folding& to, const raw::omp_task_switch& switched, const Record& record) {
  const auto [status, next, left] = switched;
  if (next == 0) return leave_tasks(to, innermost_team(to.state), record.time);
  const uint32_t open = to.find(ProfileKind::task, next);
  if (open != Folding::kNowhere) return leave_tasks(to, open, record.time);
  const bool never_comes_back = status == kComplete || status == kCancel || status == kDetach;
  if (left != 0 && never_comes_back) {
    const uint32_t depth = to.find(ProfileKind::task, left);
    if (depth != Folding::kNowhere) to.end(record.time, depth);
  }
  const uint32_t row = to.event_row(ProfileKind::task, 0, 0);
  to.begin(record.time, ProfileKind::task, row, ProfileState::work, next);
}

void see(Folding& to, const raw::omp_task_fulfilled& fulfilled, const Record& record) {
  if (fulfilled.status != kLateFulfill && fulfilled.status != kTaskwaitComplete) return;
  const uint32_t depth = to.find(ProfileKind::sync, fulfilled.task);
  if (depth != Folding::kNowhere) to.end(record.time, depth);
}

}  // namespace culprit::fold
