// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Mutexes of OpenMP. Most are acquired at once: such an acquisition is counted, and the stretch
// that it lies in goes on. Whether a thread waits is only known when the next record comes, as a
// test of a lock may fail.
#include "fold/profile/handlers.h"

namespace culprit::fold {
namespace {

/// Ticks: a shorter wait is not the end of a stretch.
constexpr uint64_t kShortWait = 4096;

void want(Folding& to, const raw::omp_mutex_acquire& acquire, uint64_t time) {
  to.state.wanted = {.mutex = acquire.mutex,
                     .time = time,
                     .code = acquire.code,
                     .kind = acquire.kind,
                     .is_wanted = true,
                     .is_open = false};
}

HeldMutex* held(FoldState& state, uint64_t mutex) {
  for (HeldMutex& each : state.held) {
    if (each.row != Rows::kRoot && each.mutex == mutex) return &each;
  }
  return nullptr;
}

void hold(Folding& to, const HeldMutex& acquired) {
  for (HeldMutex& each : to.state.held) {
    if (each.row != Rows::kRoot) continue;
    each = acquired;
    return;
  }
  to.visit(acquired.row, acquired.waited, acquired.waited);
}

void acquired_at(Folding& to, uint64_t mutex, uint64_t time) {
  WantedMutex& wanted = to.state.wanted;
  if (!wanted.is_wanted || wanted.mutex != mutex) return;
  const uint64_t waited = time - std::min(time, wanted.time);
  if (waited >= kShortWait) open_mutex_wait(to);
  wanted.is_wanted = false;
  uint32_t row = Rows::kRoot;
  if (wanted.is_open) {
    const uint32_t depth = to.state.depth - 1;
    if (!to.state.open[depth].cut) row = to.state.open[depth].row;
    to.end_stretch(time, trace::profile_edge(to.state.open[depth].row, true));
    --to.state.depth;
  } else {
    row = to.event_row(ProfileKind::mutex, wanted.code, wanted.kind);
  }
  if (row != Rows::kRoot) hold(to, {mutex, wanted.time, waited, row});
}

void released_at(Folding& to, uint64_t mutex, uint64_t time) {
  HeldMutex* const each = held(to.state, mutex);
  if (each == nullptr) return;
  to.visit(each->row, time - std::min(time, each->begin), each->waited);
  if (to.changes != nullptr) to.changes->add(time, ChangeKind::held, each->row);
  each->row = Rows::kRoot;
}

}  // namespace

void open_mutex_wait(Folding& to) {
  WantedMutex& wanted = to.state.wanted;
  if (wanted.is_open || to.state.depth == kMostOpenEvents) return;
  const uint32_t row = to.event_row(ProfileKind::mutex, wanted.code, wanted.kind);
  to.begin(wanted.time, ProfileKind::mutex, row, ProfileState::lock, wanted.mutex);
  wanted.is_open = true;
}

void give_up_mutex(Folding& to) {
  WantedMutex& wanted = to.state.wanted;
  wanted.is_wanted = false;
  if (!wanted.is_open || !to.is_inside(ProfileKind::mutex)) return;
  to.end_stretch(to.log.until, trace::profile_edge(to.around(), true));
  --to.state.depth;
}

uint32_t see_acquire(Folding& to, const Record& record, uint32_t from) {
  const auto acquire = record.as<raw::omp_mutex_acquire>();
  if (from < 1) want(to, acquire, record.time);
  if (acquire.acquired_after == 0) return 1;
  if (from < 2) acquired_at(to, acquire.mutex, record.time + acquire.acquired_after);
  if (acquire.released_after == 0) return 2;
  if (from < 3) released_at(to, acquire.mutex, record.time + acquire.released_after);
  return 3;
}

void see(Folding& to, const raw::omp_mutex_acquired& acquired, const Record& record) {
  acquired_at(to, acquired.mutex, record.time);
}

void see(Folding& to, const raw::omp_mutex_released& released, const Record& record) {
  released_at(to, released.mutex, record.time);
}

}  // namespace culprit::fold
